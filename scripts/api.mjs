// What the commands that ask the API have in common.

/** The token of whoever runs the command. */
const token = process.env.ANTEROOM_API_TOKEN;

/**
 * Asks the API and gives the result; ends the program, with a word why, if it cannot.
 *
 * @param {string} command The command's name, for what it says.
 * @param {string} usage How it is called.
 * @param {{address?: string, zone?: string, path: string, query?: Record<string, string | undefined>}} call
 *   `address` has the prefix if it is not /client/v4: https://api.example.com/client/v4. Everything in it is
 *   required.
 */
export async function result(command, usage, { address, zone, path, query = {} }) {
  if (!address || !zone || !token || Object.values(query).some((value) => !value)) {
    console.error(`Say ${usage}`);
    console.error('and put a token with read scope into ANTEROOM_API_TOKEN.');
    process.exit(2);
  }
  const url = new URL(address);
  const prefix = url.pathname === '/' ? '/client/v4' : url.pathname.replace(/\/$/, '');
  const call = new URL(`${prefix}/zones/${zone}/anteroom/${path}`, url);
  for (const [name, value] of Object.entries(query)) call.searchParams.set(name, value);
  const response = await fetch(call, { headers: { Authorization: `Bearer ${token}` } });
  const text = await response.text();
  if (!response.ok) {
    console.error(`${command}: ${response.status} ${text}`);
    process.exit(1);
  }
  return JSON.parse(text).result;
}
