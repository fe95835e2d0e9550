// -- where one is -----------------------------------------------------------------------------------------

let plays = [], showing = "";

function place() {
  const found = new URLSearchParams(location.hash.slice(1));
  return { e: found.get("e"), b: found.get("b"), t: found.get("t") };
}

const isEpisode = (id) => /^\d+$/.test(id ?? "") && Object.hasOwn(index.rows, id);

function go(change, call) {
  const now = { ...place(), ...change };
  const parts = Object.entries(now).filter(([, value]) => value !== null && value !== "").map(([name, value]) => `${name}=${value}`);
  const hash = `#${parts.join("&")}`;
  if (hash === location.hash) turnTo(now.t, call);
  else { pendingCall = call; if ("e" in change || "b" in change) location.hash = hash; else { history.replaceState(null, "", hash); route(); } }
}

let pendingCall;

async function route() {
  const { e, b, t } = place(), call = pendingCall;
  pendingCall = undefined;
  document.body.classList.toggle("open", e !== null);
  for (const row of document.querySelectorAll(".row.here")) row.classList.remove("here");
  if (!isEpisode(e)) { showing = ""; plays = []; overview(e); return; }
  rows[e].classList.add("here");
  const wantedNow = `${e} ${b}`;
  if (showing !== wantedNow) await open(e, b, wantedNow);
  if (showing === wantedNow) turnTo(t, call);
}

async function open(e, b, name) {
  showing = name;
  const ids = [e, b].filter((id) => id !== null && index.rows[id] && index.rows[id].i === index.rows[e].i);
  const incident = await unpack(`i${index.rows[e].i}`);
  const data = await Promise.all(ids.map((id) => unpack(`e${id}`)));
  if (showing !== name) return;
  plays = ids.map((id, k) => new Play(id, data[k], incident));
  byId("main").replaceChildren(title(e, b, incident), make("div", { class: plays.length > 1 ? "plays two" : "plays" }, plays.map((play) => play.element)));
  document.title = `Warroom · ${words(index.rows[e].scenario)} ${index.rows[e].seed}`;
  rows[e].scrollIntoView({ block: "nearest" });
  if (document.body.classList.contains("open") && innerWidth < 900) scrollTo(0, 0);
}

function title(e, b, incident) {
  const row = index.rows[e];
  const others = index.rows.map((other, id) => [other, id]).filter(([other, id]) => other.i === row.i && String(id) !== e);
  const name = (other) => [other.policy, other.attempt ? `attempt ${other.attempt + 1}` : "", index.runs.length > 1 ? index.runs[other.run].name : ""].filter(Boolean).join(" · ");
  const select = make("select", { id: "beside", "aria-label": "Side by side with", on: { change: () => go({ b: select.value || null }) } },
    make("option", { value: "" }, b === null ? "beside another policy …" : "alone"), others.map(([other, id]) => make("option", { value: id, selected: String(id) === b }, `${name(other)} (${number(other.total)})`)));
  return make("div", { class: "title" }, make("a", { href: "#", class: "back" }, "← all episodes"),
    make("h1", {}, words(row.scenario)), make("p", { class: "soft" }, `${incident.env} · ${row.tier} · ${row.split} seed ${row.seed} · ${incident.story}`),
    others.length ? select : null);
}

function turnTo(t, call) {
  const turn = t === END ? END : Number(t) || 1;
  for (const play of plays) play.show(turn, call);
}

function move(by) {
  const last = Math.max(...plays.map((play) => play.turns.length)), { t } = place();
  const now = (t === END ? last + 1 : Number(t) || 1) + by;
  go({ t: now > last ? END : Math.max(1, now) });
}

function step(by) {
  const at = shown.indexOf(Number(place().e)), next = shown[Math.min(shown.length - 1, Math.max(0, at + by))];
  if (next !== undefined) go({ e: String(next), b: null, t: null });
}

const KEYS = {
  ArrowRight: () => move(1), ArrowLeft: () => move(-1), Home: () => go({ t: 1 }), End: () => go({ t: END }),
  ArrowDown: () => step(1), ArrowUp: () => step(-1), Escape: () => { location.hash = ""; },
  s: () => { for (const play of plays) { play.side = play.side === "true" ? "known" : "true"; play.show(play.at); } },
  "/": () => byId("search").focus(),
};

function onKey(event) {
  const typing = event.target.matches("input, select, textarea");
  if (typing && event.key === "Escape") event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  if (event.target.matches("pre") && event.key.startsWith("Arrow")) return;
  if (!plays.length && ["ArrowLeft", "ArrowRight", "Home", "End", "s"].includes(event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
}

function nextTheme() {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = root.dataset.theme || (dark ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
}

async function start() {
  if (!("DecompressionStream" in window)) {
    byId("main").textContent = "This browser is too old to unpack the episodes: it knows no DecompressionStream.";
    return;
  }
  index = await unpack("index");
  byId("runs").textContent = index.runs.map((run) => run.name).join(" and ");
  byId("report").hidden = !(index.runs.length === 1 && index.runs[0].report);
  byId("notes").hidden = !index.notes.length;
  byId("notes").append(...index.notes.map((note) => make("p", {}, note)));
  byId("theme").addEventListener("click", nextTheme);
  startList();
  addEventListener("hashchange", route);
  addEventListener("keydown", onKey);
  await route();
  document.documentElement.dataset.ready = "yes";
}

start();
