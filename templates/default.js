// The waiting page's script. build.rs packs it into default.html and allows it by its hash, so it is the
// same for every visitor; what differs is in the page's attributes and in #texts.
// Packed line by line: a comment has a line of its own, and there are no template literals.
(() => {
"use strict";
const at = (id) => document.getElementById(id);
const page = at("page");
const texts = JSON.parse(at("texts").textContent);
const language = document.documentElement.lang;
const numbers = new Intl.NumberFormat(language);
const plurals = new Intl.PluralRules(language);
const clock = new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit", second: "2-digit" });

let pause = Number(page.dataset.refresh);
let timer, request, entering, lastPoll = Date.now(), lastSaid = Date.now(), failures = 0;

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const count = (forms, n) => fill(forms[plurals.select(n)] || forms.other, { count: numbers.format(n) });

// Writes only what has changed, so that nothing flickers. No text: hidden.
const show = (id, text) => {
  const element = at(id);
  element.hidden = !text;
  if (text && element.textContent !== text) element.textContent = text;
};

const duration = (time) => {
  const hours = Math.floor(time / 60);
  const minutes = time % 60;
  const parts = { hours: hours && count(texts.hours, hours), minutes: minutes && count(texts.minutes, minutes) };
  return hours && minutes ? fill(texts.hoursAndMinutes, parts) : parts.hours || parts.minutes;
};

const expected = (room) => {
  if (!room.waitTimeKnown) return texts.unknown;
  if (room.waitTime > 1440) return texts.longerThanADay;
  const [least, most] = [room.waitTime25Percentile, room.waitTime75Percentile];
  if (most > least) return fill(texts.between, { from: duration(least), to: duration(most) });
  const time = duration(room.waitTime);
  return time ? fill(texts.about, { time }) : texts.moment;
};

// Where whoever is drawn comes in, those in line read something else.
const wording = (room) => (room.isRandomQueue && room.state === "queueing" ? texts.drawing : texts[room.state]);

const ahead = (room) => {
  if (!room.usersAheadKnown) return "";
  return room.usersAhead ? count(texts.ahead, room.usersAhead) : texts.next;
};

// Tells a screen reader of a new state at once, of a new place once a minute at most.
const say = (room, place) => {
  const changed = page.dataset.state !== room.state;
  const moved = place && at("position").textContent !== place && Date.now() - lastSaid > 60000;
  if (!changed && !moved) return;
  const { heading, explanation } = wording(room);
  const news = changed ? heading + ". " + explanation : "";
  at("live").textContent = [news, place && texts.position + ": " + place + ".", ahead(room)].join(" ").trim();
  lastSaid = Date.now();
};

// Counts down to the start by the server's clock: the visitor's own may be wrong.
const two = new Intl.NumberFormat(language, { minimumIntegerDigits: 2 });
let start, tick;
const countDown = () => {
  const left = Math.max(0, Math.round((start - performance.now()) / 1000));
  const [hours, minutes, seconds] = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
  at("countdown").textContent = [hours, minutes, seconds].slice(hours ? 0 : 1).map((n) => two.format(n)).join(":");
};
const startIn = (seconds) => {
  clearInterval(tick);
  start = performance.now() + seconds * 1000;
  countDown();
  tick = setInterval(countDown, 1000);
};

const tellEvent = (room) => {
  const waits = room.state === "prequeueing";
  at("event").hidden = !waits;
  if (waits) startIn(room.secondsUntilEventStart);
  else clearInterval(tick);
  show("lot", waits && room.shuffleAtEventStart ? texts.byLot : "");
  const draw = Object.entries(room).filter(([name, value]) => name.startsWith("draw") && value);
  at("draw").hidden = !draw.length;
  show("proof", draw.map(([name, value]) => name + ": " + value).join("\n"));
};

const update = (room) => {
  const place = room.positionKnown ? numbers.format(room.position) : "";
  const state = wording(room);
  say(room, place);
  page.dataset.state = room.state;
  document.title = (place && room.state !== "called" ? place + " · " : "") + state.heading;
  show("heading", state.heading);
  show("explanation", state.explanation);
  const notice = room.placeLapsed ? texts.placeLapsed : room.sessionOver ? texts.sessionOver : "";
  if (notice) show("notice", notice);
  show("message", room.message);
  at("place").hidden = !place && !(room.isRandomQueue && room.state === "queueing");
  at("label").hidden = !place;
  show("position", place);
  show("ahead", ahead(room));
  tellEvent(room);
  at("progress").hidden = !room.progressKnown;
  at("progress").value = room.progress;
  at("estimate").hidden = ["called", "prequeueing"].includes(room.state);
  show("wait", expected(room));
  at("leave").hidden = !room.leaveUrl;
  at("leave").action = room.leaveUrl;
  at("keep").hidden = !room.leaveUrl;
  at("fresh").hidden = !room.refreshIntervalSeconds;
  at("updated").textContent = fill(texts.updated, { time: clock.format(new Date()) });
};

// Opens the page that the visitor asked for, always by GET: a form is never sent again. An address with a
// fragment would only scroll, so it is reloaded, unless this page is the answer to a form.
const open = () => {
  entering = true;
  const { hash, pathname, search } = location;
  if (hash && !("posted" in page.dataset)) location.reload();
  else location.replace(pathname + search);
};

const schedule = (seconds) => {
  clearTimeout(timer);
  if (seconds > 0) timer = setTimeout(poll, seconds * 1000 * (0.9 + 0.2 * Math.random()));
};

const ask = async () => {
  request = new AbortController();
  const limit = setTimeout(() => request.abort(), 20000);
  try {
    const answer = await fetch(location.href, {
      headers: { "Anteroom-Poll": "1", Accept: "application/json" },
      cache: "no-store",
      credentials: "same-origin",
      signal: request.signal,
    });
    const body = await answer.text();
    let room;
    try { room = JSON.parse(body).cfWaitingRoom; } catch {}
    if (!room && (answer.status >= 500 || answer.status === 429)) throw answer.status;
    return room;
  } finally {
    clearTimeout(limit);
    request = undefined;
  }
};

const poll = async () => {
  if (request || entering) return;
  clearTimeout(timer);
  lastPoll = Date.now();
  try {
    const room = await ask();
    if (entering) return;
    // No answer of the waiting room: the page is not waited for any more.
    if (!room) return open();
    failures = 0;
    show("offline", "");
    if (room.admitted) room.state = "called";
    update(room);
    if (room.admitted) return open();
    pause = room.refreshIntervalSeconds;
    schedule(pause);
  } catch {
    if (entering) return;
    failures += 1;
    show("offline", texts.offline);
    schedule(Math.min(60, Math.max(pause, 2) * 2 ** failures));
  }
};

// A hidden tab is held back by the browser, and a sleeping device does not poll at all.
const wake = () => {
  if (pause && !document.hidden && Date.now() - lastPoll > 2000) poll();
};
document.addEventListener("visibilitychange", wake);
addEventListener("online", wake);
addEventListener("pageshow", (event) => {
  if (event.persisted) entering = false;
  wake();
});
// A poll on its way could ask for a new place just after this one is given up.
at("leave").addEventListener("submit", () => {
  entering = true;
  clearTimeout(timer);
  if (request) request.abort();
});
// The Refresh header is for pages without this script: stopping a page that has loaded cancels it.
addEventListener("load", () => setTimeout(() => stop(), 0));
if (page.dataset.state === "prequeueing") startIn(Number(at("countdown").dataset.seconds));
schedule(pause);
})();
