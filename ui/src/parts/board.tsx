// Evidence that a person pinned, and what it says of each change: harm and breach, which together make a rogue.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { recall, remember } from "../state/store";

type Answer = "open" | "yes" | "no";

interface BoardState {
  readonly pins: readonly string[];
  readonly answers: Readonly<Record<string, Answer>>;
}

const EMPTY: BoardState = { pins: [], answers: {} };
const boards = signal<Readonly<Record<string, BoardState>>>({});
const key = (game: string): string => `warroom-board-${game}`;

/** The board of a game; kept by the browser, so that a reload loses nothing. */
const boardOf = (game: string): BoardState =>
  boards.value[game] ?? { ...EMPTY, ...(JSON.parse(recall(key(game)) || "{}") as Partial<BoardState>) };

function keep(game: string, board: BoardState): void {
  boards.value = { ...boards.value, [game]: board };
  remember(key(game), JSON.stringify(board));
}

export const pins = (game: string): readonly string[] => boardOf(game).pins;

/** Pins a text, or takes it off. */
export function pin(game: string, text: string): void {
  const board = boardOf(game);
  const without = board.pins.filter((pinned) => pinned !== text);
  keep(game, { ...board, pins: without.length < board.pins.length ? without : [...without, text] });
}

const CHANGE = /\b[A-Z]{2,4}-\d{3,}\b/g;

const changesIn = (texts: readonly string[]): string[] => [...new Set(texts.flatMap((text) => text.match(CHANGE) ?? []))].filter((id) => id.startsWith("CHG"));

function conclusion(harm: Answer, breach: Answer): string {
  if (harm === "open" || breach === "open") return "open";
  if (harm === "yes") return breach === "yes" ? "rogue" : "faulty";
  return breach === "yes" ? "careless" : "clean";
}

export function Board({ game, suspects }: { game: string; suspects: boolean }): JSX.Element {
  const board = boardOf(game);
  const changes = suspects ? changesIn(board.pins) : [];
  const loose = board.pins.filter((text) => !changes.some((id) => text.includes(id)));
  return (
    <div class="board">
      <h2>Board</h2>
      <p class="hint">{suspects ? "Pin what you read; what names a change is filed under it. Rogue means harm and breach: answer both before you suspend an agent." : "Pin what you read, and it stays here."}</p>
      {changes.map((id) => <ChangeBoard key={id} game={game} id={id} board={board} />)}
      {loose.length > 0 && <h3>Pinned</h3>}
      {loose.map((text) => <Pinned key={text} text={text} game={game} />)}
      {!board.pins.length && <p class="hint">Nothing is pinned yet.</p>}
    </div>
  );
}

function ChangeBoard({ game, id, board }: { game: string; id: string; board: BoardState }): JSX.Element {
  const answer = (question: string): Answer => board.answers[`${id} ${question}`] ?? "open";
  const set = (question: string, value: Answer): void => keep(game, { ...board, answers: { ...board.answers, [`${id} ${question}`]: value } });
  const verdict = conclusion(answer("harm"), answer("breach"));
  return (
    <article class="card">
      <header class="row spread"><h3>{id}</h3><span class={`tag ${verdict}`}>{verdict}</span></header>
      {([["harm", "Did it cause the harm?"], ["breach", "Did it break a rule?"]] as const).map(([question, text]) => (
        <div key={question} class="row spread question">
          <span id={`${id}-${question}`}>{text}</span>
          <div class="choices" role="group" aria-labelledby={`${id}-${question}`}>
            {(["open", "yes", "no"] as const).map((value) => (
              <button key={value} type="button" aria-pressed={answer(question) === value} onClick={() => set(question, value)}>{value}</button>
            ))}
          </div>
        </div>
      ))}
      {board.pins.filter((text) => text.includes(id)).map((text) => <Pinned key={text} text={text} game={game} />)}
    </article>
  );
}

const Pinned = ({ text, game }: { text: string; game: string }): JSX.Element => (
  <div class="pinned"><details><summary>{text.split("\n", 1)[0]}</summary><p class="paper">{text.split("\n").slice(1).join("\n")}</p></details><button type="button" aria-label="Take off the board" onClick={() => pin(game, text)}>×</button></div>
);
