// A run: scenarios by policies, sorted, filtered and searched; every tile opens its episode.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Row, RunIndex } from "../contract";
import { Button } from "../parts/bits";
import { Bar } from "../parts/bar";
import { Loaded } from "../parts/loaded";
import { episodeAddress } from "../model/address";
import { type Excerpt, FILTERS, Search, excerptOf, heat, isFilter, isNamed, mean, pivot, policiesOf, searchTerms, sortLines, worthOpening, type Line } from "../model/landing";
import { count, plain, signed, words } from "../model/text";
import { bindKeys } from "../state/keys";
import { isFile, loadRun, loadSearch, loadStory } from "../state/source";
import { Refused } from "../state/server";
import { address, setQuery, toggleTruth, truthShown } from "../state/store";

const TILES = 6;
const HITS = 60;
const WORTH = 8;
/** Hits that show the words around the match, and milliseconds after the last key before they are read. */
const EXCERPTS = 12;
const TYPING = 250;

export const Landing = (): JSX.Element => <Loaded load={loadOrNone}>{(run) => (run ? <Run run={run} /> : <NoRun />)}</Loaded>;

async function loadOrNone(): Promise<RunIndex | null> {
  try {
    return await loadRun();
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null;
    throw error;
  }
}

/** What an episode takes over from this page. */
const kept = (): Record<string, string> => (truthShown.value ? { truth: "1" } : {});

const NoRun = (): JSX.Element => (
  <main class="page">
    <h1>Warroom</h1>
    <p>An incident, four seats, and automation agents of which one may have caused it. Take a seat, or watch policies play.</p>
    <p><a class="button main" href="#/new">New game</a></p>
    <p class="hint">To look at recorded episodes here, start with <code>warroom ui --runs RUN</code>.</p>
  </main>
);

function Run({ run }: { run: RunIndex }): JSX.Element {
  const { q = "", only = "", sort = "" } = address.value.query;
  const found = useSearch(run, q);
  const filter = isFilter(only) ? only : "";
  const rows = useMemo(
    () => run.rows.filter((row, i) => FILTERS[filter].keep(row) && (!found || found.has(i) || isNamed(row, searchTerms(q)))), [run, filter, found],
  );
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => bindKeys({ "/": () => input.current?.focus(), s: toggleTruth }), []);
  return (
    <main class="page">
      <div class="row spread">
        <div>
          <h1>{run.runs.map((head) => head.name).join(", ") || "Episodes"}</h1>
          <p class="hint">{count(run.rows.length, "episode")} by {count(policiesOf(run.rows).length, "policy", "policies")}. A tile is one episode; its number is the score: 0 for doing nothing, 1 for the oracle.</p>
        </div>
        <div class="row">
          {run.runs.map((head) => head.report && <a key={head.name} class="button" href={head.report}>Report</a>)}
          <Button act={toggleTruth} pressed={truthShown.value} hint="Verdicts with cause and guilt, here and in episodes">Truth</Button>
          {!isFile() && <a class="button main" href="#/new">New game</a>}
        </div>
      </div>
      {run.notes.map((note) => <p key={note} class="note">{note}</p>)}
      <Controls q={q} filter={filter} input={input} rows={run.rows} />
      <p class="hint" role="status">{q || filter ? `${count(rows.length, "episode")} of ${run.rows.length}` : ""}</p>
      <div class="columns">
        <div>
          <Heatmap rows={rows} sort={sort} />
          <Components rows={rows} />
        </div>
        <Hits rows={q ? rows.slice(0, HITS) : worthOpening(rows, WORTH)} title={q ? `Contains “${q}”` : "Worth opening"} terms={searchTerms(q)} />
      </div>
    </main>
  );
}

/** Numbers of the rows that hold what is typed; null while nothing is. */
function useSearch(run: RunIndex, q: string): Set<number> | null {
  const [search, setSearch] = useState<Search | null>(null);
  const terms = searchTerms(q);
  const wanted = terms.length > 0;
  useEffect(() => {
    if (wanted && !search) void loadSearch().then((index) => setSearch(new Search(index, run.rows.length)));
  }, [wanted]);
  return useMemo(() => (wanted && search ? search.find(terms) : null), [terms.join(" "), search]);
}

interface ControlsProps {
  readonly q: string;
  readonly filter: string;
  readonly input: { current: HTMLInputElement | null };
  readonly rows: readonly Row[];
}

const Controls = ({ q, filter, input, rows }: ControlsProps): JSX.Element => (
  <div class="controls">
    <input ref={input} type="search" placeholder="Search all that was said and shown, and names ( / )" aria-label="Search all that was said and shown"
      value={q} onInput={(event) => setQuery("q", event.currentTarget.value)} />
    <div class="choices" role="group" aria-label="Filter">
      {Object.entries(FILTERS).filter(([name, { keep }]) => !name || rows.some(keep)).map(([name, { label }]) => (
        <button key={name} type="button" aria-pressed={filter === name} onClick={() => setQuery("only", name)}>{label}</button>
      ))}
    </div>
  </div>
);

function Heatmap({ rows, sort }: { rows: readonly Row[]; sort: string }): JSX.Element {
  const policies = policiesOf(rows);
  const lines = useMemo(() => sortLines(pivot(rows), sort), [rows, sort]);
  const heading = (id: string, title: string): JSX.Element => (
    <th key={id} scope="col" aria-sort={(sort || "scenario") === id ? "ascending" : "none"}>
      <button type="button" onClick={() => setQuery("sort", id === "scenario" ? "" : id)}>{title}{(sort || "scenario") === id ? " ↓" : ""}</button>
    </th>
  );
  if (!lines.length) return <p class="note">No episode matches.</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Scores">
      <table class="heatmap">
        <caption class="unseen">Scores of episodes by scenario and policy</caption>
        <thead><tr>{heading("scenario", "Scenario")}{policies.map((policy) => heading(policy, policy))}{policies.length > 1 && heading("gap", "Gap")}</tr></thead>
        <tbody>{lines.map((line) => <HeatLine key={line.key} line={line} policies={policies} />)}</tbody>
        <tfoot>
          <tr><th scope="row">Mean</th>{policies.map((policy) => <Mean key={policy} rows={rows.filter((row) => row.policy === policy)} />)}{policies.length > 1 && <td />}</tr>
        </tfoot>
      </table>
    </div>
  );
}

const Mean = ({ rows }: { rows: readonly Row[] }): JSX.Element => (
  <td><b>{plain(mean(rows.map((row) => row.score)))}</b> <span class="hint">n {rows.length}</span></td>
);

const HeatLine = ({ line, policies }: { line: Line; policies: readonly string[] }): JSX.Element => (
  <tr>
    <th scope="row">{line.title}<span class="hint">{line.detail}</span></th>
    {policies.map((policy) => <HeatCell key={policy} rows={line.cells.get(policy) ?? []} />)}
    {policies.length > 1 && <td class="number">{policies.every((policy) => line.cells.has(policy)) ? plain(line.gap) : "–"}</td>}
  </tr>
);

function HeatCell({ rows }: { rows: readonly Row[] }): JSX.Element {
  if (!rows.length) return <td><span class="hint" aria-label="not played">–</span></td>;
  const hidden = rows.length - TILES;
  return (
    <td>
      <div class="tiles">
        {rows.slice(0, TILES).map((row) => (
          <a key={row.id} class={`tile heat-${heat(row.score)}`} href={episodeAddress(row.id, null, kept())} title={`${row.name}: ${truthShown.value ? row.verdict : row.safe}`}>
            {plain(row.score)}<span class="unseen"> {row.name}, {row.policy}</span>
          </a>
        ))}
        {hidden > 0 && <span class="hint">and {hidden} more, mean {plain(mean(rows.map((row) => row.score)))}</span>}
      </div>
    </td>
  );
}

function Components({ rows }: { rows: readonly Row[] }): JSX.Element | null {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row.points)))];
  if (!names.length) return null;
  const policies = policiesOf(rows);
  const average = (policy: string, name: string): number => mean(rows.filter((row) => row.policy === policy).map((row) => row.points[name] ?? 0));
  const most = Math.max(1, ...policies.flatMap((policy) => names.map((name) => Math.abs(average(policy, name)))));
  return (
    <section>
      <h2>Where the points come from</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Points by component">
        <table>
          <thead><tr><th scope="col">Policy</th>{names.map((name) => <th key={name} scope="col">{words(name)}</th>)}</tr></thead>
          <tbody>
            {policies.map((policy) => (
              <tr key={policy}>
                <th scope="row">{policy}</th>
                {names.map((name) => <td key={name} class="number">{signed(average(policy, name))}<Bar share={average(policy, name) / most} /></td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

interface HitsProps {
  readonly rows: readonly Row[];
  readonly title: string;
  readonly terms: readonly string[];
}

const Hits = ({ rows, title, terms }: HitsProps): JSX.Element => (
  <section class="hits" aria-label={title}>
    <h2>{title}</h2>
    <ul>
      {rows.map((row, i) => (
        <li key={row.id}>
          <a class="card" href={episodeAddress(row.id, null, kept())}>
            <b>{row.name}</b> <span class="hint">{row.policy} · score {plain(row.score)}</span>
            <span class="line">{truthShown.value ? row.verdict : [row.safe.replace(/\.$/, ""), row.solved ? "Solved" : "Not solved", row.blunders ? count(row.blunders, "blunder") : ""].filter(Boolean).join(" · ")}</span>
          </a>
          {terms.length > 0 && i < EXCERPTS && <Found key={terms.join(" ")} id={row.id} terms={terms} />}
        </li>
      ))}
    </ul>
  </section>
);

/** The words around what was searched for, as a link to their turn; the episode is read once it is on the list. */
function Found({ id, terms }: { id: string; terms: readonly string[] }): JSX.Element | null {
  const [excerpt, setExcerpt] = useState<Excerpt | null>(null);
  useEffect(() => {
    let gone = false;
    const waited = setTimeout(() => {
      void loadStory(id).then(({ episode }) => { if (!gone) setExcerpt(excerptOf(episode.turns, terms)); }).catch(() => undefined);
    }, TYPING);
    return () => { gone = true; clearTimeout(waited); };
  }, []);
  if (!excerpt) return null;
  return (
    <a class="excerpt" href={episodeAddress(id, excerpt.turn, kept())}>
      <span class="hint">turn {excerpt.turn}</span> {excerpt.before}<mark>{excerpt.match}</mark>{excerpt.after}
    </a>
  );
}
