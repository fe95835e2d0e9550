// What is shown while something loads, and when it cannot be loaded.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

export function Loaded<T>({ load, children }: { load: () => Promise<T>; children: (value: T) => JSX.Element }): JSX.Element {
  const [value, setValue] = useState<{ readonly done: T } | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    load().then((done) => setValue({ done }), (reason: unknown) => setError(reason instanceof Error ? reason.message : String(reason)));
  }, []);
  if (error) return <Failed text={error} />;
  return value ? children(value.done) : <main class="page" aria-busy="true"><p class="hint">Loading…</p></main>;
}

export const Failed = ({ text }: { text: string }): JSX.Element => (
  <main class="page">
    <h1>This cannot be shown</h1>
    <p role="alert">{text}</p>
    <p><a href="#/">All episodes</a></p>
  </main>
);
