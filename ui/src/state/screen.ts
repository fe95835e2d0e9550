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

/** The graph is a tab too, and so are the parts of a seat. */
export const phone = matches("screen and (width < 700px)");

/** The turns of all seats share a row of the axis. */
export const flat = matches("screen and (height < 820px)");

/** So low that the replay scrolls, and only turns stand on the axis. */
export const low = matches("screen and (height < 600px)");
