// Taking a seat at a turn of a recorded game.
import type { Story } from "../model/story";
import { turnAt } from "../model/story";
import { branchGame } from "./server";
import { isFile } from "./source";
import { notify, open } from "./store";

type Source = { readonly episode: string } | { readonly game: string };

/** Opens a game that keeps all calls before a turn; its seat is the visitor's, the others are played by experts. */
export async function branchAt({ incident, episode }: Story, source: Source, turn: number): Promise<void> {
  const first = turnAt(episode, turn)?.calls[0];
  const seat = turnAt(episode, turn)?.seat;
  if (isFile()) return notify("Only the live page can branch: warroom ui --runs RUN.");
  if (!first || !seat) return notify("Nobody acts here: choose a turn.");
  const seats = Object.fromEntries(incident.seats.map((name) => [name, name === seat ? "person" : "expert"]));
  try {
    const game = await branchGame(source, first.n, seats);
    open({ page: "game", id: game.id, turn: null });
  } catch (error) {
    notify(error instanceof Error ? error.message : String(error));
  }
}
