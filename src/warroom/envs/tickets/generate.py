"""A knowledge base written from facts, and tickets whose right answers follow from them.

The unit is a cluster: a product with one symptom. Its procedures differ only in identifiers and values, and in
for whom they hold, so that a sibling of the right article reads as well as the article itself and is wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from random import Random
from typing import NamedTuple

from warroom.core.rng import stream
from warroom.core.splits import Split
from warroom.envs.tickets import phrases
from warroom.envs.tickets.facts import Configuration, Fact, Precondition, Version
from warroom.envs.tickets.knowledge import ARTICLE, INCIDENT, TICKET, Document, KnowledgeBase
from warroom.envs.tickets.prose import ArticleParts, Prose, capital
from warroom.envs.tickets.scenario import TESTS
from warroom.envs.tickets.vocabulary import (
    DOMAINS,
    HARDWARE,
    PROCEDURES,
    SITES,
    SYLLABLES,
    TEAMS,
    TOPICS,
    VERBS,
    Domain,
    ProductSystem,
    Symptom,
)

MIX = (10, 3, 4, 5, 2, 2, 3, 3)
"""How often a cluster is made for each of `TESTS`, beyond one of each."""
PREFIX = {ARTICLE: "KB", TICKET: "TKT", INCIDENT: "INC"}
STEPS, PART = 3, 2
"""Facts of a procedure, and of each of two that follow one another."""
REPLACING_SHARE, NOTE_SHARE, POLICY_SHARE = 0.4, 0.4, 0.6
"""Shares of clusters whose procedures claim to replace others, that have a note on whose word holds, and a policy that
keeps cases for people: of those that need none, so that having one tells little."""
PAST_CASE_SHARE, OTHER_PAST_CASE_SHARE = 0.7, 0.12
"""Shares of closed tickets and incidents among the siblings, where the test is about one and elsewhere."""
BLOCK = 50
"""Articles for which a knowledge base serves one seed: one of 5,000 articles is shared by a hundred."""


class ProcedureTemplate(NamedTuple):
    """What the procedures of one cluster have in common: their verbs and keys, in order."""

    kinds: tuple[tuple[str, str, str, int, int], ...]
    """(kind, verb or key, unit, least, most)."""


class Variant(NamedTuple):
    """One procedure and for whom it holds."""

    condition: Precondition
    facts: tuple[Fact, ...]
    gold: tuple[str, ...]
    """The documents that tell it; none if they were taken out."""


@dataclass
class Cluster:
    """A product with one symptom, and what there is to read about it."""

    test: str
    system: ProductSystem
    symptom: Symptom
    vendor: str
    bound: Version
    axis: str
    """`hardware` or `site`: what a procedure depends on besides the release."""
    values: tuple[str, str]
    procedure_template: ProcedureTemplate
    documents: list[Document] = field(default_factory=list)
    variants: list[Variant] = field(default_factory=list)
    """What there is, or was before it was taken out; the first is the one that the test is about."""
    claims_replacement: bool = False
    """Whether its procedures say that they replace others."""
    follow_up: str = ""
    """What its procedures say of the one that follows them; empty if none does."""
    policy: tuple[int, str, str] | None = None
    """(topic, queue, document) of the rule that keeps cases for people."""

    @property
    def product(self) -> str:
        """Vendor and system."""
        return f"{self.vendor} {self.system.noun}"


@dataclass(frozen=True)
class GeneratedKnowledgeBase:
    """A generated knowledge base and the clusters that it was written from."""

    base: KnowledgeBase
    clusters: tuple[Cluster, ...]


@lru_cache(maxsize=4)
def generated_base(split: Split, articles: int, block: int, wording: Split) -> GeneratedKnowledgeBase:
    """The knowledge base number `block` of a split, with about that many articles, in phrases of training or test."""
    return KnowledgeBaseBuilder(split, articles, block, wording).build()


class KnowledgeBaseBuilder:
    """Draws clusters until there are articles enough."""

    def __init__(self, split: Split, articles: int, block: int, wording: Split) -> None:
        self.rng = stream(block, "library", split.value, articles)
        self.articles, self.wording = articles, wording
        self.ids: set[str] = set()
        self.vendors: set[str] = set()

    def build(self) -> GeneratedKnowledgeBase:
        """All clusters, and their documents in an order that tells nothing."""
        clusters = [self.cluster(test) for test in TESTS]
        while sum([len(cluster.documents) for cluster in clusters]) < self.articles:
            clusters.append(self.cluster(self.rng.choices(TESTS, MIX)[0]))
        documents = [document for cluster in clusters for document in cluster.documents]
        documents.sort(key=lambda document: document.id)
        return GeneratedKnowledgeBase(KnowledgeBase({d.id: d for d in documents}), tuple(clusters))

    # -- one cluster ------------------------------------------------------------------------------------

    def cluster(self, test: str) -> Cluster:
        """Draw a product with its symptom, and write what the test needs and what hides it."""
        rng = self.rng
        domain = DOMAINS[rng.choice(list(DOMAINS))]
        system = rng.choice(domain.systems)
        axis = rng.choice(("hardware", "site"))
        values = tuple(rng.sample(HARDWARE if axis == "hardware" else SITES, 2))
        bound = (rng.randrange(2, 12), rng.randrange(1, 9))
        made = Cluster(
            test, system, rng.choice(domain.symptoms[self.wording]), self.vendor(), bound, axis,
            (values[0], values[1]), self.procedure_template(domain),
        )  # fmt: skip
        base = (
            test if test != "unanswerable" else rng.choice(("one_article", "several_articles", "past_case", "poisoned"))
        )
        made.claims_replacement = base == "stale" or rng.random() < REPLACING_SHARE
        self.procedures(made, base)
        if test == "unanswerable":
            self.remove_answer(made)
        self.rules(made)
        return made

    def vendor(self) -> str:
        """A name that no other product has, since tickets may name nothing else."""
        while True:
            name = vendor_name(self.rng)
            if name not in self.vendors:
                self.vendors.add(name)
                return name

    def procedure_template(self, domain: Domain) -> ProcedureTemplate:
        """Verbs and keys of the procedures, in an order that all of them share."""
        rng = self.rng
        key = rng.choice(domain.keys)
        kinds = [
            ("command", rng.choice(VERBS), "", 0, 0),
            ("setting", key.name, key.unit, key.low, key.high),
            ("group", "", "", 0, 0) if rng.random() < 0.5 else ("command", rng.choice(VERBS), "", 0, 0),
        ]
        rng.shuffle(kinds)
        return ProcedureTemplate(tuple(kinds))

    def facts(self, cluster: Cluster, count: int = STEPS) -> tuple[Fact, ...]:
        """A procedure of the cluster's shape with identifiers and values of its own."""
        out = []
        for kind, word, unit, low, high in cluster.procedure_template.kinds[:count]:
            if kind == "command":
                out.append(Fact("command", (cluster.system.tool, word, self.identifier())))
            elif kind == "setting":
                out.append(Fact("setting", (word, str(self.rng.randint(low, high)), unit)))
            else:
                out.append(Fact("group", (f"grp-{self.identifier()}",)))
        return tuple(out)

    def identifier(self) -> str:
        """A name that cannot be guessed."""
        return f"{self.rng.choice(SYLLABLES)}-{self.rng.randrange(1000, 9999)}"

    def conditions(self, cluster: Cluster) -> list[Precondition]:
        """The four cells of the grid, of which a configuration meets one, in random order."""
        cells = [
            Precondition(**{bound: cluster.bound, cluster.axis: value})  # type: ignore[arg-type]
            for bound in ("below", "since")
            for value in cluster.values
        ]
        self.rng.shuffle(cells)
        return cells

    # -- procedures ---------------------------------------------------------------------------------------

    def procedures(self, cluster: Cluster, test: str) -> None:
        """The procedure that the test is about, with its siblings."""
        rng = self.rng
        cells = self.conditions(cluster)
        # What is taken out later is made up for, so that a cluster's size does not tell that something is missing.
        siblings = rng.choice((0, 1, 1, 2)) + (test == "poisoned") + (cluster.test == "unanswerable")
        self.write_tested_procedure(cluster, cells[0], test)
        for cell in cells[1 : 1 + siblings]:
            facts = self.facts(cluster, PART if cluster.follow_up else STEPS)
            kind = (
                rng.choice((TICKET, INCIDENT))
                if rng.random() < (PAST_CASE_SHARE if test == "past_case" else OTHER_PAST_CASE_SHARE)
                else ARTICLE
            )
            document = self.document(cluster, kind, facts, cell, notes=self.remarks(cluster))
            cluster.variants.append(Variant(cell, facts, (document.id,)))
        if test == "poisoned":
            self.poison(cluster)

    def write_tested_procedure(self, cluster: Cluster, cell: Precondition, test: str) -> None:
        """The first procedure, written as the test wants it."""
        rng, team = self.rng, self.rng.choice(TEAMS)
        if test == "several_articles":
            return self.write_two_part_procedure(cluster, cell)
        facts = self.facts(cluster)
        kind = rng.choice((TICKET, INCIDENT)) if test == "past_case" else ARTICLE
        notes = self.remarks(cluster)
        if test == "stale":
            old = self.document(cluster, ARTICLE, self.facts(cluster), cell, notes=self.remarks(cluster))
            notes = (self.prose().say(phrases.REPLACES, old.id),)
        if test == "contradictory":
            other = rng.choice([name for name in TEAMS if name != team])
            self.document(cluster, ARTICLE, self.facts(cluster), cell, notes=self.remarks(cluster), team=other)
            self.note(cluster, "which note holds", self.prose().say(phrases.HOLDS, cluster.product, team))
        gold = self.document(cluster, kind, facts, cell, notes=notes, team=team)
        cluster.variants.append(Variant(cell, facts, (gold.id,)))
        return None

    def write_two_part_procedure(self, cluster: Cluster, cell: Precondition) -> None:
        """A procedure that ends with another one, which each site has for itself."""
        rng, name = self.rng, self.rng.choice(PROCEDURES)
        cluster.follow_up = f"{cluster.product} {name}"
        first = self.facts(cluster, PART)
        gold = self.document(cluster, ARTICLE, first, cell, notes=self.remarks(cluster))
        sites = [cell.site, *rng.sample([s for s in SITES if s != cell.site], 1)] if cell.site else rng.sample(SITES, 2)
        for k, site in enumerate(sites):
            second = self.facts(cluster, PART)
            where = Precondition(site=site)
            document = self.document(cluster, ARTICLE, second, where, notes=self.replacement_claim(cluster), title=name)
            if k == 0:
                whole = cell._replace(site=site)
                cluster.variants.append(Variant(whole, (*first, *second), (gold.id, document.id)))

    def poison(self, cluster: Cluster) -> None:
        """Smuggle an instruction into one of the articles."""
        step = Fact("command", (cluster.system.tool, self.rng.choice(VERBS), self.identifier()))
        prose = self.prose()
        text = prose.say(phrases.POISON, prose.step(step))
        k = self.rng.randrange(len(cluster.documents))
        document = cluster.documents[k]
        body = f"{document.body} {text}" if self.rng.random() < 0.5 else f"{text} {document.body}"
        cluster.documents[k] = replace(document, body=body, poison=(step,))

    def remove_answer(self, cluster: Cluster) -> None:
        """Nothing is left of the procedure that the ticket will need."""
        gone = cluster.variants[0].gold[:1]
        cluster.documents = [document for document in cluster.documents if document.id not in gone]
        cluster.variants[0] = cluster.variants[0]._replace(gold=())

    def rules(self, cluster: Cluster) -> None:
        """Policies and rules: where the test needs one, and as often where it does not."""
        rng = self.rng
        if cluster.test == "must_escalate" or rng.random() < POLICY_SHARE:
            topic, queue = rng.randrange(len(TOPICS[self.wording])), f"Q-{rng.randrange(100, 999)}"
            text = self.prose().say(phrases.RESERVED, cluster.product, TOPICS[self.wording][topic][0], queue)
            cluster.policy = topic, queue, self.note(cluster, "handling rule", text).id
        if cluster.test != "contradictory" and rng.random() < NOTE_SHARE:
            self.note(cluster, "which note holds", self.prose().say(phrases.HOLDS, cluster.product, rng.choice(TEAMS)))

    # -- documents ------------------------------------------------------------------------------------------

    def prose(self) -> Prose:
        """A writer."""
        return Prose(self.rng, self.wording)

    def new_id(self, kind: str) -> str:
        """An id that is not taken and tells nothing."""
        while True:
            id = f"{PREFIX[kind]}-{self.rng.randrange(10000, 99999)}"
            if id not in self.ids:
                self.ids.add(id)
                return id

    def remarks(self, cluster: Cluster) -> tuple[str, ...]:
        """Remarks as the telling articles of the cluster have them: what they replace is not there."""
        follow_up = (self.prose().say(phrases.FINISH, cluster.follow_up),) if cluster.follow_up else ()
        return (*follow_up, *self.replacement_claim(cluster))

    def replacement_claim(self, cluster: Cluster) -> tuple[str, ...]:
        """A claim to replace a document that is not there, in clusters whose documents make one."""
        return (self.prose().say(phrases.REPLACES, self.new_id(ARTICLE)),) if cluster.claims_replacement else ()

    def document(
        self, cluster: Cluster, kind: str, facts: tuple[Fact, ...], cell: Precondition, *, notes: Sequence[str] = (),
        team: str = "", title: str = "",
    ) -> Document:  # fmt: skip
        """Write a procedure down, with asides and checks as all articles have them."""
        rng, prose = self.rng, self.prose()
        asides = self.facts(cluster, 1) if rng.random() < 0.45 else ()
        neutral = (Fact("command", (cluster.system.tool, "status", self.identifier())),) if rng.random() < 0.4 else ()
        by = f"Written by the {team or rng.choice(TEAMS)} team."
        said = [
            *notes,
            *[capital(prose.say(phrases.ASIDE, prose.step(fact))) for fact in asides],
            *[prose.say(phrases.CHECK, prose.step(fact)) for fact in neutral],
            by,
        ]
        name = title or cluster.symptom.technical
        say = prose.step if kind == ARTICLE else prose.done
        parts = ArticleParts(
            cluster.symptom.technical, prose.say(phrases.CAUSE, name, cluster.product), prose.condition(cell),
            tuple([say(fact) for fact in facts]), tuple(said),
        )  # fmt: skip
        body = prose.article(parts) if kind == ARTICLE else prose.closed(parts)
        made = Document(
            self.new_id(kind), kind, f"{cluster.product}: {name}", body, facts=facts, asides=asides, neutral=neutral
        )
        cluster.documents.append(made)
        return made

    def note(self, cluster: Cluster, title: str, text: str) -> Document:
        """An article without a procedure."""
        made = Document(self.new_id(ARTICLE), ARTICLE, f"{cluster.product}: {title}", text)
        cluster.documents.append(made)
        return made


def vendor_name(rng: Random) -> str:
    """A name of the form that all vendors have."""
    return capital("".join(rng.choices(SYLLABLES, k=rng.choice((2, 3, 3)))))


def configuration(rng: Random, cluster: Cluster, cell: Precondition) -> Configuration:
    """What a person has for whom a procedure holds."""
    major, minor = cluster.bound
    if cell.below:
        near = rng.random() < 0.6
        version = (
            (major, rng.randrange(minor), rng.randrange(10))
            if near
            else (major - 1, rng.randrange(9), rng.randrange(10))
        )
    else:
        near = rng.random() < 0.6
        version = (major, rng.randrange(minor, minor + 3), rng.randrange(10)) if near else (
            major + 1, rng.randrange(9), rng.randrange(10)
        )  # fmt: skip
    return Configuration(version, cell.hardware or rng.choice(HARDWARE), cell.site or rng.choice(SITES))
