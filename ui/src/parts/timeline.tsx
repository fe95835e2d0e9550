// The one scrubber: all that has a time, on one axis.
import type { JSX } from "preact";
import type { Episode } from "../contract";
import { firstTurn, lastTurn, placeOf, type Story } from "../model/story";
import { moment, percent, signed, words } from "../model/text";
import { phone } from "../state/screen";
import { Alerts, Changes, Lane, Users, Value, mostErrors } from "./tracks";

export interface Axes {
  readonly episode: Episode;
  readonly width: number;
  /** Middle of a place of the axis, in px. */
  readonly x: (at: number) => number;
  readonly step: number;
}

const WIDTH = 1200;
const HEIGHTS = { value: 52, users: 44, alerts: 22, changes: 24, lane: 20, ticks: 18 };

interface TimelineProps {
  readonly story: Story;
  readonly others?: readonly Episode[];
  readonly turn: number;
  readonly truth: boolean;
  readonly reached: number;
  readonly go: (turn: number) => void;
}

interface Track {
  readonly name: string;
  readonly height: number;
  readonly scale?: string;
  readonly seat?: number;
  readonly body: JSX.Element;
}

export function axesOf(episode: Episode): Axes {
  const places = episode.axis.last - episode.axis.first + 1;
  const step = WIDTH / places;
  return { episode, width: WIDTH, step, x: (at) => (at - episode.axis.first + 0.5) * step };
}

export function Timeline(props: TimelineProps): JSX.Element {
  const { story, turn, truth, reached, go } = props;
  const axes = axesOf(story.episode);
  const tracks = tracksOf(props, axes);
  const height = tracks.reduce((sum, track) => sum + track.height, 0) + HEIGHTS.ticks;
  const scrub = (event: PointerEvent): void => go(turnUnder(event, axes));
  return (
    <div class="timeline" tabIndex={0} role="group" aria-label="What happened when">
      <div class="track-names" aria-hidden="true">
        {tracks.map((track) => (
          <div key={track.name} class={track.seat === undefined ? "" : `seat-${track.seat % 4}`}
            style={{ height: `${track.height}px` }}>{track.name}{track.scale && <span class="hint">{track.scale}</span>}</div>
        ))}
      </div>
      <svg
        class="tracks" viewBox={`0 0 ${WIDTH} ${height}`} preserveAspectRatio="none" style={{ height: `${height}px` }}
        role="slider" tabIndex={0} aria-label="Time" aria-valuemin={firstTurn(story.episode)}
        aria-valuemax={lastTurn(story.episode)} aria-valuenow={turn} aria-valuetext={positionText(story, turn)}
        onPointerDown={(event) => { (event.currentTarget as Element).setPointerCapture(event.pointerId); scrub(event); }}
        onPointerMove={(event) => event.buttons && scrub(event)}
      >
        <rect class="cursor" x={axes.x(placeOf(story.episode, turn)) - axes.step / 2} width={axes.step} height={height} />
        {stacked(tracks)}
        {!truth && <Veil axes={axes} from={placeOf(story.episode, reached)} height={height - HEIGHTS.ticks} />}
      </svg>
      <Ticks axes={axes} turn={turn} go={go} />
    </div>
  );
}

function tracksOf({ story, others = [], turn, truth, reached }: TimelineProps, axes: Axes): Track[] {
  const { episode, incident } = story;
  const world = episode.world;
  const tracks: Track[] = [];
  if (truth && episode.truth) {
    const name = episode.truth.marks.some((mark) => mark.value !== null) ? "Value, points" : "Points";
    tracks.push({ name, scale: `to ${signed(episode.truth.oracle)}`, height: HEIGHTS.value, body: <Value axes={axes} height={HEIGHTS.value} others={others} /> });
  }
  if (world?.users.some((value) => value !== null)) {
    tracks.push({ name: "Users’ errors", scale: `to ${percent(mostErrors([episode, ...others]))}`, height: HEIGHTS.users, body: <Users axes={axes} height={HEIGHTS.users} others={others} /> });
  }
  if (world?.alerts.length) tracks.push({ name: "Alerts", height: HEIGHTS.alerts, body: <Alerts axes={axes} height={HEIGHTS.alerts} /> });
  if (world?.changes.length) tracks.push({ name: "Changes", height: HEIGHTS.changes, body: <Changes axes={axes} truth={truth} /> });
  incident.seats.forEach((seat, i) =>
    tracks.push({
      name: words(seat), height: HEIGHTS.lane, seat: i,
      body: <Lane axes={axes} seat={seat} number={i} episodes={[episode, ...others]} truth={truth} turn={turn} reached={reached} />,
    }),
  );
  return phone.value ? tracks.filter((track) => track.seat !== undefined || track.name === "Users’ errors") : tracks;
}

function stacked(tracks: readonly Track[]): JSX.Element[] {
  let top = 0;
  return tracks.map((track) => {
    const group = <g key={track.name} transform={`translate(0 ${top})`}>{track.body}</g>;
    top += track.height;
    return group;
  });
}

function turnUnder(event: PointerEvent, axes: Axes): number {
  const frame = (event.currentTarget as Element).getBoundingClientRect();
  const share = (event.clientX - frame.left) / frame.width;
  const place = axes.episode.axis.first + Math.floor((share * axes.width) / axes.step);
  return place - axes.episode.axis.page + 1;
}

function positionText({ episode }: Story, turn: number): string {
  const seat = episode.turns.find((t) => t.n === turn)?.seat;
  return [episode.axis.unit === "minute" && moment(episode.axis, placeOf(episode, turn)), seat && `turn ${turn}`, seat && words(seat)].filter(Boolean).join(", ");
}

function Veil({ axes, from, height }: { axes: Axes; from: number; height: number }): JSX.Element | null {
  const left = axes.x(from) + axes.step / 2;
  return left < axes.width ? <rect class="veil" x={left} width={axes.width - left} height={height} /> : null;
}

const MOST_TICKS = 14;
const MOST_TICKS_PHONE = 5;

function Ticks({ axes, turn, go }: { axes: Axes; turn: number; go: (turn: number) => void }): JSX.Element {
  const { axis } = axes.episode;
  const every = Math.ceil((axis.last - axis.first + 1) / (phone.value ? MOST_TICKS_PHONE : MOST_TICKS));
  const places = Array.from({ length: axis.last - axis.first + 1 }, (_, i) => axis.first + i).filter((_, i) => i % every === 0);
  return (
    <div class="ticks" aria-hidden="true">
      {places.map((at) => (
        <span key={at} class={at - axis.page + 1 === turn ? "here" : ""} style={{ left: `${(axes.x(at) / axes.width) * 100}%` }}
          onClick={() => go(at - axis.page + 1)}>
          {axis.unit === "turn" ? at : moment(axis, at)}
        </span>
      ))}
    </div>
  );
}
