"use strict";
// Everything that comes from an episode is written as text, never as HTML; the one drawing is made by Warroom itself.

const COLUMN = 112, FALL = 132, END = "end";
const byId = (id) => document.getElementById(id);
const number = (value) => (Math.abs(value) < 0.05 ? "0" : (value > 0 ? "+" : "\u2212") + round(Math.abs(value)));
const round = (value) => (Math.abs(value - Math.round(value)) < 0.05 ? String(Math.round(value)) : value.toFixed(1));
const minus = (text) => text.replace("-", "\u2212");
const words = (name) => name.replaceAll("_", " ");

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

function draw(tag, attributes = {}, text = null) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== null) element.textContent = text;
  return element;
}

// -- data ------------------------------------------------------------------------------------------

const parsed = new Promise((resolve) => {
  if (document.readyState !== "loading") resolve();
  else document.addEventListener("DOMContentLoaded", resolve);
});
const unpacked = new Map();

async function unpack(id) {
  if (!unpacked.has(id)) unpacked.set(id, inflate(id));
  return unpacked.get(id);
}

async function inflate(id) {
  if (!byId(id)) await parsed;
  const bytes = Uint8Array.from(atob(byId(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

// -- the list ----------------------------------------------------------------------------------------

const filters = { policy: "", tier: "", scenario: "", tag: "", run: "" };
let index, shown = [], rows = [];

function rowName(row) {
  return `${row.scenario} ${row.tier} ${row.split} seed ${row.seed}`;
}

function listRow(row, id) {
  const solved = row.tags.includes("solved");
  const sign = solved ? "✓" : row.tags.includes("not solved") ? "✕" : "·";
  const again = row.attempt ? ` · attempt ${row.attempt + 1}` : "";
  const run = index.runs.length > 1 ? ` · ${index.runs[row.run].name}` : "";
  return make("a", { href: `#e=${id}`, class: "row", "data-id": id },
    make("span", { class: solved ? "sign good" : "sign bad" }, sign),
    make("span", { class: "what" }, make("b", {}, words(row.scenario)),
      make("small", {}, `${row.tier} · ${row.split} seed ${row.seed} · ${row.policy}${again}${run}`),
      make("small", { class: "tags" }, row.tags.filter((tag) => !tag.endsWith("solved")).join(" · "))),
    make("span", { class: "points" }, make("b", {}, number(row.total)), make("small", {}, `${row.turns} turns`)));
}

function fillSelect(id, name, values, all) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
  const select = byId(id);
  select.append(make("option", { value: "" }, all));
  for (const [value, count] of counts) select.append(make("option", { value }, `${words(String(value))} (${count})`));
  select.hidden = counts.size < 2;
  select.addEventListener("change", () => { filters[name] = select.value; filter(); });
}

function startList() {
  rows = index.rows.map(listRow);
  byId("rows").append(...rows);
  fillSelect("by-policy", "policy", index.rows.map((row) => row.policy), "every policy");
  fillSelect("by-tier", "tier", index.rows.map((row) => row.tier), "every tier");
  fillSelect("by-scenario", "scenario", index.rows.map((row) => row.scenario), "every scenario");
  fillSelect("by-tag", "tag", index.rows.flatMap((row) => row.tags), "every outcome");
  fillSelect("by-run", "run", index.rows.map((row) => index.runs[row.run].name), "both runs");
  byId("search").addEventListener("input", filter);
  byId("order").addEventListener("change", filter);
  byId("clear").addEventListener("click", clearFilters);
  filter();
}

function clearFilters() {
  for (const name of Object.keys(filters)) { filters[name] = ""; byId(`by-${name}`).value = ""; }
  byId("search").value = "";
  filter();
}

function wanted(row, terms) {
  const text = `${rowName(row)} ${words(row.scenario)} ${row.policy} ${row.tags.join(" ")}`.toLowerCase();
  return terms.every((term) => text.includes(term)) &&
    (!filters.policy || row.policy === filters.policy) && (!filters.tier || row.tier === filters.tier) &&
    (!filters.scenario || row.scenario === filters.scenario) && (!filters.tag || row.tags.includes(filters.tag)) &&
    (!filters.run || index.runs[row.run].name === filters.run);
}

const ORDERS = {
  run: (a, b) => a - b,
  worst: (a, b) => index.rows[a].score - index.rows[b].score || a - b,
  best: (a, b) => index.rows[b].score - index.rows[a].score || a - b,
  long: (a, b) => index.rows[b].turns - index.rows[a].turns || a - b,
};

function filter() {
  const terms = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  shown = index.rows.map((_, id) => id).filter((id) => wanted(index.rows[id], terms)).sort(ORDERS[byId("order").value]);
  byId("rows").replaceChildren(...shown.map((id) => rows[id]));
  if (!shown.length) byId("rows").append(make("p", { class: "empty" }, "No episode is like that."));
  byId("count").textContent = `${shown.length} of ${index.rows.length} episodes`;
  byId("clear").hidden = shown.length === index.rows.length;
  if (!isEpisode(place().e)) overview(place().e);
}

// -- the overview --------------------------------------------------------------------------------------

function overview(missing = null) {
  const policies = [...new Set(shown.map((id) => index.rows[id].policy))];
  const tiers = [...new Set(shown.map((id) => index.rows[id].tier))];
  const cells = (policy) => tiers.flatMap((tier) => {
    const found = shown.map((id) => index.rows[id]).filter((row) => row.policy === policy && row.tier === tier);
    const solved = found.filter((row) => row.tags.includes("solved")).length;
    const mean = found.reduce((sum, row) => sum + row.total, 0) / (found.length || 1);
    return [make("td", {}, found.length ? `${solved} of ${found.length}` : "–"), make("td", {}, found.length ? number(mean) : "–")];
  });
  const head = make("tr", {}, make("th", {}, "policy"), tiers.flatMap((tier) => [make("th", {}, `${tier}: solved`), make("th", {}, "points")]));
  const body = policies.map((policy) => make("tr", {}, make("td", { class: "name" }, policy), ...cells(policy)));
  byId("main").replaceChildren(make("div", { class: "overview" },
    missing === null ? null : make("p", { class: "missing", role: "status" }, `There is no episode ${missing} here: they go from 0 to ${index.rows.length - 1}.`),
    make("h1", {}, "Choose an episode"),
    make("p", { class: "soft" }, "Every call of every seat, what it saw, and what was true. The list is filtered by what you type and choose; the table counts what is left."),
    make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...body))),
    make("p", { class: "keys" }, key("/"), " search ", key("↑"), key("↓"), " episode ", key("←"), key("→"), " turn ",
      key("End"), " debrief ", key("s"), " true or as the seat knew it ", key("Esc"), " back")));
}

const key = (name) => make("kbd", {}, name);
