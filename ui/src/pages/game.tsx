// A game of the live page: a person's seat, live watching, and after the end the replay with its debriefing.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Failed } from "../parts/loaded";
import { SeatPage } from "./seat";
import { useMoving, Watch } from "./watch";
import { Replay } from "./episode";
import { lastTurn, type Story } from "../model/story";
import { getGame, Refused, watchGame, type GameView, type LogEntry } from "../state/server";
import { loadGameStory } from "../state/source";
import { plain, signed } from "../model/text";
import { address, adjust } from "../state/store";

export interface Game {
  readonly view: GameView;
  /** The calls that the viewer may see, in order. */
  readonly log: readonly LogEntry[];
}

/** The game after another message of the server, which holds only the calls that are new; nobody sees those of the seat before. */
export function merged(game: Game | null, view: GameView): Game {
  if (game && view.calls < game.view.calls) return game;
  const known = new Map((game?.view.viewer === view.viewer ? game.log : []).map((entry) => [entry.n, entry]));
  for (const entry of view.log) known.set(entry.n, entry);
  return { view, log: [...known.values()].sort((a, b) => a.n - b.n) };
}

export function GamePage({ id, turn }: { id: string; turn: number | null }): JSX.Element {
  const [game, setGame] = useState<Game | null>(null);
  const [error, setError] = useState("");
  const take = (view: GameView): void => setGame((before) => merged(before, view));
  useEffect(() => {
    let stop = (): void => undefined;
    getGame(id).then((view) => {
      take(view);
      if (view.phase !== "over") stop = watchGame(id, view.calls, take);
    }, (reason: unknown) => setError(reason instanceof Refused && reason.status === 404 ? `There is no game "${id}" on this server.` : String(reason)));
    return () => stop();
  }, []);
  const viewer = game?.view.viewer;
  const played = useRef(false);
  const over = game?.view.phase === "over";
  if (viewer && !over) played.current = true;
  useEffect(() => {
    if (over && played.current) adjust({ query: { ...address.value.query, truth: "1", tab: "debrief" } });
  }, [over]);
  useEffect(() => {
    if (viewer) getGame(id).then(take, (reason: unknown) => setError(String(reason)));
  }, [viewer]);
  if (error) return <Failed text={error} />;
  if (!game) return <main class="page" aria-busy="true"><p class="hint">Loading…</p></main>;
  return game.view.viewer !== null && game.view.phase !== "over" ? <SeatPage game={game} take={take} /> : <PlayedStory game={game} take={take} turn={turn} />;
}

/** The record so far, asked for again with every call; after the end with world and truth. */
function PlayedStory({ game, take, turn }: { game: Game; take: (view: GameView) => void; turn: number | null }): JSX.Element {
  const { id, calls, phase } = game.view;
  const [story, setStory] = useState<Story | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    loadGameStory(id).then(setStory, (reason: unknown) => setError(String(reason)));
  }, [calls, phase === "over"]);
  const moving = useMoving(game.view, take);
  if (error && game.view.result) return <Ended view={game.view} />;
  if (error) return <Failed text={error} />;
  if (!story) return <main class="page" aria-busy="true"><p class="hint">Loading…</p></main>;
  if (story.episode.over) {
    const goTo = (n: number): void => adjust({ place: { page: "game", id, turn: n } });
    return <Replay story={story} asked={turn ?? lastTurn(story.episode)} source={{ game: id }} goTo={goTo} />;
  }
  const newest = story.episode.turns.at(-1)?.n ?? 1;
  // At the newest turn the page follows the game.
  const follow = (n: number): void => adjust({ place: { page: "game", id, turn: n < newest ? n : null } });
  return (
    <Replay story={toBudget(story)} asked={turn ?? newest} source={{ game: id }} goTo={follow}
      live={{ scene: game.view.scene, newest, controls: <Watch moving={moving} />, keys: { ".": () => moving.move("call"), ">": () => moving.move("turn"), " ": () => (moving.busy ? moving.stop() : moving.move("end")) } }} />
  );
}

/** While it goes on, the axis holds all turns that there may be, and nothing before the page, of which nothing is known. */
function toBudget(story: Story): Story {
  const { incident, episode, episode: { axis } } = story;
  return { ...story, episode: { ...episode, axis: { ...axis, first: axis.page, last: axis.page + incident.budget - 1 } } };
}

/** The end of a shared incident, whose record only the host has. */
const Ended = ({ view }: { view: GameView }): JSX.Element => (
  <main class="page">
    <h1>The incident is over</h1>
    <p>Score {plain(view.result?.score ?? 0)}{view.result?.total != null && `, ${signed(view.result.total)} points`}.</p>
    {view.note && <p class="message">{view.note}</p>}
    <p class="hint">The record is with the host, who can open it.</p>
  </main>
);
