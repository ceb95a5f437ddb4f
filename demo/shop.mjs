// The demo shop: the origin behind the waiting room in `make dev`. Plain Node, a few pages, no state.
//
//   node demo/shop.mjs [port]
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const products = [
  { name: "Harbour lamp", price: "€ 89", hue: 38, text: "Spun brass, linen cord. Twelve were made." },
  { name: "Tide clock", price: "€ 140", hue: 205, text: "One hand, one turn in 12 hours 25 minutes." },
  { name: "Gull kettle", price: "€ 64", hue: 150, text: "Enamel on steel. Sings in two voices." },
];

const style = `
:root { color-scheme: light dark; --ink: light-dark(#1d2430, #e8ebf0); --soft: light-dark(#5b6675, #9aa6b6);
  --paper: light-dark(#faf8f5, #14181f); --card: light-dark(#fff, #1d232d); --line: light-dark(#e6e1d9, #2d3542); }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem; font: 1.05rem/1.55 system-ui, sans-serif;
  color: var(--ink); background: var(--paper) }
header { display: flex; gap: 1rem; align-items: center; justify-content: space-between; padding-bottom: 1.5rem }
header a { font-weight: 700; font-size: 1.25rem; letter-spacing: .02em }
a { color: inherit; text-decoration: none }
h1 { font-size: clamp(1.8rem, 5vw, 2.8rem); line-height: 1.15; margin: .5rem 0 1rem; text-wrap: balance }
p { color: var(--soft); max-width: 36rem }
.shelf { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)) }
.card { display: block; background: var(--card); border: 1px solid var(--line); border-radius: 1rem; overflow: hidden }
.card:hover, .card:focus-visible { border-color: currentColor }
.picture { aspect-ratio: 4 / 3; background:
  radial-gradient(circle at 50% 42%, hsl(var(--hue) 80% 72%) 0 18%, transparent 19%),
  linear-gradient(hsl(var(--hue) 55% 42%), hsl(var(--hue) 45% 24%)) }
.label { display: flex; justify-content: space-between; padding: 1rem }
button { font: inherit; padding: .6rem 1.1rem; border-radius: .7rem; border: 1px solid var(--line);
  background: transparent; color: inherit; cursor: pointer }
button.main { background: var(--ink); color: var(--paper); border-color: var(--ink) }
`;

const page = (title, body) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Harbour Goods</title>
<link rel="icon" href="data:,">
<style>${style}</style>
<header>
  <a href="/">Harbour Goods</a>
  <form method="post" action="/.anteroom/leave"><button>Leave the shop</button></form>
</header>
<main>${body}</main>
</html>
`;

const card = (product, index) => `<a class="card" href="/product/${index + 1}">
<div class="picture" style="--hue: ${product.hue}"></div>
<div class="label"><strong>${product.name}</strong><span>${product.price}</span></div></a>`;

const home = () =>
  page("The sale", `<h1>You are in. The sale is on.</h1>
<p>This shop bears two visitors at a time. Whoever comes next waits in front, and enters when somebody
leaves or buys.</p>
<div class="shelf">${products.map(card).join("\n")}</div>`);

const productPage = (product, number) =>
  page(product.name, `<h1>${product.name}</h1>
<div class="shelf"><div class="card"><div class="picture" style="--hue: ${product.hue}"></div></div>
<div><p>${product.text}</p><p><strong>${product.price}</strong></p>
<form method="post" action="/checkout"><input type="hidden" name="product" value="${number}">
<button class="main">Buy and go</button></form></div></div>`);

const thanks = () =>
  page("Thank you", `<h1>Thank you.</h1>
<p>Your order is a demonstration and will not arrive. Your place in the shop has gone to the next
visitor.</p><p><a href="/">Back to the shop</a>, by the queue if there is one.</p>`);

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function answer(request, response) {
  const url = new URL(request.url, "http://shop.invalid");
  const send = (status, type, body, headers = {}) => {
    response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store", ...headers });
    response.end(request.method === "HEAD" ? undefined : body);
  };
  const html = (status, body, headers) => send(status, "text/html; charset=utf-8", body, headers);
  const json = (value) => send(200, "application/json", `${JSON.stringify(value, null, 2)}\n`);

  const product = products[/^\/product\/(\d)$/.exec(url.pathname)?.[1] - 1];
  if (url.pathname === "/") return html(200, home());
  if (product) return html(200, productPage(product, products.indexOf(product) + 1));
  if (url.pathname === "/checkout" && request.method === "POST") {
    await bodyOf(request);
    // The visitor is done: the room gives the place away at once and takes this header off.
    return html(200, thanks(), { "Cf-Waiting-Room-Command": "revoke" });
  }
  if (url.pathname === "/slow") {
    await sleep(Math.min(Number(url.searchParams.get("ms")) || 1000, 30_000));
    return json({ slept: true });
  }
  if (url.pathname === "/echo") {
    const { method, url: target, headers } = request;
    return json({ method, url: target, headers, body: await bodyOf(request) });
  }
  return html(404, page("Not found", "<h1>There is nothing here.</h1><p><a href='/'>To the shop</a></p>"));
}

/** Starts the shop and gives back its server once it listens. Port 0 takes a free one. */
export function startShop(port) {
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      console.error(error);
      response.destroy();
    });
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const server = await startShop(Number(process.argv[2] ?? 8790));
  console.log(`The demo shop answers at http://127.0.0.1:${server.address().port}`);
}
