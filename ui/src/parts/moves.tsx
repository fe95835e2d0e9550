// All turns as a list, and the points that they earned.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Episode, Turn } from "../contract";
import { actOf, callText, markOf, readingsOf, type Story } from "../model/story";
import { count, plain, signed } from "../model/text";
import { Bar, GradeMark, SeatName, showInPane } from "./bits";

interface MovesProps {
  readonly story: Story;
  readonly turn: number;
  readonly truth: boolean;
  /** The last turn that the visitor has seen; later ones show with the truth. */
  readonly reached: number;
  readonly go: (turn: number) => void;
}

export function Moves({ story, turn, truth, reached, go }: MovesProps): JSX.Element {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => showInPane(list.current?.querySelector("[aria-current]")), [turn]);
  return (
    <ol class="moves" ref={list}>
      {story.episode.turns.filter((t) => truth || t.n <= reached).map((t) => {
        const act = actOf(t);
        const mark = truth ? markOf(story.episode, t.n) : undefined;
        return (
          <li key={t.n}>
            <button type="button" aria-current={t.n === turn ? "step" : undefined} onClick={() => go(t.n)}>
              <span class="number">{t.n}</span>
              <span class="grow">
                <code>{act ? callText(act) : "…"}</code>
                <span class="hint"><SeatName seat={t.seat} seats={story.incident.seats} />{before(t)}</span>
              </span>
              {mark && <GradeMark grade={mark.grade} />}
            </button>
          </li>
        );
      })}
    </ol>
  );
}

/** What was done before the act, such as "2 readings"; nothing where nothing was. */
function before(turn: Turn): string {
  const calls = readingsOf(turn);
  const read = calls.filter((call) => call.kind === "reading").length;
  return [read && count(read, "reading"), calls.length > read && count(calls.length - read, "declaration")].filter(Boolean).map((text) => ` · ${text}`).join("");
}

export function Points({ episode }: { episode: Episode }): JSX.Element | null {
  const truth = episode.truth;
  if (!truth) return null;
  const most = Math.max(1, ...truth.parts.map((part) => Math.abs(part.points)));
  return (
    <>
      <table class="points">
        <caption class="unseen">Points by component</caption>
        <thead><tr><th scope="col">For</th><th scope="col">Turn</th><th scope="col" class="wide"><span class="unseen">Bar</span></th><th scope="col" class="number">Points</th></tr></thead>
        <tbody>
          {truth.parts.map((part, i) => (
            <tr key={i}>
              <th scope="row">{part.label}</th>
              <td>{part.turn ?? ""}</td>
              <td><Bar share={part.points / most} /></td>
              <td class="number">{signed(part.points)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot><tr><th scope="row" colSpan={3}>Total</th><td class="number"><b>{signed(truth.total)}</b></td></tr></tfoot>
      </table>
      <p class="hint">Doing nothing: {signed(truth.noop)} (score 0). Oracle: {signed(truth.oracle)} (score 1). This episode: score {plain(truth.score)}.</p>
      {truth.notes.map((note) => <p key={note} class="hint">{note}</p>)}
    </>
  );
}
