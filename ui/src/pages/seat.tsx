// A person's seat: what it sees, what was said and read, the form of the next call, and its board.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Tabs, Printed, SeatName, Fold } from "../parts/bits";
import { Board, pins, pin } from "../parts/board";
import { CallForm } from "../parts/call_form";
import { SceneGraph } from "../parts/scene_graph";
import { Watch } from "./watch";
import type { Game } from "./game";
import { callText } from "../model/story";
import { words } from "../model/text";
import type { GameView, LogEntry } from "../state/server";
import { bindKeys } from "../state/keys";
import { narrow } from "../state/screen";

interface SeatPageProps {
  readonly game: Game;
  readonly take: (view: GameView) => void;
}

export function SeatPage({ game, take }: SeatPageProps): JSX.Element {
  const { view } = game;
  const seats = view.seats.map((seat) => seat.seat);
  const [tab, choose] = useState("act");
  useEffect(() => bindKeys({ "1": () => choose("act"), "2": () => choose("see"), "3": () => choose("board") }), []);
  const see = <See view={view} />;
  const act = <Acting game={game} take={take} seats={seats} />;
  const board = <Board game={view.id} />;
  return (
    <main class="seat-page">
      <SeatBar view={view} seats={seats} />
      {view.phase !== "person" && <Watch view={view} take={take} />}
      {narrow.value ? (
        <section class="side">
          <Tabs label="Seat" chosen={tab} choose={choose} tabs={[
            { id: "act", title: "Act", body: () => act }, { id: "see", title: "See", body: () => see }, { id: "board", title: "Board", body: () => board },
          ]} />
        </section>
      ) : (
        <div class="panes">
          <section class="pane" aria-label="What you see" tabIndex={0}>{see}</section>
          <section class="middle" aria-label="Log and acts">{act}</section>
          <section class="pane" aria-label="Board" tabIndex={0}>{board}</section>
        </div>
      )}
    </main>
  );
}

const SeatBar = ({ view, seats }: { view: GameView; seats: readonly string[] }): JSX.Element => (
  <section class="seat-bar" aria-label="The game">
    <h1>{view.viewer && words(view.viewer)} <small>Game {view.id.slice(0, 6)}, {view.tier}</small></h1>
    <p class="row wrap">
      {view.seats.map((seat) => (
        <span key={seat.seat} class={seat.seat === view.acting ? "acting" : ""}><SeatName seat={seat.seat} seats={seats} /> <span class="hint">{seat.player}</span></span>
      ))}
    </p>
    <p role="status">Turn <b>{Math.min(view.turn + 1, view.budget)}</b> of {view.budget}. {view.phase === "person" ? "Your turn." : ""}{view.branched_from ? ` Branched off after ${view.branched_from.at} calls.` : ""}</p>
    <progress max={view.budget} value={view.turn + 1} aria-label="Turns used" />
  </section>
);

const See = ({ view }: { view: GameView }): JSX.Element => (
  <div class="see">
    <h2>What you see <small>{view.scene.clock}</small></h2>
    {view.scene.nodes.length > 0 && <SceneGraph scene={view.scene} />}
    {view.scene.sections.map((section) => (
      <section key={section.title}>
        <h3>{section.title}</h3>
        <ul class="lines">{section.lines.map((line, i) => <li key={i}>{line}</li>)}</ul>
      </section>
    ))}
    {view.seat && <Fold title="As it is printed" open={!view.scene.nodes.length}><Printed text={view.seat.text} label="What your seat reads" /></Fold>}
    {Object.entries(view.briefs).map(([seat, text]) => <Fold key={seat} title={`Brief of ${words(seat)}`}><Printed text={text} label={`Brief of ${words(seat)}`} /></Fold>)}
  </div>
);

function Acting({ game, take, seats }: SeatPageProps & { readonly seats: readonly string[] }): JSX.Element {
  const { view, log } = game;
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [log.length]);
  return (
    <>
      <div class="pane log" role="log" aria-label="What was read, said and done" tabIndex={0}>
        {log.length === 0 && <p class="hint">Nothing has happened yet. Look at what you see, make readings, then act.</p>}
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
