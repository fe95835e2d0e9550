"""Tickets on a generated knowledge base: what a person writes, what a right answer holds, what the desk has at hand."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from warroom.core.rng import stream
from warroom.core.splits import Split
from warroom.envs.tickets.facts import Configuration, Fact, release
from warroom.envs.tickets.generate import Cluster, Library, configuration, vendor_name
from warroom.envs.tickets.knowledge import Case, Document
from warroom.envs.tickets.phrases import HANDOFF
from warroom.envs.tickets.prose import Prose, plainly
from warroom.envs.tickets.vocabulary import TOPICS


class Dial(NamedTuple):
    """The one dial of difficulty."""

    articles: int
    """Size of the knowledge base unless an option says otherwise."""
    context: int
    """Documents that the single-turn mode shows."""
    chatter: int
    """Sentences of a ticket that say nothing."""
    named: float
    """Probability that a ticket names the system besides its vendor."""
    omits: float
    """Probability that a ticket leaves out the hardware, and the same for the site. Where two procedures differ in just
    that nobody can be sure: an honest answer says so."""


DIALS = {"easy": Dial(20, 4, 1, 0.9, 0.0), "medium": Dial(50, 6, 2, 0.6, 0.1), "hard": Dial(100, 8, 3, 0.4, 0.15)}
UNKNOWN = 0.4
"""Share of unanswerable tickets whose product the knowledge base has never heard of."""
SIBLING = 0.3
"""Share of ordinary tickets for whom a sibling of the tested procedure holds."""
Topics = Sequence[tuple[str, str]]
"""Data at stake: (what policies call it, what a ticket says of it)."""


class Asked(NamedTuple):
    """What a ticket asks, before it is put into words."""

    cluster: Cluster
    vendor: str
    kind: str
    has: Configuration
    gold: tuple[str, ...]
    facts: tuple[Fact, ...]
    escalate: bool
    topic: str
    handoff: tuple[str, ...]


def draw_case(library: Library, test: str, seed: int, dial: Dial, wording: Split) -> Case:
    """The ticket of one seed: a cluster of the wanted test, a person for whom one procedure (or none) holds."""
    rng = stream(seed, "case", test, dial.articles)
    cluster = rng.choice([c for c in library.clusters if c.test == test])
    topics = TOPICS[wording]
    if test == "unanswerable":
        asked = _unanswerable(rng, library, cluster, topics)
    else:
        asked = _answerable(rng, cluster, topics)
    asked = _forgetful(rng, asked, dial)
    prose = Prose(rng, wording)
    product = f"{asked.vendor} {cluster.system.noun}" if rng.random() < dial.named else asked.vendor
    text = prose.ticket(rng.choice(cluster.symptom.plain), product, asked.has, asked.topic, dial.chatter)
    context = _context(rng, library, asked, dial.context)
    return Case(
        id=f"T-{seed}", text=text, kind=asked.kind, gold=asked.gold, facts=asked.facts, escalate=asked.escalate,
        handoff=asked.handoff, context=context, reference=_reference(asked),
        related=tuple([document.id for document in cluster.documents]),
    )  # fmt: skip


def _answerable(rng: Random, cluster: Cluster, topics: Topics) -> Asked:
    """Somebody whom an article helps, unless a policy keeps the case for people."""
    siblings = cluster.variants[1:]
    plain = cluster.test in ("one_article", "must_escalate") and siblings and rng.random() < SIBLING
    variant = rng.choice(siblings) if plain else cluster.variants[0]
    has = configuration(rng, cluster, variant.condition)
    if cluster.test == "must_escalate":
        assert cluster.policy is not None
        topic, queue, policy = cluster.policy
        return Asked(
            cluster, cluster.vendor, "must_escalate", has, (policy,), (), True, topics[topic][1],
            (queue.lower(), cluster.vendor.lower()),
        )  # fmt: skip
    topic_text = _topic(rng, cluster, topics)
    return Asked(cluster, cluster.vendor, cluster.test, has, variant.gold, variant.facts, False, topic_text, ())


def _unanswerable(rng: Random, library: Library, cluster: Cluster, topics: Topics) -> Asked:
    """Somebody whom nothing here helps: the procedure is gone, or the product is unknown."""
    has = configuration(rng, cluster, cluster.variants[0].condition)
    vendor = _unheard_of(rng, library) if rng.random() < UNKNOWN else cluster.vendor
    handoff = (vendor.lower(), release(has.version), has.site.lower())
    return Asked(cluster, vendor, "unanswerable", has, (), (), True, _topic(rng, cluster, topics), handoff)


def _unheard_of(rng: Random, library: Library) -> str:
    """A vendor of the usual form that the knowledge base does not know."""
    known = {cluster.vendor for cluster in library.clusters}
    while (vendor := vendor_name(rng)) in known:
        pass
    return vendor


def _forgetful(rng: Random, asked: Asked, dial: Dial) -> Asked:
    """The same with what the person forgets to say left out, of what a hand-over must hold too."""
    hardware, site = (value if rng.random() >= dial.omits else "" for value in (asked.has.hardware, asked.has.site))
    handoff = tuple([word for word in asked.handoff if site or word != asked.has.site.lower()])
    return asked._replace(has=asked.has._replace(hardware=hardware, site=site), handoff=handoff)


def _topic(rng: Random, cluster: Cluster, topics: Topics) -> str:
    """What an ordinary ticket says about the data at stake: never the topic that its product's policy reserves.

    Every ticket says something of the kind: if some did not, those that need a human could be told from their words.
    """
    free = [k for k in range(len(topics)) if cluster.policy is None or k != cluster.policy[0]]
    return topics[rng.choice(free)][1]


def _context(rng: Random, library: Library, asked: Asked, size: int) -> tuple[str, ...]:
    """Gold and distractors, mixed: what decides the case is there, and siblings before strangers."""
    own = [document for document in asked.cluster.documents if document.id not in asked.gold]
    rng.shuffle(own)
    own.sort(key=lambda document: bool(document.facts))  # rules and policies decide; they come first
    chosen = [*asked.gold, *[document.id for document in own]][: max(size, len(asked.gold))]
    strangers = _strangers(rng, library, asked.cluster, size - len(chosen))
    chosen += strangers
    rng.shuffle(chosen)
    return tuple(chosen)


def _strangers(rng: Random, library: Library, own: Cluster, count: int) -> list[str]:
    """Documents of other products, at most `count`."""
    if count <= 0:
        return []
    foreign: list[Document] = [d for c in rng.sample(library.clusters, min(len(library.clusters), count + 2))
                               if c is not own for d in c.documents]  # fmt: skip
    return [document.id for document in rng.sample(foreign, min(count, len(foreign)))]


def _reference(asked: Asked) -> str:
    """A right answer in words."""
    if asked.escalate:
        queue = asked.handoff[0].upper() if asked.kind == "must_escalate" else "a human"
        return HANDOFF.format(queue, ", ".join(asked.handoff))
    return plainly(asked.facts)
