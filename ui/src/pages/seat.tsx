// A person's seat: what it sees, what was said and read, the form of the next call, and its board.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Tabs, Printed, Prose, SeatName, Fold, showInPane } from "../parts/bits";
import { Board, pins, pin } from "../parts/board";
import { CallForm } from "../parts/call_form";
import { hasGraph, SceneGraph } from "../parts/scene_graph";
import { useMoving, Watch } from "./watch";
import type { Game } from "./game";
import { callText } from "../model/story";
import { seatName, theSeat } from "../model/names";
import { sentence } from "../model/text";
import type { GameView, LogEntry, SceneNode } from "../state/server";
import { bindKeys } from "../state/keys";
import { phone } from "../state/screen";
import { useTitle } from "../state/store";

interface SeatPageProps {
  readonly game: Game;
  readonly take: (view: GameView) => void;
}

export function SeatPage({ game, take }: SeatPageProps): JSX.Element {
  const { view } = game;
  const seats = view.seats.map((seat) => seat.seat);
  const [tab, choose] = useState("act");
  const moving = useMoving(view, take);
  useEffect(() => bindKeys({ "1": () => choose("act"), "2": () => choose("see"), "3": () => choose("board") }), []);
  useTitle(view.name, view.viewer ? seatName(view.viewer) : "");
  const see = <See view={view} />;
  const act = <Acting game={game} take={take} seats={seats} />;
  const board = <Board game={view.id} suspects={view.env === "fleet"} />;
  return (
    <main class="seat-page">
      <SeatBar view={view} seats={seats} />
      {view.phase !== "person" && <Watch moving={moving} />}
      {phone.value ? (
        <section class="side">
          <Tabs label="Seat" chosen={tab} choose={choose} tabs={[
            { id: "act", title: "Act", body: () => act }, { id: "see", title: "See", body: () => see }, { id: "board", title: "Board", body: () => board },
          ]} />
        </section>
      ) : (
        <div class="panes">
          <section class="pane" aria-label="What you see" tabIndex={0}>{see}</section>
          <section class="middle" aria-label="Log and acts">{act}</section>
          <section class="pane board-pane" aria-label="Board" tabIndex={0}>{board}</section>
        </div>
      )}
    </main>
  );
}

const SeatBar = ({ view, seats }: { view: GameView; seats: readonly string[] }): JSX.Element => (
  <section class="seat-bar" aria-label="The game">
    <h1>{view.viewer && seatName(view.viewer)} <small>{[view.name, view.tier].filter(Boolean).join(", ")}</small></h1>
    {seats.length > 1 && (
      <p class="row wrap">
        {view.seats.map((seat) => (
          <span key={seat.seat} class={seat.seat === view.acting ? "acting" : ""}><SeatName seat={seat.seat} seats={seats} /> <span class="hint">{seat.player}</span></span>
        ))}
      </p>
    )}
    <p role="status">Turn <b>{Math.min(view.turn + 1, view.budget)}</b> of {view.budget}. {view.phase === "person" ? "Your turn." : ""}{view.branched_from ? ` Branched off after ${view.branched_from.at} calls.` : ""}</p>
    <progress max={view.budget} value={view.turn + 1} aria-label="Turns used" />
  </section>
);

/** The log beside it has what was read last. */
const IN_LOG = "last look";

const See = ({ view }: { view: GameView }): JSX.Element => (
  <div class="see">
    <h2>What you see <small>{view.scene.clock}</small></h2>
    {view.env !== "tickets" && hasGraph(view.scene) && <SceneGraph scene={view.scene} />}
    {view.scene.sections.filter((section) => section.title !== IN_LOG).map((section) => (
      <section key={section.title}>
        <h3>{sentence(section.title)}</h3>
        {section.title === "ticket" ? <Prose text={section.lines.join("\n")} /> : <ul class="lines">{section.lines.filter((line) => line.trim()).map((line, i) => <li key={i}>{line}</li>)}</ul>}
      </section>
    ))}
    {view.env === "tickets" && <Documents nodes={view.scene.nodes.slice(1)} />}
    {view.seat && <Fold title="As it is printed" open={!view.scene.nodes.length}><Printed text={view.seat.text} label="What your seat reads" /></Fold>}
    {Object.entries(view.briefs).map(([seat, text]) => <Fold key={seat} title={`Brief of ${theSeat(seat)}`}><Printed text={text} label={`Brief of ${theSeat(seat)}`} /></Fold>)}
  </div>
);

/** The documents that the desk has come across. */
const Documents = ({ nodes }: { nodes: readonly SceneNode[] }): JSX.Element | null =>
  nodes.length ? (
    <section>
      <h3>Documents</h3>
      <ul class="lines">{nodes.map((node) => <li key={node.name}><b>{node.name}</b> {node.facts[1]?.[1]} <span class="tag">{node.facts[0]?.[1]}</span></li>)}</ul>
    </section>
  ) : null;

function Acting({ game, take, seats }: SeatPageProps & { readonly seats: readonly string[] }): JSX.Element {
  const { view, log } = game;
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => showInPane(end.current), [log.length]);
  return (
    <>
      <div class="pane log" role="log" aria-label="What was read, said and done" tabIndex={0}>
        {log.length === 0 && <p class="hint">{view.calls ? "Your seat has not done anything yet." : "Nothing has happened yet."} Look at what you see, then choose below what to do.</p>}
        {log.map((entry) => <Entry key={entry.n} entry={entry} seats={seats} game={view.id} />)}
        <div ref={end} />
      </div>
      {view.seat && <CallForm key={view.seat.seat} view={view} form={view.seat} take={take} />}
    </>
  );
}

function Entry({ entry, seats, game }: { entry: LogEntry; seats: readonly string[]; game: string }): JSX.Element {
  const text = [callText(entry), entry.result].join("\n");
  const pinned = pins(game).includes(text);
  const say = entry.arguments["say"];
  const ask = entry.arguments["ask"];
  return (
    <article class={`entry-card ${entry.ends_turn ? "ended" : ""}`}>
      <header class="row spread">
        <span><SeatName seat={entry.seat} seats={seats} /> <span class="hint">turn {entry.turn + 1}</span> <code>{callText(entry)}</code></span>
        <button type="button" aria-pressed={pinned} onClick={() => pin(game, text)}>{pinned ? "Pinned" : "Pin"}</button>
      </header>
      {typeof say === "string" && say && <p>{say}</p>}
      {typeof ask === "string" && ask && <p class="hint">Asks: {ask}</p>}
      {entry.message && <p class="message">{entry.message}</p>}
      {entry.result && <Printed text={entry.result} label={`Answer to ${callText(entry)}`} />}
    </article>
  );
}
