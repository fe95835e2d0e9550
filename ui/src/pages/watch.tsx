// The bar over a game that policies play: let them move, at a pace, or stop them.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../parts/bits";
import { movePolicies, stopPolicies, type GameView } from "../state/server";
import { notify } from "../state/store";
import { words } from "../model/text";

const PACES: readonly (readonly [pace: number, title: string])[] = [[0, "at once"], [0.5, "fast"], [2, "slowly"]];

const SAYS: Readonly<Record<GameView["phase"], string>> = {
  person: "Waits for a person.",
  paused: "Paused.",
  playing: "Playing.",
  thinking: "A model is writing.",
  unavailable: "A policy cannot play.",
  over: "Over.",
  lobby: "Waits for others to take their seats.",
  waiting: "Another seat is acting.",
  stopped: "The host ended it.",
};

export function Watch({ view, take }: { view: GameView; take: (view: GameView) => void }): JSX.Element {
  const [pace, setPace] = useState(0.5);
  // Of two requests that are on their way at once either may come last.
  const [asked, setAsked] = useState(false);
  const ask = (answer: Promise<GameView>): void => {
    setAsked(true);
    void answer.then(take, (error: unknown) => notify(String(error))).finally(() => setAsked(false));
  };
  const failed = view.seats.filter((seat) => seat.reason);
  const hosted = ["lobby", "waiting", "stopped"].includes(view.phase);
  const moving = asked || view.phase === "playing" || view.phase === "thinking";
  return (
    <section class="watch" aria-label="The game">
      <p role="status"><b>{SAYS[view.phase]}</b> {view.acting && `Turn ${view.turn + 1} of ${view.budget}, ${words(view.acting)}.`} {view.note}</p>
      {failed.map((seat) => <p key={seat.seat} class="error" role="alert">UNAVAILABLE: {words(seat.seat)} ({seat.player}): {seat.reason}</p>)}
      {!hosted && <div class="row wrap">
        <Button act={() => ask(movePolicies(view.id, "call", 0))} disabled={moving}>Next call</Button>
        <Button act={() => ask(movePolicies(view.id, "turn", 0))} disabled={moving}>Next turn</Button>
        <Button kind="main" act={() => ask(movePolicies(view.id, "end", pace))} disabled={moving}>{failed.length ? "Try again" : "Play on"}</Button>
        <Button act={() => ask(stopPolicies(view.id))} disabled={!moving}>Stop</Button>
        <select aria-label="Pace" value={pace} onChange={(event) => setPace(Number(event.currentTarget.value))}>
          {PACES.map(([value, title]) => <option key={value} value={value}>{title}</option>)}
        </select>
      </div>}
    </section>
  );
}
