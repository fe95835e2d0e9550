// Other policies' episodes of the same incident.
import type { Episode } from "../contract";
import { loadRun } from "./source";
import { notify, open, truthShown } from "./store";

/** Opens the comparison with the best other episode of the incident. */
export async function compareWith(episode: Episode): Promise<void> {
  const run = await loadRun().catch(() => null);
  const others = run?.rows.filter((row) => row.incident === episode.incident && row.id !== episode.id) ?? [];
  const best = others.toSorted((a, b) => b.score - a.score)[0];
  if (best) open({ page: "compare", left: episode.id, right: best.id, turn: null }, truthShown.value ? { truth: "1" } : {});
  else notify("No other policy played this incident.");
}
