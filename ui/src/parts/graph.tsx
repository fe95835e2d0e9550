// The services, who calls whom, and which agents changed what. It shows the minute of the cursor.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { drawGraph, pathOf, type Box, type Drawing, type Route } from "../model/routes";
import type { Health } from "../model/story";
import { words } from "../model/text";

export interface GraphNode {
  readonly name: string;
  readonly kind: string;
  readonly health: Health;
  readonly first: string;
  readonly second: string;
  readonly badge: string;
  readonly changes: number;
}

export interface GraphEdge {
  readonly source: string;
  readonly target: string;
  readonly needed: boolean;
  readonly weight: number;
  readonly hurt: boolean;
}

export interface Actor {
  readonly name: string;
  readonly service: string;
  readonly text: string;
  readonly guilty: boolean;
  /** Whether the change that is shown is what caused the incident. */
  readonly caused: boolean;
}

interface GraphProps {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly actors?: readonly Actor[];
  readonly label: string;
  /** What a click on a service does; none, and boxes are a picture. */
  readonly pick?: (service: string) => void;
}

const SIZES = { width: 146, height: 48, gap: 20, bend: 10 };
const PILL = { width: 150, height: 34, gap: 8, away: 56 };

const KINDS: Readonly<Record<string, string>> = { gateway: "→", db: "⛁", database: "⛁", cache: "⚡", queue: "≡" };

const HEALTH: Readonly<Record<Health, string>> = { healthy: "●", degraded: "▲", critical: "■", unknown: "○" };

export function Graph({ nodes, edges, actors = [], label, pick }: GraphProps): JSX.Element {
  const shape = edges.map((e) => `${e.source}>${e.target}`).join() + nodes.map((n) => n.name).join();
  const drawing = useMemo(() => drawGraph(nodes.map((n) => n.name), edges, SIZES), [shape]);
  const width = drawing.width + (actors.length ? PILL.away + PILL.width + 8 : 0);
  const height = Math.max(drawing.height, actors.length * (PILL.height + PILL.gap) + 30);
  return (
    <svg class="graph" viewBox={`0 0 ${width} ${height}`} role={pick ? "group" : "img"} aria-label={`${label}. ${summary(nodes)}`} preserveAspectRatio="xMidYMid meet">
      <defs>
        <marker id="arrow" viewBox="0 0 6 6" refX="5.5" refY="3" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">
          <path d="M0 0L6 3L0 6z" class="arrow" />
        </marker>
      </defs>
      {drawing.routes.map((route) => <EdgeLine key={`${route.edge.source}>${route.edge.target}`} route={route} edges={edges} />)}
      {actors.map((actor, i) => <ActorTie key={actor.name} actor={actor} row={i} drawing={drawing} />)}
      {drawing.boxes.map((box) => <NodeBox key={box.name} box={box} node={nodes.find((n) => n.name === box.name)} pick={pick} />)}
      {actors.length > 0 && <text x={drawing.width + PILL.away} y={16} class="hint">Who changed what last</text>}
      {actors.map((actor, i) => <ActorPill key={actor.name} actor={actor} row={i} left={drawing.width + PILL.away} />)}
    </svg>
  );
}

const summary = (nodes: readonly GraphNode[]): string =>
  nodes.map((n) => `${n.name}: ${n.health} ${n.first}`).join("; ");

function EdgeLine({ route, edges }: { route: Route; edges: readonly GraphEdge[] }): JSX.Element {
  const edge = edges.find((e) => e.source === route.edge.source && e.target === route.edge.target);
  const style = ["edge", edge?.needed === false && "optional", edge?.hurt && "hurt"].filter(Boolean).join(" ");
  return (
    <path d={pathOf(route.points)} class={style} stroke-width={edge?.weight ?? 1.5} marker-end="url(#arrow)">
      <title>{`${route.edge.source} calls ${route.edge.target}${edge?.needed === false ? ", and can do without" : ""}`}</title>
    </path>
  );
}

interface NodeBoxProps {
  readonly box: Box;
  readonly node: GraphNode | undefined;
  readonly pick: ((service: string) => void) | undefined;
}

function NodeBox({ box, node, pick }: NodeBoxProps): JSX.Element | null {
  if (!node) return null;
  const button = pick && {
    role: "button" as const,
    tabindex: 0,
    onClick: () => pick(node.name),
    onKeyDown: (event: KeyboardEvent) => { if (event.key === "Enter") pick(node.name); },
  };
  return (
    <g class={`node ${node.health}`} transform={`translate(${box.x} ${box.y})`} {...button}>
      <title>{`${node.name} (${words(node.kind)}): ${node.health}. ${node.first} ${node.second}${pick ? ". Click: the next turn about it" : ""}`}</title>
      <rect width={box.width} height={box.height} rx={7} class="box" />
      <rect width={4} height={box.height - 12} x={5} y={6} rx={2} class="bar" />
      <text x={15} y={19} class="name">{shortened(node.name, 15)}</text>
      <text x={box.width - 8} y={19} text-anchor="end" class="hint">{KINDS[node.kind] ?? ""}</text>
      <text x={15} y={37} class="vital">{HEALTH[node.health]} {node.first}</text>
      <text x={box.width - 8} y={37} text-anchor="end" class="hint">{node.second}</text>
      {node.changes > 0 && <Diamond x={box.width - 2} count={node.changes} />}
      {node.badge && <Badge text={node.badge} y={box.height} />}
    </g>
  );
}

const shortened = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

const Diamond = ({ x, count }: { x: number; count: number }): JSX.Element => (
  <g class="diamond" transform={`translate(${x} 0)`}>
    <path d="M0 -7L7 0L0 7L-7 0z" />
    <text y={3} text-anchor="middle">{count}</text>
  </g>
);

const Badge = ({ text, y }: { text: string; y: number }): JSX.Element => (
  <g class="badge" transform={`translate(10 ${y - 6})`}>
    <rect width={text.length * 6.2 + 10} height={14} rx={7} />
    <text x={5} y={10.5}>{text}</text>
  </g>
);

const pillTop = (row: number): number => 26 + row * (PILL.height + PILL.gap);

/** From a pill to the box that it changed: in the free column to a height of its own, then above the row of boxes. */
function ActorTie({ actor, row, drawing }: { actor: Actor; row: number; drawing: Drawing }): JSX.Element | null {
  const box = drawing.boxes.find((b) => b.name === actor.service);
  if (!box) return null;
  const left = drawing.width + PILL.away;
  const lane = left - 8 - (row % 6) * 6;
  const level = box.y - 4;
  const path = [
    { x: left, y: pillTop(row) + PILL.height / 2 }, { x: lane, y: pillTop(row) + PILL.height / 2 },
    { x: lane, y: level }, { x: box.x + box.width - 10, y: level }, { x: box.x + box.width - 10, y: box.y },
  ];
  return <path d={pathOf(path)} class={`tie ${actor.caused ? "guilty" : ""}`} />;
}

const ActorPill = ({ actor, row, left }: { actor: Actor; row: number; left: number }): JSX.Element => (
  <g class={`pill ${actor.guilty ? "guilty" : ""}`} transform={`translate(${left} ${pillTop(row)})`}>
    <title>{`${actor.name}: ${actor.text} on ${actor.service}`}</title>
    <rect width={PILL.width} height={PILL.height} rx={8} />
    <text x={9} y={14} class="name">{shortened(actor.name, 20)}</text>
    <text x={9} y={27} class="hint">{shortened(actor.text, 25)}</text>
  </g>
);
