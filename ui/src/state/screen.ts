// How wide the page is, for parts that move into tabs; on paper nothing does.
import { signal, type Signal } from "@preact/signals";

function matches(query: string): Signal<boolean> {
  const list = matchMedia(query);
  const state = signal(list.matches);
  list.addEventListener("change", () => (state.value = list.matches));
  return state;
}

/** The turn pane is a tab. */
export const narrow = matches("screen and (width < 1240px)");

/** The graph is a tab too. */
export const phone = matches("screen and (width < 700px)");
