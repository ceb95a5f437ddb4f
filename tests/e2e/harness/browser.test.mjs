import assert from "node:assert/strict";
import { test } from "node:test";
import { launchBrowser } from "./browser.mjs";
import { Origin } from "./origin.mjs";

test("contexts of the browser are visitors of their own, and every host leads here", async () => {
  await using origin = await Origin.start();
  origin.respond("/", { headers: [["Set-Cookie", "who=me"], ["Content-Type", "text/html"]], body: "<title>Here</title>" });
  const browser = await launchBrowser();
  try {
    const port = origin.address.split(":")[1];
    for (const visitor of ["first", "second"]) {
      const page = await (await browser.newContext()).newPage();
      await page.goto(`http://shop.test:${port}/`);
      assert.equal(await page.title(), "Here", visitor);
    }
    const pages = origin.to("/");
    assert.deepEqual(pages.map((seen) => [seen.header("host"), seen.header("cookie")]), [
      [`shop.test:${port}`, undefined],
      [`shop.test:${port}`, undefined],
    ]);
  } finally {
    await browser.close();
  }
});
