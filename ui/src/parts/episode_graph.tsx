// The graph of an episode in the minute of the cursor: traffic, errors, and who changed what.
import type { JSX } from "preact";
import type { Change, Culprit } from "../contract";
import { landedBy, labelOf, nextAbout, placeOf, vitalsOf, type Story } from "../model/story";
import { moment, percent, words } from "../model/text";
import { notify } from "../state/store";
import { Graph, type Actor, type GraphEdge, type GraphNode } from "./graph";

const MOST_ACTORS = 12;

interface EpisodeGraphProps {
  readonly story: Story;
  readonly turn: number;
  readonly truth: boolean;
  readonly wide: boolean;
  readonly go?: (turn: number) => void;
}

export function EpisodeGraph({ story, turn, truth, wide, go }: EpisodeGraphProps): JSX.Element {
  const at = placeOf(story.episode, turn);
  const landed = landedBy(story.episode.world, at);
  const actors = wide ? actorsOf(story, landed, truth) : [];
  return (
    <Graph
      label={`Services at ${moment(story.episode.axis, at)}`}
      nodes={nodesOf(story, at, landed, truth)}
      edges={edgesOf(story, at)}
      actors={actors}
      {...(go && { pick: (service: string) => toNextAbout(story, service, turn, go) })}
    />
  );
}

function toNextAbout(story: Story, service: string, turn: number, go: (turn: number) => void): void {
  const next = nextAbout(story.episode, service, turn);
  if (next === null) notify(`Nobody read, repaired or spoke of ${service}.`);
  else go(next);
}

function nodesOf({ incident, episode }: Story, at: number, landed: readonly Change[], truth: boolean): GraphNode[] {
  const culprits = truth ? (episode.truth?.culprits ?? []).filter((c) => c.since <= at && (c.until === null || at <= c.until)) : [];
  return incident.services.map((service) => {
    const vitals = vitalsOf(episode, service, at);
    return {
      name: service.name,
      kind: service.kind,
      health: vitals.health,
      first: vitals.errors === null ? (episode.world ? "not scraped" : "not shown") : percent(vitals.errors),
      second: vitals.p95 === null ? "" : `${Math.round(vitals.p95)} ms`,
      badge: badgeOf(culprits.find((c) => c.service === service.name)),
      changes: landed.filter((change) => change.service === service.name).length,
    };
  });
}

/** A cause and how many requests come to harm by it: its callers may lose them, so that its own errors stay few. */
const badgeOf = (culprit: Culprit | undefined): string =>
  culprit ? ["cause", culprit.share !== null && `hurts ${percent(100 * culprit.share)}`].filter(Boolean).join(" ") : "";

function edgesOf({ incident, episode }: Story, at: number): GraphEdge[] {
  const services = new Map(incident.services.map((service) => [service.name, service]));
  return incident.links.map((link) => {
    const [source, target] = [services.get(link.source), services.get(link.target)];
    const requests = source ? vitalsOf(episode, source, at).requests : null;
    const healths = [source, target].map((service) => (service ? vitalsOf(episode, service, at).health : "unknown"));
    return {
      source: link.source,
      target: link.target,
      needed: link.needed,
      weight: 1.25 + Math.min(2.75, Math.sqrt((requests ?? 0) * (link.rate ?? 1)) / 14),
      hurt: healths.every((health) => health === "critical" || health === "degraded"),
    };
  });
}

function actorsOf({ episode }: Story, landed: readonly Change[], truth: boolean): Actor[] {
  const causes = truth ? (episode.truth?.culprits ?? []).map((c) => c.change) : [];
  const byGuilt = [...landed].sort((a, b) => Number(causes.includes(a.id)) - Number(causes.includes(b.id)));
  const latest = new Map(byGuilt.map((change) => [change.actor, change]));
  const newest = [...latest.values()].sort((a, b) => b.landed - a.landed).slice(0, MOST_ACTORS);
  const rank = (change: Change): number => landed.indexOf(change);
  return newest.sort((a, b) => rank(a) - rank(b)).map((change) => {
    const label = truth ? labelOf(episode, change) : null;
    const what = truth && change.signer !== change.actor ? `by ${change.signer}` : moment(episode.axis, change.landed);
    return {
      name: change.actor,
      service: change.service,
      text: [`${words(change.family)} ${what}`, label].filter(Boolean).join(" · "),
      guilty: label === "rogue" || causes.includes(change.id),
      caused: causes.includes(change.id),
    };
  });
}
