// -- one play --------------------------------------------------------------------------------------

class Play {
  constructor(id, data, incident) {
    Object.assign(this, { id, data, incident, row: index.rows[id], side: "true" });
    this.turns = [];
    data.steps.forEach((step, k) => (this.turns[step.turn] ??= []).push({ ...step, k }));
    this.terms = Object.keys(data.points);
    this.turn = make("div", { class: "turn" });
    this.element = make("section", { class: "play" }, this.head(), this.lanes(), this.legend(), this.turn);
  }

  head() {
    const row = this.row, episode = this.data;
    const facts = [`${row.policy}`, index.runs.length > 1 ? index.runs[row.run].name : "", row.attempt ? `attempt ${row.attempt + 1}` : ""];
    return make("div", { class: "head" },
      make("h2", {}, facts.filter(Boolean).join(" · ")),
      make("p", { class: "score" }, make("b", {}, `${number(episode.total)} points`), ` score ${minus(episode.score.toFixed(2))} `,
        row.tags.map((tag) => make("span", { class: "tag" }, tag))));
  }

  lanes() {
    const seats = this.incident.seats, count = this.turns.length;
    const grid = make("div", { class: "grid", role: "group", "aria-label": "Turns by seat" });
    grid.style.gridTemplateColumns = `var(--seat) repeat(${count}, ${COLUMN}px) minmax(84px, 1fr)`;
    grid.append(make("div", { class: "seat corner" }, "turn"));
    this.heads = this.turns.map((_, t) => this.turnHead(String(t + 1), t + 1)).concat(this.turnHead("end", END));
    grid.append(...this.heads);
    for (const seat of seats) {
      grid.append(make("div", { class: "seat" }, seat));
      this.turns.forEach((steps, t) => grid.append(make("div", { class: "cell", "data-turn": t + 1 },
        (steps || []).filter((step) => step.seat === seat).map((step) => this.chip(step, t + 1)))));
      grid.append(make("div", { class: "cell", "data-turn": END }));
    }
    grid.append(make("div", { class: "seat points" }, "points", make("small", {}, number(this.data.total))), this.waterfall());
    this.cells = [...grid.querySelectorAll(".cell")];
    this.scroller = make("div", { class: "lanes" }, grid);
    return this.scroller;
  }

  turnHead(text, turn) {
    return make("button", { type: "button", class: "number", "data-turn": turn, on: { click: () => go({ t: turn }) } }, text);
  }

  chip(step, turn) {
    const gained = Object.values(step.points).reduce((sum, value) => sum + value, 0);
    const reading = !this.ends(step);
    const kind = step.refused ? "refused" : gained > 2 ? "gain" : gained < -4 ? "loss" : "";
    const told = Object.entries(step.args).filter(([name]) => name !== "say").map(([, value]) => brief(value)).join(" ");
    const said = step.args.say ? `“${step.args.say}”` : "";
    return make("button", { type: "button", class: `chip ${reading ? "reading" : "act"} ${kind}`, title: callText(step), on: { click: () => go({ t: turn }, step.k) } },
      make("b", {}, words(step.tool)), make("span", {}, told || said),
      Math.abs(gained) > 4 || kind ? make("i", {}, step.refused ? "refused" : number(gained)) : null);
  }

  ends(step) {
    const next = this.data.steps[step.k + 1];
    return !next || next.turn !== step.turn;
  }

  waterfall() {
    const width = this.turns.length * COLUMN, sums = [];
    let sum = 0, low = 0, high = 0;
    for (const steps of this.turns) {
      const parts = this.gains(steps || []);
      sums.push({ from: sum, parts });
      for (const [, value] of parts) { sum += value; low = Math.min(low, sum); high = Math.max(high, sum); }
    }
    const y = (value) => 16 + (FALL - 30) * (high - value) / (high - low || 1);
    const picture = draw("svg", { viewBox: `0 0 ${width + 84} ${FALL}`, width: width + 84, height: FALL, role: "img", "aria-label": `Points turn by turn, ${number(sum)} in the end` });
    picture.append(draw("line", { class: "zero", x1: 0, x2: width + 84, y1: y(0), y2: y(0) }));
    let last = 0;
    sums.forEach(({ parts }, turn) => { last = this.bars(picture, parts, turn, last, y); });
    picture.append(draw("text", { class: "sum", x: width + 8, y: y(last) + 4 }, number(last)));
    const box = make("div", { class: "fall" }, picture);
    box.style.gridColumn = `span ${this.turns.length + 1}`;
    return box;
  }

  bars(picture, parts, turn, from, y) {
    const room = (COLUMN - 16) / Math.max(1, parts.length), left = turn * COLUMN + 8;
    picture.append(draw("line", { class: "level", x1: turn * COLUMN, x2: left, y1: y(from), y2: y(from) }));
    if (!parts.length) picture.append(draw("line", { class: "level", x1: left, x2: (turn + 1) * COLUMN, y1: y(from), y2: y(from) }));
    parts.forEach(([term, value], k) => {
      const to = from + value, top = Math.min(y(from), y(to)), height = Math.max(1.5, Math.abs(y(from) - y(to)));
      const bar = draw("rect", { class: `bar term-${this.terms.indexOf(term) % 8} ${value < 0 ? "fell" : ""}`, x: left + k * room, y: top, width: Math.max(2, room - 2), height, rx: 1.5 });
      bar.append(draw("title", {}, `${words(term)} ${number(value)}`));
      picture.append(bar);
      if (Math.abs(value) > 4 && room > 22) picture.append(draw("text", { class: "value", x: left + k * room + room / 2, y: value > 0 ? top - 3 : top + height + 10, "text-anchor": "middle" }, number(value)));
      from = to;
    });
    picture.append(draw("line", { class: "level", x1: left + COLUMN - 16, x2: (turn + 1) * COLUMN, y1: y(from), y2: y(from) }));
    return from;
  }

  gains(steps) {
    const out = new Map();
    for (const step of steps) for (const [term, value] of Object.entries(step.points)) out.set(term, (out.get(term) || 0) + value);
    return [...out];
  }

  legend() {
    return make("p", { class: "legend" }, this.terms.map((term, k) => make("span", {}, make("i", { class: `term-${k % 8}` }), words(term), make("b", {}, number(this.data.points[term])))));
  }

  show(turn, call) {
    const end = turn === END || turn > this.turns.length;
    this.at = end ? END : Math.max(1, turn);
    for (const element of [...this.heads, ...this.cells]) element.classList.toggle("here", element.dataset.turn === String(this.at));
    const left = end ? this.debrief() : this.seen(this.turns[this.at - 1] || []);
    this.turn.replaceChildren(left, this.scene(end));
    this.reveal();
    if (call !== undefined) left.querySelector(`[data-call="${call}"]`)?.scrollIntoView({ block: "nearest" });
  }

  reveal() {
    const head = this.heads.find((element) => element.classList.contains("here"));
    const free = this.scroller.clientWidth, x = head.offsetLeft - this.scroller.scrollLeft;
    if (x < 110 || x > free - COLUMN) this.scroller.scrollLeft = head.offsetLeft - free / 2;
  }

  // -- what a seat saw ---------------------------------------------------------------------------------

  seen(steps) {
    const seat = steps.length ? steps[0].seat : "";
    return make("div", { class: "seen" },
      make("h3", {}, `Turn ${this.at} · ${seat}`), make("p", { class: "soft" }, "what the seat saw, called and was answered"),
      steps.map((step) => [
        step.shown ? make("pre", { class: "shown", tabindex: "0" }, step.shown) : null,
        step.message ? make("pre", { class: "message", tabindex: "0", "aria-label": `What ${seat} wrote` }, step.message) : null,
        make("p", { class: `call ${step.refused ? "refused" : ""}`, "data-call": step.k }, make("code", {}, callText(step)),
          Object.entries(step.points).map(([term, value]) => make("span", { class: value > 0 ? "plus" : "minus" }, `${words(term)} ${number(value)}`))),
        make("pre", { class: "answer", tabindex: "0" }, step.result)]),
      make("details", {}, make("summary", {}, `What ${seat} was told before its first turn`), make("pre", {}, this.incident.briefs[seat] || "")));
  }

  // -- what was true ------------------------------------------------------------------------------------

  scene(end) {
    if (!this.data.true) return make("div", { class: "truth" }, make("p", { class: "soft" }, "This file was made without scenes."));
    const seat = end ? null : this.turns[this.at - 1]?.[0].seat;
    const box = make("div", { class: "truth" }), known = this.side === "known" && seat;
    const scene = known ? this.data.known[this.at - 1] : this.data.true[end ? this.data.true.length - 1 : this.at - 1];
    box.append(make("h3", {}, known ? `As ${seat} knew it` : "As it was"), this.sides(seat, known), make("p", { class: "soft clock" }, scene.clock));
    if (this.incident.svg) box.append(this.graph(scene));
    const cards = scene.sections.map(([title, lines]) => make("details", { open: true, class: "card" }, make("summary", {}, title, make("small", {}, String(lines.length))),
      make("ul", {}, lines.map((line) => make("li", { class: /^(rogue|cause):/.test(line) ? "rogue" : null }, line)))));
    box.append(make("div", { class: "cards" }, cards));
    return box;
  }

  sides(seat, known) {
    if (!seat) return "";
    const choose = (side) => () => { this.side = side; this.show(this.at); };
    return make("div", { class: "sides", role: "group", "aria-label": "Which scene" },
      make("button", { type: "button", "aria-pressed": String(!known), on: { click: choose("true") } }, "as it was"),
      make("button", { type: "button", "aria-pressed": String(Boolean(known)), on: { click: choose("known") } }, `as ${seat} knew it`));
  }

  graph(scene) {
    this.template ??= document.importNode(new DOMParser().parseFromString(this.incident.svg, "image/svg+xml").documentElement, true);
    const picture = this.template.cloneNode(true), natural = picture.viewBox.baseVal.width;
    picture.style.minWidth = `${Math.min(natural, 440)}px`;
    const told = make("pre", { class: "told", hidden: true });
    for (const node of picture.querySelectorAll("[data-name]")) paint(node, scene.nodes[node.dataset.name], told);
    for (const edge of picture.querySelectorAll("[data-source]")) {
      edge.classList.toggle("absent", !(edge.dataset.source in scene.nodes && edge.dataset.target in scene.nodes));
    }
    return make("div", { class: "graph" }, make("div", { class: "scroll" }, picture), told);
  }

  // -- the debrief -----------------------------------------------------------------------------------------

  debrief() {
    const sentences = this.data.counterfactual || [], oracle = this.incident.oracle;
    const list = (facts) => make("dl", {}, Object.entries(facts).filter(([name, value]) => value !== null && name !== "redraws").map(([name, value]) => [make("dt", {}, words(name)), make("dd", {}, plain(value))]));
    return make("div", { class: "seen debrief" }, make("h3", {}, "Debrief"), make("p", { class: "soft" }, this.incident.story),
      make("h4", {}, "What came of it"), list(this.data.outcome),
      make("h4", {}, "What it truly was"), list(this.data.truth),
      sentences.length ? [make("h4", {}, "What would have been"), sentences.map((line) => make("p", {}, line))] : null,
      oracle ? [make("h4", {}, `What the oracle would have done, for ${number(oracle.total)} points`), this.oracle(oracle.steps)] : null);
  }

  oracle(steps) {
    const acts = steps.filter((step) => step.tool !== "wait");
    return make("ol", { class: "oracle" }, acts.map((step) => make("li", {}, make("small", {}, `turn ${step.turn + 1} · ${step.seat}`), make("code", {}, callText(step)))));
  }
}

function paint(node, told, box) {
  node.classList.toggle("absent", !told);
  if (!told) return;
  const [state, sign, said, first, second, mark, tip] = told;
  node.setAttribute("class", `node is-${state}${node.classList.contains("document") ? " document" : ""}`);
  const put = (name, text) => { node.querySelector(name).textContent = text; };
  put(".sign", sign); put(".state", said); put(".fact", first); put(".more", second); put("title", tip);
  const badge = node.querySelector(".badge"), width = 6 * mark.length + 12;
  badge.setAttribute("visibility", mark ? "visible" : "hidden");
  badge.querySelector("rect").setAttribute("width", width);
  badge.querySelector("rect").setAttribute("x", -width);
  badge.querySelector("text").setAttribute("x", -width / 2);
  put(".badge text", mark);
  node.addEventListener("click", () => { box.hidden = box.textContent === tip && !box.hidden; box.textContent = tip; });
}

const brief = (value) => (Array.isArray(value) ? value.join(" ") : typeof value === "object" && value ? JSON.stringify(value) : String(value));
const plain = (value) => (value === true ? "yes" : value === false ? "no" : Array.isArray(value) ? value.map(brief).join("; ") || "none" : typeof value === "number" ? String(Math.round(value * 1000) / 1000) : brief(value));
const callText = (step) => [step.tool, ...Object.entries(step.args).map(([name, value]) => `${name}=${brief(value)}`)].join(" ");
