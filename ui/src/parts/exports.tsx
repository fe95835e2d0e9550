// Copy as Markdown; the picture as SVG or PNG; the record as JSON.
import type { JSX } from "preact";
import { episodeMarkdown } from "../model/markdown";
import type { Story } from "../model/story";
import { notify } from "../state/store";

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify("Copied as Markdown.");
  } catch {
    download("episode.md", new Blob([text], { type: "text/markdown" }));
    notify("The clipboard is closed to this page, so the text was saved as a file.");
  }
}

function download(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const PAINTED = [
  "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "font-family", "font-size", "font-weight", "text-anchor",
] as const;

/** A copy of the picture that keeps its colours without the style sheet. */
function standaloneSvg(): { text: string; width: number; height: number } | null {
  const drawn = document.querySelector<SVGSVGElement>("svg.graph");
  if (!drawn) return null;
  const copy = drawn.cloneNode(true) as SVGSVGElement;
  const [from, to] = [drawn.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of PAINTED) to[i]?.setAttribute(name, style.getPropertyValue(name));
  });
  const { width, height } = drawn.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function saveSvg(name: string): void {
  const svg = standaloneSvg();
  if (svg) download(`${name}.svg`, new Blob([svg.text], { type: "image/svg+xml" }));
  else notify("There is no graph on this page to save.");
}

const SCALE = 2;

function savePng(name: string): void {
  const svg = standaloneSvg();
  if (!svg) return notify("There is no graph on this page to save.");
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [svg.width * SCALE, svg.height * SCALE];
    const paint = canvas.getContext("2d");
    if (!paint) return;
    paint.fillStyle = getComputedStyle(document.body).backgroundColor;
    paint.fillRect(0, 0, canvas.width, canvas.height);
    paint.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => blob && download(`${name}.png`, blob));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg.text)}`;
}

interface ExportsProps {
  readonly story: Story;
  readonly turn: number;
  readonly truth: boolean;
}

export function Exports({ story, turn, truth }: ExportsProps): JSX.Element {
  const name = `${story.incident.name}-${story.episode.policy}`.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const record = (): object => (truth ? story : { ...story, episode: { ...story.episode, world: null, truth: null } });
  const kinds: Readonly<Record<string, () => void>> = {
    "Copy as Markdown": () => void copyText(episodeMarkdown(story, turn, truth)),
    "Graph as SVG": () => saveSvg(name),
    "Graph as PNG": () => savePng(name),
    "Episode as JSON": () => download(`${name}.json`, new Blob([JSON.stringify(record(), null, 1)], { type: "application/json" })),
    "Print": () => print(),
  };
  return (
    <select aria-label="Export" value="" onChange={(event) => { kinds[event.currentTarget.value]?.(); event.currentTarget.value = ""; }}>
      <option value="">Export…</option>
      {Object.keys(kinds).map((kind) => <option key={kind} value={kind}>{kind}</option>)}
    </select>
  );
}
