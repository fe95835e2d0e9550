// The server of the live page: its messages and routes.
import type { Call } from "../contract";

export interface Options {
  readonly version: string;
  readonly environments: readonly EnvironmentOptions[];
  readonly typed_models: boolean;
  readonly splits: readonly string[];
  readonly max_index: number;
  readonly shared: boolean;
  readonly runs: boolean;
}

export interface EnvironmentOptions {
  readonly name: string;
  readonly seats: readonly string[];
  readonly scenarios: readonly { readonly id: string; readonly title: string; readonly story: string }[];
  readonly tiers: readonly string[];
  readonly policies: readonly string[];
  readonly modes?: readonly string[];
}

export interface NewGame {
  readonly env: string;
  readonly scenario: string | null;
  readonly tier: string;
  readonly split: string;
  readonly index: number | null;
  readonly mode?: string;
  readonly seats: Readonly<Record<string, string>>;
}

export type Phase =
  "person" | "paused" | "playing" | "thinking" | "unavailable" | "over" | "lobby" | "waiting" | "stopped";

export interface GameView {
  readonly id: string;
  readonly env: string;
  /** What it is called: its scenario in words, or that it is a surprise. */
  readonly name: string;
  readonly scenario: string | null;
  readonly tier: string;
  readonly budget: number;
  readonly turn: number;
  readonly calls: number;
  readonly phase: Phase;
  readonly acting: string;
  readonly pace: number;
  readonly seats: readonly { readonly seat: string; readonly player: string; readonly reason: string }[];
  readonly branched_from: { readonly source: string; readonly at: number } | null;
  readonly viewer: string | null;
  readonly briefs: Readonly<Record<string, string>>;
  readonly scene: Scene;
  readonly log: readonly LogEntry[];
  readonly seat: SeatForm | null;
  /** The total is null where only the host of a shared incident knows it. */
  readonly result: { readonly total: number | null; readonly score: number } | null;
  readonly note?: string;
}

export interface LogEntry {
  readonly n: number;
  readonly turn: number;
  readonly seat: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly result: string;
  readonly message: string;
  readonly refused: boolean;
  readonly ends_turn: boolean;
  readonly points: number | null;
}

export interface Scene {
  readonly clock: string;
  readonly nodes: readonly SceneNode[];
  readonly edges: readonly { readonly source: string; readonly target: string; readonly critical: boolean }[];
  readonly sections: readonly { readonly title: string; readonly lines: readonly string[] }[];
}

export interface SceneNode {
  readonly name: string;
  readonly kind: string;
  readonly state: "healthy" | "degraded" | "critical" | "unknown";
  readonly facts: readonly (readonly [string, string])[];
}

export interface SeatForm {
  readonly seat: string;
  readonly text: string;
  /** Null where only the host of a shared incident knows. */
  readonly reads_left: number | null;
  readonly reads_per_turn: number | null;
  readonly tools: readonly ToolForm[];
}

export interface ToolForm {
  readonly name: string;
  readonly description: string;
  readonly kind: Call["kind"];
  readonly ends_turn: boolean;
  readonly available: boolean;
  readonly fields: readonly Field[];
}

export interface Field {
  readonly name: string;
  readonly kind: "choice" | "text" | "number" | "flag" | "list";
  readonly help: string;
  readonly required: boolean;
  readonly choices: readonly string[];
  readonly max_length: number | null;
  readonly lines: number;
}

/** What the server refused, with a sentence for each wrong field. */
export class Refused extends Error {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly game: GameView | null;

  constructor(status: number, body: { detail?: string; fields?: Record<string, string>; game?: GameView }) {
    super(body.detail ?? `The server answered with status ${status}.`);
    this.status = status;
    this.fields = body.fields ?? {};
    this.game = body.game ?? null;
  }
}

export async function fetchJson<T>(route: string, body?: unknown): Promise<T> {
  const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(route, body === undefined ? {} : post).catch(() => {
    throw new Error("The server cannot be reached. Is `warroom ui` still running?");
  });
  const data: unknown = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, data as ConstructorParameters<typeof Refused>[1]);
  return data as T;
}

const route = (id: string, verb = ""): string => `api/games/${encodeURIComponent(id)}${verb && `/${verb}`}`;

export const getOptions = (): Promise<Options> => fetchJson("api/options");

export const newGame = (game: NewGame): Promise<GameView> => fetchJson("api/games", game);

export const branchGame = (branch: { game: string } | { episode: string }, at: number, seats: NewGame["seats"]): Promise<GameView> =>
  fetchJson("api/games", { branch, at, seats });

export const joinShared = (url: string, code: string, seat: string): Promise<GameView> =>
  fetchJson("api/shared", { ...(url && { url }), code, seat });

export const getGame = (id: string): Promise<GameView> => fetchJson(route(id));

export const makeCall = (id: string, after: number, tool: string, args: Record<string, unknown>): Promise<GameView> =>
  fetchJson(route(id, "call"), { after, tool, arguments: args });

export const movePolicies = (id: string, until: "call" | "turn" | "end", pace: number): Promise<GameView> =>
  fetchJson(route(id, "move"), { until, pace });

export const stopPolicies = (id: string): Promise<GameView> => fetchJson(route(id, "stop"), {});

/** Calls back with each state of the game until it is over; what it returns ends that. */
export function watchGame(id: string, after: number, take: (view: GameView) => void): () => void {
  const events = new EventSource(`${route(id, "events")}?after=${after}`);
  events.addEventListener("game", (event: MessageEvent<string>) => {
    const view = JSON.parse(event.data) as GameView;
    take(view);
    if (view.phase === "over") events.close();
  });
  return () => events.close();
}
