import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "smol-toml";
import { checkRoutes } from "../scripts/routes.mjs";

const room = (host, more = "") => parse(`[[rooms]]\nname = "a"\nhost = "${host}"\n${more}`);
const check = (routes, rooms) => checkRoutes(parse(routes), rooms);

test("a host that is routed whole is in order, however the route is written", () => {
  for (const routes of [
    'routes = ["shop.example.com/*"]',
    'route = "shop.example.com/*"',
    'routes = [{ pattern = "shop.example.com/*", zone_name = "example.com" }]',
    'routes = [{ pattern = "SHOP.example.com./*", zone_id = "0" }]',
    'routes = [{ pattern = "https://shop.example.com/*", zone_id = "0" }]',
    'routes = ["*.example.com/*"]',
    'routes = ["*example.com/*"]',
    'routes = [{ pattern = "shop.example.com", custom_domain = true }]',
  ]) {
    assert.deepEqual(check(routes, room("shop.example.com")).faults, [], routes);
  }
  assert.deepEqual(check('routes = ["*example.com/*"]', room("example.com")).faults, []);
});

test("a host without a route is a fault that says what to add", () => {
  for (const routes of [
    "",
    "routes = []",
    'routes = ["other.example.com/*"]',
    'routes = ["notshop.example.com/*"]',
    'routes = ["*.shop.example.com/*"]',
  ]) {
    const { faults } = check(routes, room("shop.example.com"));
    assert.equal(faults.length, 1, routes);
    assert.match(faults[0], /shop\.example\.com \(room a\) is not routed.*"shop\.example\.com\/\*"/);
  }
  assert.equal(check('routes = ["*.example.com/*"]', room("example.com")).faults.length, 1);
});

test("a route on a path is refused with the reason", () => {
  const { faults } = check('routes = ["shop.example.com/shop/*"]', room("shop.example.com", 'path = "/shop"'));
  assert.equal(faults.length, 1);
  assert.match(
    faults[0],
    /a zone route shop\.example\.com\/shop\/\* would miss \/shop, and zone routes match before the Worker/,
  );
  for (const path of ["/shop*", "/", "", "/shop"]) {
    assert.equal(check(`routes = ["shop.example.com${path}"]`, room("shop.example.com")).faults.length, 1, path);
  }
});

test("a path route beside the whole one does no harm", () => {
  const routes = 'routes = ["shop.example.com/shop/*", "shop.example.com/*"]';
  assert.deepEqual(check(routes, room("shop.example.com")).faults, []);
});

test("every host of every room is looked at, once", () => {
  const rooms = parse(`
    [[rooms]]
    name = "a"
    host = "a.example.com"
    [[rooms.additional_routes]]
    host = "b.example.com"
    [[rooms.additional_routes]]
    path = "/more"
    [[rooms]]
    name = "b"
    host = "B.example.com"
    path = "/x"`);
  const { faults } = check("", rooms);
  assert.equal(faults.length, 2);
  assert.match(faults[0], /a\.example\.com \(room a\)/);
  assert.match(faults[1], /b\.example\.com \(rooms a, b\)/);
});

test("this machine needs no route", () => {
  for (const host of ["localhost", "shop.localhost", "127.0.0.1", "[::1]"]) {
    const { faults, notes } = check("", room(host));
    assert.deepEqual(faults, [], host);
    assert.match(notes[0], /needs no route/);
  }
});

test("an internationalised host is compared in punycode", () => {
  assert.deepEqual(check('routes = ["xn--bcher-kva.example/*"]', room("bücher.example")).faults, []);
});
