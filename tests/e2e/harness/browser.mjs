// Chromium for the tests. Every host name leads to this machine.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

function findProgram() {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const program = join(folder, "chromium");
    try {
      accessSync(program, constants.X_OK);
      return program;
    } catch {
      // Not in this folder.
    }
  }
  throw new Error("there is no chromium; run scripts/setup.sh --browser");
}

/**
 * Starts Chromium. Each `newContext()` of what is returned is a visitor with cookies of its own, and
 * takes `{ javaScriptEnabled, locale, colorScheme, viewport }`.
 */
export function launchBrowser() {
  return chromium.launch({
    executablePath: findProgram(),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--host-resolver-rules=MAP * 127.0.0.1",
    ],
  });
}
