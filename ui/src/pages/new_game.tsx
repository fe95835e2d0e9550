// What to play, and who plays: a person, a script or a model in each seat.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Loaded } from "../parts/loaded";
import { getOptions, joinShared, newGame, Refused, type EnvironmentOptions, type NewGame, type Options } from "../state/server";
import { open } from "../state/store";
import { words } from "../model/text";

export const NewGamePage = (): JSX.Element => <Loaded load={getOptions}>{(options) => <Setup options={options} />}</Loaded>;

const SURPRISE = "";

function firstSeats({ seats, policies }: EnvironmentOptions): Record<string, string> {
  const others = policies.includes("expert") ? "expert" : (policies[0] ?? "person");
  return Object.fromEntries(seats.map((seat, i) => [seat, i === 0 ? "person" : others]));
}

function start(options: Options, env: EnvironmentOptions | undefined): NewGame {
  return {
    env: env?.name ?? "", scenario: null, tier: env?.tiers[0] ?? "", split: options.splits[0] ?? "", index: null,
    ...(env?.modes?.[0] && { mode: env.modes[0] }), seats: env ? firstSeats(env) : {},
  };
}

function Setup({ options }: { options: Options }): JSX.Element {
  const [game, setGame] = useState(() => start(options, options.environments[0]));
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const [busy, setBusy] = useState(false);
  const env = options.environments.find((e) => e.name === game.env);
  const change = (next: Partial<NewGame>): void => setGame({ ...game, ...next });
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      const made = await newGame(game);
      open({ page: "game", id: made.id, turn: null });
    } catch (error) {
      setErrors(error instanceof Refused ? { ...error.fields, "": error.message } : { "": String(error) });
      setBusy(false);
    }
  };
  if (!env) return <main class="page"><p role="alert">The server offers no environment.</p></main>;
  return (
    <main class="page setup">
      <h1>New game</h1>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Choice name="env" title="Environment" value={game.env} options={options.environments.map((e) => [e.name, e.name])} errors={errors}
          pick={(name) => setGame(start(options, options.environments.find((e) => e.name === name)))} />
        <Choice name="scenario" title="Incident" value={game.scenario ?? SURPRISE} errors={errors}
          options={[[SURPRISE, "A surprise (told at the end)"], ...env.scenarios.map((s) => [s.id, s.title] as const)]}
          pick={(id) => change({ scenario: id === SURPRISE ? null : id })} />
        <Choice name="tier" title="Difficulty" value={game.tier} options={env.tiers.map((t) => [t, t])} errors={errors} pick={(tier) => change({ tier })} />
        {env.modes && env.modes.length > 1 && (
          <Choice name="mode" title="Mode" value={game.mode ?? ""} options={env.modes.map((m) => [m, words(m)])} errors={errors} pick={(mode) => change({ mode })} />
        )}
        <fieldset>
          <legend>Seats</legend>
          {env.seats.map((seat) => <SeatChoice key={seat} seat={seat} env={env} options={options} game={game} change={change} errors={errors} />)}
        </fieldset>
        {errors[""] && <p class="error" role="alert">{errors[""]}</p>}
        <button class="main" disabled={busy}>{busy ? "Starting…" : "Start"}</button>
      </form>
      {options.shared && <Join seats={env.seats} />}
    </main>
  );
}

/** A seat of an incident that somebody else hosts. */
function Join({ seats }: { seats: readonly string[] }): JSX.Element {
  const [asked, setAsked] = useState<Shared>({ url: "", code: "", seat: seats[0] ?? "" });
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      open({ page: "game", id: (await joinShared(asked.url, asked.code, asked.seat)).id, turn: null });
    } catch (error) {
      setErrors(error instanceof Refused ? { ...error.fields, "": error.message } : { "": String(error) });
    }
  };
  const line = (name: "url" | "code", title: string): JSX.Element => (
    <label class="field">
      <span>{title}</span>
      <input value={asked[name]} aria-invalid={Boolean(errors[name])} aria-describedby={`error-${name}`} onInput={(event) => setAsked({ ...asked, [name]: event.currentTarget.value })} />
      <span class="error" id={`error-${name}`}>{errors[name]}</span>
    </label>
  );
  return (
    <section aria-label="Join a shared incident">
      <h2>Join a shared incident</h2>
      <form onSubmit={(event) => void submit(event)} noValidate>
        {line("url", "Address of the host (empty: this server)")}
        {line("code", "Code")}
        <Choice name="seat" title="Seat" value={asked.seat} options={seats.map((seat) => [seat, words(seat)])} errors={errors} pick={(seat) => setAsked({ ...asked, seat })} />
        {errors[""] && <p class="error" role="alert">{errors[""]}</p>}
        <button>Join</button>
      </form>
    </section>
  );
}

interface Shared {
  readonly url: string;
  readonly code: string;
  readonly seat: string;
}

interface ChoiceProps {
  readonly name: string;
  readonly title: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly errors: Readonly<Record<string, string>>;
  readonly pick: (value: string) => void;
}

const Choice = ({ name, title, value, options, errors, pick }: ChoiceProps): JSX.Element => (
  <label class="field">
    <span>{title}</span>
    <select value={value} aria-describedby={`error-${name}`} aria-invalid={Boolean(errors[name])} onChange={(event) => pick(event.currentTarget.value)}>
      {options.map(([id, label]) => <option key={id} value={id}>{label}</option>)}
    </select>
    <span class="error" id={`error-${name}`}>{errors[name]}</span>
  </label>
);

interface SeatChoiceProps {
  readonly seat: string;
  readonly env: EnvironmentOptions;
  readonly options: Options;
  readonly game: NewGame;
  readonly change: (next: Partial<NewGame>) => void;
  readonly errors: Readonly<Record<string, string>>;
}

const MODEL = "llm:";

/** Persons and scripts stand in a list; where models may be named, a field takes their names. */
function SeatChoice({ seat, env, options, game, change, errors }: SeatChoiceProps): JSX.Element {
  const key = `seats.${seat}`;
  const policies = [...new Set(["person", ...env.policies])];
  const pick = (policy: string): void => change({ seats: { ...game.seats, [seat]: policy } });
  const error = errors[key] ?? errors[seat] ?? "";
  const value = game.seats[seat] ?? "";
  const typed = !policies.includes(value);
  const choices = policies.map((p) => [p, p === "person" ? "a person (you)" : p] as const);
  const model: readonly [string, string] = [MODEL, "a model…"];
  return (
    <>
      <Choice name={key} title={words(seat)} value={typed ? MODEL : value} options={options.typed_models ? [...choices, model] : choices}
        errors={{ [key]: error }} pick={pick} />
      {typed && <input aria-label={`Model of ${words(seat)}`} placeholder="hf:NAME or llm:NAME" value={value} aria-invalid={error !== ""} onInput={(event) => pick(event.currentTarget.value)} />}
    </>
  );
}
