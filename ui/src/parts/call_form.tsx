// The next call of a person: which tool, its fields, and a question before what ends the turn.
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { makeCall, Refused, type Field, type GameView, type SeatForm, type ToolForm } from "../state/server";
import { notify } from "../state/store";
import { callText } from "../model/story";
import { count, sentence, words } from "../model/text";

interface CallFormProps {
  readonly view: GameView;
  readonly form: SeatForm;
  readonly take: (view: GameView) => void;
}

type Values = Readonly<Record<string, string>>;

export function CallForm({ view, form, take }: CallFormProps): JSX.Element {
  const [name, setName] = useState("");
  const [values, setValues] = useState<Values>({});
  const [errors, setErrors] = useState<Values>({});
  const [busy, setBusy] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const usable = form.tools.filter((tool) => tool.available);
  const tool = usable.find((t) => t.name === name) ?? usable[0];
  if (!tool) return <p class="note">This seat can do nothing now.</p>;
  const choose = (next: string): void => { setName(next); setErrors({}); };
  const send = async (): Promise<void> => {
    dialog.current?.close();
    if (busy) return;
    setBusy(true);
    try {
      take(await makeCall(view.id, view.calls, tool.name, argumentsOf(tool, values)));
      setValues({});
      setErrors({});
      document.querySelector<HTMLElement>(".palette button[aria-pressed=true]")?.focus();
    } catch (error) {
      refuse(error, take, setErrors);
    }
    setBusy(false);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const missing = Object.fromEntries(tool.fields.filter((f) => f.required && !values[f.name]?.trim()).map((f) => [f.name, `Say ${words(f.name)}.`]));
    setErrors(missing);
    if (Object.keys(missing).length) document.getElementById(`field-${Object.keys(missing)[0]}`)?.focus();
    else if (tool.ends_turn) dialog.current?.showModal();
    else void send();
  };
  return (
    <form class="call-form" onSubmit={submit} noValidate aria-label="Your next call">
      <Palette form={form} chosen={tool.name} choose={choose} />
      <p class="hint">{tool.description}</p>
      <div class="fields">
        {tool.fields.map((field) => (
          <FieldInput key={`${tool.name}.${field.name}`} field={field} value={values[field.name] ?? ""} error={errors[field.name] ?? ""}
            change={(value) => setValues({ ...values, [field.name]: value })} />
        ))}
      </div>
      {errors[""] && <p class="error" role="alert">{errors[""]}</p>}
      <button class={tool.ends_turn ? "main" : ""} disabled={busy}>{tool.ends_turn ? `${sentence(words(tool.name))} and end the turn` : `${sentence(words(tool.name))}, and go on`}</button>
      <dialog ref={dialog} aria-labelledby="confirm-title">
        <h2 id="confirm-title">End your turn?</h2>
        <p><code>{callText({ tool: tool.name, arguments: argumentsOf(tool, values) })}</code></p>
        {values["say"] && <p>You say: {values["say"]}</p>}
        {values["ask"] && <p>You ask: {values["ask"]}</p>}
        {form.reads_left !== null && form.reads_left > 0 && <p class="hint">You have {count(form.reads_left, "reading")} left in this turn.</p>}
        <div class="row">
          <button type="button" class="main" onClick={() => void send()}>End the turn</button>
          <button type="button" onClick={() => dialog.current?.close()}>Not yet</button>
        </div>
      </dialog>
    </form>
  );
}

function refuse(error: unknown, take: (view: GameView) => void, show: (errors: Values) => void): void {
  if (error instanceof Refused && error.game) {
    take(error.game);
    notify("The game has moved on: this is how it stands now. Nothing was lost.");
    return;
  }
  if (error instanceof Refused) show({ ...error.fields, ...(Object.keys(error.fields).length ? {} : { "": error.message }) });
  else show({ "": error instanceof Error ? error.message : String(error) });
}

function argumentsOf(tool: ToolForm, values: Values): Record<string, unknown> {
  const given = tool.fields.filter((field) => (values[field.name] ?? "").trim() !== "");
  return Object.fromEntries(given.map((field) => [field.name, valueOf(field, values[field.name] ?? "")]));
}

function valueOf(field: Field, text: string): unknown {
  switch (field.kind) {
    case "number": return Number.isNaN(Number(text)) ? text : Number(text);
    case "flag": return text === "true";
    case "list": return text.split(/[\n,]/).map((item) => item.trim()).filter(Boolean);
    case "choice":
    case "text": return text;
  }
}

interface PaletteProps {
  readonly form: SeatForm;
  readonly chosen: string;
  readonly choose: (name: string) => void;
}

function Palette({ form, chosen, choose }: PaletteProps): JSX.Element {
  const group = (ends: boolean, title: string): JSX.Element => (
    <fieldset>
      <legend>{title}</legend>
      {form.tools.filter((tool) => tool.ends_turn === ends).map((tool) => (
        <button key={tool.name} type="button" aria-pressed={tool.name === chosen} disabled={!tool.available} title={tool.description} onClick={() => choose(tool.name)}>
          {words(tool.name)}
        </button>
      ))}
    </fieldset>
  );
  return (
    <div class="palette">
      {form.tools.some((tool) => !tool.ends_turn) && group(false, form.reads_left === null ? "Readings and notes" : `Readings and notes, ${form.reads_left} of ${form.reads_per_turn} left`)}
      {group(true, "Acts, one ends the turn")}
    </div>
  );
}

interface FieldInputProps {
  readonly field: Field;
  readonly value: string;
  readonly error: string;
  readonly change: (value: string) => void;
}

function FieldInput({ field, value, error, change }: FieldInputProps): JSX.Element {
  const id = `field-${field.name}`;
  const common = { id, "aria-invalid": error !== "", "aria-describedby": `${id}-error ${id}-help`, value };
  const limit = field.max_length === null ? {} : { maxLength: field.max_length };
  const typed = (event: { currentTarget: { value: string } }): void => change(event.currentTarget.value);
  return (
    <div class={`field ${field.lines > 1 || ["say", "ask"].includes(field.name) ? "long" : ""}`}>
      <label for={id}>{words(field.name)}{field.required ? "" : <span class="hint"> optional</span>}{field.max_length && <span class="hint"> {value.length}/{field.max_length}</span>}</label>
      {field.kind === "choice" ? (
        <select {...common} onChange={typed}><option value="">choose…</option>{field.choices.map((choice) => <option key={choice}>{choice}</option>)}</select>
      ) : field.kind === "flag" ? (
        <select {...common} onChange={typed}><option value="">no answer</option><option value="true">yes</option><option value="false">no</option></select>
      ) : field.lines > 1 ? (
        <textarea {...common} {...limit} rows={Math.min(field.lines, 5)} onInput={typed} />
      ) : (
        <input {...common} {...limit} inputMode={field.kind === "number" ? "decimal" : "text"} onInput={typed} />
      )}
      <span class="error" id={`${id}-error`}>{error}</span>
      <span class="unseen" id={`${id}-help`}>{field.help}</span>
    </div>
  );
}
