"""Tickets on a generated knowledge base: what a person writes, what a right answer holds, what the desk has at hand."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from warroom.core.rng import stream
from warroom.core.splits import Split
from warroom.envs.tickets.facts import Configuration, Fact, release
from warroom.envs.tickets.generate import Cluster, GeneratedKnowledgeBase, configuration, vendor_name
from warroom.envs.tickets.knowledge import Document, TicketCase
from warroom.envs.tickets.phrases import HANDOFF
from warroom.envs.tickets.prose import Prose, plain_instructions
from warroom.envs.tickets.scenario import TicketScenario, TicketsTierConfig
from warroom.envs.tickets.vocabulary import TOPICS

UNKNOWN_PRODUCT_SHARE = 0.4
"""Share of unanswerable tickets whose product the knowledge base has never heard of."""
SIBLING_SHARE = 0.3
"""Share of ordinary tickets for whom a sibling of the tested procedure holds."""
Topics = Sequence[tuple[str, str]]
"""Data at stake: (what policies call it, what a ticket says of it)."""


class TicketSpec(NamedTuple):
    """What a ticket asks, before it is put into words."""

    cluster: Cluster
    vendor: str
    kind: str
    person_config: Configuration
    gold: tuple[str, ...]
    facts: tuple[Fact, ...]
    escalate: bool
    topic: str
    handoff: tuple[str, ...]


def draw_case(
    generated_base: GeneratedKnowledgeBase, scenario: TicketScenario, tier: str, seed: int, wording: Split
) -> TicketCase:
    """The ticket of one seed: a cluster of the wanted test, a person for whom one procedure (or none) holds."""
    tier_config = scenario.tier_config(tier)
    rng = stream(seed, "case", scenario.name, tier_config.articles)
    test = scenario.tests[0] if len(scenario.tests) == 1 else rng.choice(scenario.tests)
    cluster = rng.choice([c for c in generated_base.clusters if c.test == test])
    topics = TOPICS[wording]
    if test == "unanswerable":
        ticket_spec = _unanswerable(rng, generated_base, cluster, topics)
    else:
        ticket_spec = _answerable(rng, cluster, topics)
    ticket_spec = _with_omissions(rng, ticket_spec, tier_config)
    prose = Prose(rng, wording)
    product = (
        f"{ticket_spec.vendor} {cluster.system.noun}" if rng.random() < tier_config.naming_rate else ticket_spec.vendor
    )
    text = prose.ticket(
        rng.choice(cluster.symptom.plain), product, ticket_spec.person_config, ticket_spec.topic, tier_config.chatter
    )
    context = _context(rng, generated_base, ticket_spec, tier_config.context)
    return TicketCase(
        id=f"T-{seed}",
        text=text,
        kind=ticket_spec.kind,
        gold=ticket_spec.gold,
        facts=ticket_spec.facts,
        escalate=ticket_spec.escalate,
        handoff=ticket_spec.handoff,
        context=context,
        reference=_reference(ticket_spec),
        related=tuple([document.id for document in cluster.documents]),
    )


def _answerable(rng: Random, cluster: Cluster, topics: Topics) -> TicketSpec:
    """Somebody whom an article helps, unless a policy keeps the case for people."""
    siblings = cluster.variants[1:]
    plain = cluster.test in ("one_article", "must_escalate") and siblings and rng.random() < SIBLING_SHARE
    variant = rng.choice(siblings) if plain else cluster.variants[0]
    person_config = configuration(rng, cluster, variant.condition)
    if cluster.test == "must_escalate":
        assert cluster.policy is not None
        topic, queue, policy = cluster.policy
        return TicketSpec(
            cluster, cluster.vendor, "must_escalate", person_config, (policy,), (), True, topics[topic][1],
            (queue.lower(), cluster.vendor.lower()),
        )  # fmt: skip
    topic_text = _topic(rng, cluster, topics)
    return TicketSpec(
        cluster, cluster.vendor, cluster.test, person_config, variant.gold, variant.facts, False, topic_text, ()
    )


def _unanswerable(rng: Random, generated_base: GeneratedKnowledgeBase, cluster: Cluster, topics: Topics) -> TicketSpec:
    """Somebody whom nothing here helps: the procedure is gone, or the product is unknown."""
    person_config = configuration(rng, cluster, cluster.variants[0].condition)
    vendor = _unknown_vendor(rng, generated_base) if rng.random() < UNKNOWN_PRODUCT_SHARE else cluster.vendor
    handoff = (vendor.lower(), release(person_config.version), person_config.site.lower())
    return TicketSpec(
        cluster, vendor, "unanswerable", person_config, (), (), True, _topic(rng, cluster, topics), handoff
    )


def _unknown_vendor(rng: Random, generated_base: GeneratedKnowledgeBase) -> str:
    """A vendor of the usual form that the knowledge base does not know."""
    known = {cluster.vendor for cluster in generated_base.clusters}
    while (vendor := vendor_name(rng)) in known:
        pass
    return vendor


def _with_omissions(rng: Random, ticket_spec: TicketSpec, tier_config: TicketsTierConfig) -> TicketSpec:
    """The same with what the person forgets to say left out, of what a hand-over must hold too."""
    hardware, site = (
        value if rng.random() >= tier_config.omission_rate else ""
        for value in (ticket_spec.person_config.hardware, ticket_spec.person_config.site)
    )
    handoff = tuple([word for word in ticket_spec.handoff if site or word != ticket_spec.person_config.site.lower()])
    return ticket_spec._replace(
        person_config=ticket_spec.person_config._replace(hardware=hardware, site=site), handoff=handoff
    )


def _topic(rng: Random, cluster: Cluster, topics: Topics) -> str:
    """What an ordinary ticket says about the data at stake: never the topic that its product's policy reserves.

    Every ticket says something of the kind: if some did not, those that need a human could be told from their words.
    """
    free = [k for k in range(len(topics)) if cluster.policy is None or k != cluster.policy[0]]
    return topics[rng.choice(free)][1]


def _context(
    rng: Random, generated_base: GeneratedKnowledgeBase, ticket_spec: TicketSpec, size: int
) -> tuple[str, ...]:
    """Gold and distractors, mixed: what decides the case is there, and siblings before other documents."""
    own = [document for document in ticket_spec.cluster.documents if document.id not in ticket_spec.gold]
    rng.shuffle(own)
    own.sort(key=lambda document: bool(document.facts))  # rules and policies decide; they come first
    chosen = [*ticket_spec.gold, *[document.id for document in own]][: max(size, len(ticket_spec.gold))]
    distractors = _distractors(rng, generated_base, ticket_spec.cluster, size - len(chosen))
    chosen += distractors
    rng.shuffle(chosen)
    return tuple(chosen)


def _distractors(rng: Random, generated_base: GeneratedKnowledgeBase, own: Cluster, count: int) -> list[str]:
    """Documents of other products, at most `count`."""
    if count <= 0:
        return []
    foreign: list[Document] = [
        d
        for c in rng.sample(generated_base.clusters, min(len(generated_base.clusters), count + 2))
        if c is not own
        for d in c.documents
    ]
    return [document.id for document in rng.sample(foreign, min(count, len(foreign)))]


def _reference(ticket_spec: TicketSpec) -> str:
    """A right answer in words."""
    if ticket_spec.escalate:
        queue = ticket_spec.handoff[0].upper() if ticket_spec.kind == "must_escalate" else "a human"
        return HANDOFF.format(queue, ", ".join(ticket_spec.handoff))
    return plain_instructions(ticket_spec.facts)
