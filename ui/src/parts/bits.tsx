// Small parts that every page uses.
import type { ComponentChildren, JSX } from "preact";
import type { Mark } from "../contract";
import { sentence, words } from "../model/text";

export type Grade = Mark["grade"];

const GLYPHS: Readonly<Record<Grade, string>> = {
  best: "★", good: "✓", inaccuracy: "?!", mistake: "?", blunder: "??", late: "◷", none: "·",
};

export const glyph = (grade: Grade): string => GLYPHS[grade];

const nameOf = (grade: Grade): string => ({ late: "Too late", none: "No grade" })[grade as string] ?? sentence(grade);

export const GradeMark = ({ grade, long = false }: { grade: Grade; long?: boolean }): JSX.Element => (
  <span class={`grade ${grade}`} title={nameOf(grade)}>
    {GLYPHS[grade]}
    {long ? ` ${nameOf(grade)}` : <span class="unseen"> {nameOf(grade)}</span>}
  </span>
);

export const SeatName = ({ seat, seats }: { seat: string; seats: readonly string[] }): JSX.Element => (
  <span class={`seat seat-${Math.max(0, seats.indexOf(seat)) % 4}`}>{words(seat)}</span>
);

interface ButtonProps {
  readonly act: () => void;
  readonly children: ComponentChildren;
  /** What it is called, where its text is only a sign. */
  readonly label?: string;
  /** What it does, where its text does not say it. */
  readonly hint?: string;
  readonly kind?: "main" | "plain";
  readonly pressed?: boolean;
  readonly disabled?: boolean;
}

export const Button = ({ act, children, label, hint, kind = "plain", pressed, disabled = false }: ButtonProps): JSX.Element => (
  <button
    type="button"
    class={kind}
    aria-label={label}
    title={hint ?? label}
    aria-pressed={pressed}
    disabled={disabled}
    onClick={act}
  >
    {children}
  </button>
);

interface Tab {
  readonly id: string;
  readonly title: string;
  readonly body: () => ComponentChildren;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  readonly choose: (id: string) => void;
}

export function Tabs({ label, tabs, chosen, choose }: TabsProps): JSX.Element {
  const open = tabs.find((tab) => tab.id === chosen) ?? tabs[0];
  const step = (event: KeyboardEvent, i: number): void => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = move && tabs[(i + move + tabs.length) % tabs.length];
    if (!next) return;
    event.stopPropagation();
    choose(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label}>
        {tabs.map((tab, i) => (
          <button
            key={tab.id} id={`tab-${tab.id}`} type="button" role="tab" aria-selected={tab === open}
            aria-controls="tab-panel" tabIndex={tab === open ? 0 : -1}
            onClick={() => choose(tab.id)} onKeyDown={(event) => step(event, i)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div class="pane" id="tab-panel" role="tabpanel" tabIndex={0} aria-labelledby={open && `tab-${open.id}`}>
        {open?.body()}
      </div>
    </>
  );
}

export const Locked = ({ what, show }: { what: string; show: () => void }): JSX.Element => (
  <div class="locked">
    <p>{what} gives the answer away.</p>
    <Button act={show}>Show the truth</Button>
  </div>
);

export const Fold = ({ title, children, open = false }: { title: string; children: ComponentChildren; open?: boolean }): JSX.Element => (
  <details open={open}>
    <summary>{title}</summary>
    {children}
  </details>
);

/** A long text as it was printed. It can be scrolled, so it takes the focus. */
export const Printed = ({ text, label }: { text: string; label: string }): JSX.Element => (
  <pre tabIndex={0} aria-label={label} role="group">{text}</pre>
);
