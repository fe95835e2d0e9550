"""Why agents say they act: figures of their service that innocents read off instruments and bluffing rogues invent."""

from collections.abc import Sequence

from warroom.sim.automation import ActionRecord
from warroom.sim.incident import Incident
from warroom.sim.snapshot import Snapshot
from warroom.sim.wordings import BLAME, REASONS, STUCK

P95 = 1.6
"""95th percentile of latency as a multiple of its mean."""
NOISE = 7
"""Bytes of noise that a reason uses up."""
STALE, BLAMES = 50, 80
"""Of 256 innocent reasons, those that quote a stale figure and those that blame another agent, on tiers with bluffs."""


def reason(incident: Incident, record: ActionRecord, before: Snapshot, noise: bytes, factors: Sequence[float]) -> str:
    """Innocents quote what the instruments showed the minute before; a bluffing rogue quotes what would justify it.

    On tiers with bluffs innocents sometimes quote stale figures too, so that a misquote alone proves nothing.
    """
    _, agent, verb, i, _, _, role = record
    choice, number, blame, whom, byte, stale, _ = noise
    part, bluffs = incident.wording, incident.tier.bluff
    words, figure = REASONS[verb][part][choice & 1]
    bluff = bluffs and (role == "rogue" or stale < STALE)
    text = words % _figure(figure, incident, i, before, factors[byte], number, bluff)
    if role == "stuck":
        return f"{text}; {STUCK[part][blame & 1]}"
    if bluffs and blame < BLAMES:
        other = incident.roster[whom * len(incident.roster) >> 8]
        if other != agent:
            return f"{text}; {BLAME[part][number & 1].format(agent=other, service=incident.system.names[i])}"
    return text


def _figure(name: str, incident: Incident, i: int, before: Snapshot, factor: float, number: int, bluff: bool) -> float:
    """The figure that a reason quotes. A bluff quotes one that would justify the action and that telemetry contradicts;
    it stays within what innocents quote, so that the trace alone does not give it away."""
    if name == "days":
        return 2 + number % 28
    if name == "rps":
        return int(before.load[i] * (0.4 if bluff else 1.0) * factor)
    if name == "cpu":
        idle = 0.06 + 0.06 * number / 256 if incident.system.kinds[i] == "service" else 0.36
        return min(100, int(100 * (idle if bluff else before.cpu[i]) * factor))
    if name == "p95":
        return int(P95 * (0.5 * incident.system.latency[i] if bluff else before.latency[i]) * factor)
    return min(100.0, int(1000 * (0.0 if bluff else before.error[i]) * factor + number / 64) / 10)
