"""Tickets on a generated knowledge base: who writes, about what, what they say of it, and what follows."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import NamedTuple

from warroom.core.rng import stream
from warroom.core.splits import Split
from warroom.envs.tickets.content import APPROVED, DocumentContent, Settlement, applies, settle
from warroom.envs.tickets.generate import GeneratedKnowledgeBase, TroubleCell
from warroom.envs.tickets.knowledge import Evidence, Reply, TicketCase
from warroom.envs.tickets.names import FLAGS, full_name
from warroom.envs.tickets.population import Owned, draw_asset, draw_person, site_for, with_case
from warroom.envs.tickets.records import Asset, Person, Registers, facts_of, look_up, record_line, release
from warroom.envs.tickets.reference import hand_over, instructions
from warroom.envs.tickets.rules import AtLeast, Below, Fact, FactValue, MissingFact, Scope, work_out
from warroom.envs.tickets.scenario import TicketScenario, TicketsTierConfig
from warroom.envs.tickets.wording.compose import compose_ticket
from warroom.envs.tickets.wording.steps import Utterance
from warroom.sim.wording.template import Draws

STRUCTURE = {
    "several_articles": "several", "past_case": "past_case", "stale": "stale", "contradictory": "contradictory",
    "poisoned": "poisoned", "unanswerable": "removed",
}  # fmt: skip
"""The structure of a cell that a test needs; the others are about ordinary cells."""
BELIEF_SHARE = 0.9
"""Share of tickets whose writer says what is behind it: rightly or not, but for a wrong premise as for the rest."""
CONFLICT_SHARE, SAYS_VERSION_SHARE = 0.25, 0.35
"""Shares of tickets that give another release than the register, and that give one at all besides."""
FLAG_SHARE = 0.3
"""Share of assets with a flag that no policy reserves."""
ATTEMPTS = 60
"""Draws of a case that two readers would settle alike, before it is a fault of the generator."""
DIFFERENT = 0.3
"""Share of the facts in which every other procedure on the complaint must differ."""


class AmbiguousCase(RuntimeError):
    """No case could be drawn that has one answer."""


@dataclass(frozen=True)
class DrawnCase:
    """A case before it is put into words."""

    test: str
    cell: TroubleCell
    user: Person
    owned: tuple[Owned, ...]
    """The asset that it is about, then others of the same user."""
    registers: Registers
    facts: dict[str, FactValue]
    """What holds, whatever the register says."""
    said_version: tuple[int, ...]
    """The release that the user gives; empty if none."""
    reference: str
    """`tag`, `nickname`, `own` or `product`."""
    hidden: str
    """The number that the register lacks; empty if none."""
    settlement: Settlement

    @property
    def asset(self) -> Asset:
        """What the ticket is about."""
        return self.owned[0].asset


def draw_case(
    generated: GeneratedKnowledgeBase, scenario: TicketScenario, tier: str, seed: int, wording: Split
) -> TicketCase:
    """The ticket of one seed.

    Raises:
        AmbiguousCase: no case with one answer was found; the tables or the generator are at fault.
    """
    config = scenario.tier_config(tier)
    rng = stream(seed, "case", scenario.name, config.articles)
    test = scenario.tests[0] if len(scenario.tests) == 1 else rng.choice(scenario.tests)
    for _ in range(ATTEMPTS):
        drawn = _draw(rng, generated, test, config)
        if drawn is not None:
            return _CaseWriter(rng, generated, drawn, wording.value).case(seed, config)
    raise AmbiguousCase(f"tickets/{scenario.name} {tier} seed {seed}: no unambiguous case in {ATTEMPTS} draws")


# -- the case --------------------------------------------------------------------------------------------


def _draw(rng: Random, generated: GeneratedKnowledgeBase, test: str, config: TicketsTierConfig) -> DrawnCase | None:
    """A case, or None if readers could settle it differently."""
    wanted = STRUCTURE.get(test, "plain")
    cells = [cell for family in generated.families for cell in family if cell.structure == wanted]
    cell = rng.choice(cells)
    scope = cell.scopes[0] if wanted != "plain" else rng.choice(cell.scopes)
    registers, user = generated.registers, _user(rng, generated, scope)
    drawn_asset = draw_asset(rng, cell.domain, cell.product, user, scope=scope, today=registers.today)
    flagged = _flagged(rng, generated, drawn_asset, user, test)
    if flagged is None:
        return None
    owned = [flagged]
    hidden = _number_that_matters(rng, cell) if test == "missing_fact" else ""
    if test == "missing_fact" and not hidden:
        owned.append(_other_asset(rng, generated, cell, user, owned[0].asset))
    reference = "own" if len(owned) > 1 else _reference_kind(rng, config)
    if reference in ("tag", "nickname"):  # somebody else's, or everybody's
        other = rng.choice(list(generated.registers.people))
        owned = [owned[0]._replace(asset=owned[0].asset._replace(user=other))]
    facts = facts_of(with_case(registers, user, owned), owned[0].asset.tag, user.name)
    said = _said_version(rng, scope, owned[0].asset)
    source = next((content for content in generated.rules() if content.source[0] == cell.domain.version), None)
    registered = owned[0].asset
    if said and source is not None and source.source[1] == "user":  # the user is right, and the register is behind
        registered, said = registered._replace(version=said), registered.version
    registered = registered._replace(
        numbers={name: number for name, number in registered.numbers.items() if name != hidden}
    )
    owned[0] = owned[0]._replace(asset=registered)
    registers = with_case(registers, user, owned)
    settlement = settle(_relevant(generated, cell), facts, cell.cause_id)
    drawn = DrawnCase(
        test, cell, user, tuple(owned), registers, facts, said, reference, hidden, settlement
    )  # fmt: skip
    return _with_source(drawn, generated, source) if _is_certain(drawn, generated, test) else None


def _user(rng: Random, generated: GeneratedKnowledgeBase, scope: Scope) -> Person:
    """Somebody new at a site where the scope holds."""
    registers, name = generated.registers, ""
    while not name or name in registers.people:
        name = full_name(rng, generated.split)
    sites = list(registers.leads)
    user = draw_person(rng, name, sites, list(registers.leads.values()))
    return user._replace(site=site_for(rng, scope, sites))


def _flagged(rng: Random, generated: GeneratedKnowledgeBase, owned: Owned, user: Person, test: str) -> Owned | None:
    """The asset with the flag that a policy reserves, or with another one, or none; None if the person's group is."""
    reserved = [rule for content in generated.rules() for rule in content.reserved]
    flags = [rule.group for rule in reserved if rule.fact == "flag"]
    if any(rule.fact == "department" and rule.group == user.department for rule in reserved):
        return owned if test == "must_escalate" else None
    if test == "must_escalate":
        flag = rng.choice(flags)
    else:
        flag = rng.choice([each for each in FLAGS if each not in flags]) if rng.random() < FLAG_SHARE else ""
    return owned._replace(asset=owned.asset._replace(flag=flag))


def _number_that_matters(rng: Random, cell: TroubleCell) -> str:
    """A count or an amount that a rule of the cell's procedures asks for; mostly, if there is one."""
    names = [
        name
        for content in cell.contents
        for step in content.steps
        if step.quantity is not None
        for name in (step.quantity.counted, step.quantity.whole)
        if name
    ]
    return rng.choice(names) if names and rng.random() < 0.6 else ""


def _other_asset(rng: Random, generated: GeneratedKnowledgeBase, cell: TroubleCell, user: Person, like: Asset) -> Owned:
    """Another asset of the same sort: of the other product of the family, or for which another procedure holds."""
    family = next(family for family in generated.families if cell in family)
    others = [other for other in family if other.cause is cell.cause and other.product != cell.product]
    other = rng.choice(others) if others else cell
    made = draw_asset(rng, cell.domain, other.product, user, scope=(), today=generated.registers.today)
    # So that nothing that is said tells which is meant.
    return made._replace(asset=made.asset._replace(bought=like.bought, version=like.version))


def _said_version(rng: Random, scope: Scope, asset: Asset) -> tuple[int, ...]:
    """A release that the user gives: another one than the register's on the other side of a bound, or the same."""
    bound = next((each for each in scope if each.fact == "version"), None)
    if rng.random() < CONFLICT_SHARE:
        if isinstance(bound, Below | AtLeast) and isinstance(bound.bound, tuple):
            major, minor = bound.bound
            return (major, minor + 1, 2) if isinstance(bound, Below) else (major, minor - 1, 7)
        return (asset.version[0], asset.version[1] + 1, asset.version[2])
    return asset.version if rng.random() < SAYS_VERSION_SHARE else ()


def _reference_kind(rng: Random, config: TicketsTierConfig) -> str:
    if rng.random() < config.naming_rate:
        return "product"
    return rng.choice(("tag", "nickname", "own", "own"))


def _relevant(generated: GeneratedKnowledgeBase, cell: TroubleCell) -> list[DocumentContent]:
    """What there is on the complaint, and every rule."""
    family = next(family for family in generated.families if cell in family)
    return [*[content for other in family for content in other.contents], *generated.rules()]


def _is_certain(drawn: DrawnCase, generated: GeneratedKnowledgeBase, test: str) -> bool:
    """Whether the case has one answer, of the kind that the test wants, and no sibling comes to nearly the same."""
    found, expected = drawn.settlement, test in ("must_escalate", "unanswerable")
    if (
        found.choices != 1
        or found.escalate != expected
        or found.missing
        or bool(found.queue) != (test == "must_escalate")
    ):
        return False
    if test in ("several_articles", "contradictory") and len(found.gold) < 2:
        return False
    if test == "past_case" and found.gold[0].startswith("KB"):
        return False
    wrong = [facts for id, facts in _worked_out(drawn, generated) if id not in found.gold]
    return all(_differ(found.facts, facts) for facts in wrong)


def _differ(right: Sequence[Fact], wrong: Sequence[Fact]) -> bool:
    """Whether another procedure differs enough, and in more than whom to ask and how long to wait."""
    missed = set(right) - set(wrong)
    if not right:
        return True
    return len(missed) >= DIFFERENT * len(right) and any(fact.kind in ("set", "choose", "switch") for fact in missed)


class ProcedureFacts(NamedTuple):
    """What a procedure comes to for a case."""

    id: str
    facts: tuple[Fact, ...]


def _worked_out(drawn: DrawnCase, generated: GeneratedKnowledgeBase) -> list[ProcedureFacts]:
    """What every procedure on the complaint comes to for the case, whether it holds or not."""
    return [
        ProcedureFacts(content.id, _possible(content.steps, drawn))
        for content in _relevant(generated, drawn.cell)
        if content.steps
    ]


def _possible(steps: Sequence, drawn: DrawnCase) -> tuple[Fact, ...]:  # type: ignore[type-arg]
    out = []
    for step in steps:
        try:
            out.append(work_out(step, drawn.facts))
        except MissingFact:
            continue
    return tuple(out)


def _with_source(drawn: DrawnCase, generated: GeneratedKnowledgeBase, source: DocumentContent | None) -> DrawnCase:
    """The case with the rule on records among what decides it, where the user and the register differ in effect."""
    said, registered = drawn.said_version, drawn.asset.version
    if source is None or not said or said == registered or drawn.settlement.escalate:
        return drawn
    other = said if drawn.facts["version"] == registered else registered
    otherwise = settle(_relevant(generated, drawn.cell), {**drawn.facts, "version": other}, drawn.cell.cause_id)
    if otherwise.facts == drawn.settlement.facts:
        return drawn
    gold = (*drawn.settlement.gold, source.id)
    return DrawnCase(**{**drawn.__dict__, "settlement": drawn.settlement._replace(gold=gold)})


# -- in words --------------------------------------------------------------------------------------------


class _CaseWriter:
    """Puts a case into words, and says what grades an answer to it."""

    def __init__(self, rng: Random, generated: GeneratedKnowledgeBase, drawn: DrawnCase, split: str) -> None:
        self.rng, self.generated, self.drawn, self.split = rng, generated, drawn, split

    def case(self, seed: int, config: TicketsTierConfig) -> TicketCase:
        """The ticket with everything that grades an answer."""
        drawn = self.drawn
        found = drawn.settlement
        text = compose_ticket(self.messages(config.chatter), drawn.user.name, self.split, Draws(self.rng.randbytes(16)))
        handoff = self.handoff()
        context = self.context(config.context)
        return TicketCase(
            id=f"T-{seed}", text=text, kind=drawn.test, gold=found.gold, facts=found.facts, escalate=found.escalate,
            handoff=handoff, context=context,
            related=tuple([content.id for content in _relevant(self.generated, drawn.cell)]),
            reference=hand_over(found.queue, drawn.asset) if found.escalate else instructions(found.facts),
            evidence=self.evidence(text),
        )  # fmt: skip

    def messages(self, chatter: int) -> list[Utterance]:
        """What the ticket says, in no order."""
        rng, drawn, split = self.rng, self.drawn, self.split
        cell = drawn.cell
        word, noun = cell.domain.version, cell.domain.noun
        out = [
            # Past cases have the first.
            Utterance("complaint", {"complaint": rng.choice(cell.complaint.plain[split][1:])}),
            Utterance("clue", {"clue": rng.choice(cell.cause.clue[split])}),
            self.asset_message(),
        ]
        if drawn.test == "wrong_premise" or rng.random() < BELIEF_SHARE:
            causes = [
                cause for cause in cell.complaint.causes if drawn.test != "wrong_premise" or cause is not cell.cause
            ]
            out.append(Utterance("belief", {"belief": rng.choice(rng.choice(causes).belief[split])}))
        if drawn.said_version:
            out.append(Utterance("version", {"version": drawn.said_version, "release_word": word, "noun": noun}))
        remarks = self.remarks()
        return out + rng.sample(remarks, min(chatter, len(remarks)))

    def remarks(self) -> list[Utterance]:
        """True things that are of no use."""
        drawn, registers, user = self.drawn, self.drawn.registers, self.drawn.user
        noun, asset = drawn.cell.domain.noun, drawn.asset
        out = [
            Utterance("remark_bought", {"noun": noun, "day": asset.bought}),
            Utterance("remark_department", {"noun": noun, "department": user.department}),
            Utterance("remark_manager", {"noun": noun, "manager": user.manager}),
            Utterance("remark_today", {"noun": noun, "day": registers.today}),
        ]
        near = [person.name for person in registers.people.values() if person.site == user.site and person != user]
        if near:
            out.append(
                Utterance("remark_colleague", {"noun": noun, "colleague": self.rng.choice(near), "site": user.site})
            )
        return out

    def asset_message(self) -> Utterance:
        """What the ticket is about, as its writer refers to it."""
        asset, noun = self.drawn.asset, self.drawn.cell.domain.noun
        if self.drawn.reference == "tag":
            return Utterance("asset_tag", {"noun": noun, "tag": asset.tag})
        if self.drawn.reference == "nickname":
            return Utterance("asset_nickname", {"noun": noun, "nickname": asset.nickname, "site": asset.site})
        if self.drawn.reference == "product":
            return Utterance("asset_product", {"noun": noun, "product": asset.product})
        return Utterance("asset_own", {"noun": noun})

    def handoff(self) -> tuple[str, ...]:
        """Words that a hand-over must hold."""
        found = self.drawn.settlement
        if not found.escalate:
            return ()
        tag = self.drawn.asset.tag.lower()
        return (found.queue.lower(), tag) if found.queue else (self.drawn.asset.product.lower(), tag)

    # -- what is at hand -----------------------------------------------------------------------------------

    def context(self, size: int) -> tuple[str, ...]:
        """Gold and distractors, mixed: what might decide, then siblings, as many on each cause of the complaint.

        The cause that most documents are about would give the answer away without a look at the symptom.
        """
        rng, known = self.rng, self.generated.contents
        relevant = _relevant(self.generated, self.drawn.cell)
        chosen = [
            content for content in relevant if content.id in self.drawn.settlement.gold or self.may_decide(content)
        ]
        left = [content for content in relevant if content not in chosen]
        rng.shuffle(left)
        left.sort(key=lambda content: content.product == self.drawn.cell.product and content.status == APPROVED)
        counts = Counter({cell.cause_id: 0 for cell in self.family()})
        counts.update([cause for cause in map(self.cause_of, chosen) if cause])
        while counts and len(chosen) < size:
            rarest = min(counts, key=lambda cause: (counts[cause], rng.random()))
            found = next((content for content in reversed(left) if self.cause_of(content) == rarest), None)
            if found is None:
                del counts[rarest]
            else:
                counts[rarest] += 1
                left.remove(found)
                chosen.append(found)
        ids = [content.id for content in chosen]
        if len(ids) < size:
            ids += rng.sample([id for id in known if id not in ids], min(size, len(known)) - len(ids))
        rng.shuffle(ids)
        return tuple(ids)

    def cause_of(self, content: DocumentContent) -> str:
        """The cause that a document is about, if only by another document that it corrects."""
        corrected = content.amends.id if content.amends is not None else content.replaces
        other = self.generated.contents.get(corrected)
        return content.cause or (other.cause if other is not None else "")

    def may_decide(self, content: DocumentContent) -> bool:
        """Whether the answer may turn on a document besides its source: a rule, a correction, a rival that holds."""
        cell = self.drawn.cell
        own = {other.id for other in cell.contents}
        corrects = content.replaces in own or (content.amends is not None and content.amends.id in own)
        decides = content.decides and content.product == cell.product
        rival = content.cause == cell.cause_id and content.status == APPROVED and applies(content, self.drawn.facts)
        return bool(content.reserved or content.source[0] == cell.domain.version or corrects or decides or rival)

    def evidence(self, text: str) -> Evidence:
        """What grades an answer besides the facts that it must tell."""
        drawn, found = self.drawn, self.drawn.settlement
        contents = _relevant(self.generated, drawn.cell)
        worked = dict(_worked_out(drawn, self.generated))
        worked |= {c.id: _possible((c.amends.step,), drawn) for c in contents if c.amends is not None}
        wrong = {fact for facts in worked.values() for fact in facts}
        wrong |= {fact for content in contents for fact in _possible(content.avoided, drawn)}
        poisons = [p.step for other in self.family() for p in other.poisons if p.step is not None]
        documents = self.generated.base.documents
        records = tuple(self.records())
        known = _words_with_digits(" ".join([text, *records])).union(
            *[_words_of_document(documents[content.id].text) for content in contents]
        )
        return Evidence(
            wrong=tuple(sorted(wrong - set(found.facts))), poison=_possible(poisons, drawn), worked=worked,
            known=known,
            registers=drawn.registers, tag=drawn.asset.tag, records=records, replies=self.replies(),
        )  # fmt: skip

    def family(self) -> tuple[TroubleCell, ...]:
        """The cells of the complaint."""
        return next(family for family in self.generated.families if self.drawn.cell in family)

    def records(self) -> list[str]:
        """The entries of the registers that somebody would look up for this ticket."""
        drawn, registers = self.drawn, self.drawn.registers
        keys = [("people", drawn.user.name), *[("assets", each.asset.tag) for each in drawn.owned]]
        keys += [("contracts", each.contract.id) for each in drawn.owned]
        keys += [("products", each.asset.product) for each in drawn.owned]
        keys += [("sites", drawn.user.site)]
        return [
            record_line(register, row)
            for register, key in dict.fromkeys(keys)
            for row in look_up(registers, register, key)
        ]

    def replies(self) -> tuple[Reply, ...]:
        """What the user knows when asked."""
        drawn, asset = self.drawn, self.drawn.asset
        version = drawn.said_version or asset.version
        word = drawn.cell.domain.version
        out = [Reply(("version", "release", word), f"The {word} is {release(version)}.")]
        if drawn.hidden:
            number = drawn.facts[drawn.hidden]
            out.append(Reply((drawn.hidden,), f"The {drawn.hidden} figure is {number}.", needed=True))
        which = len(drawn.owned) > 1
        return (*out, Reply(("which", "tag", "asset", drawn.cell.domain.noun), f"I mean {asset.tag}.", needed=which))


_WITH_DIGIT = re.compile(r"[a-z0-9][\w./-]*\d[\w./-]*|\d[\w./-]*")


def _words_with_digits(text: str) -> frozenset[str]:
    return frozenset(_WITH_DIGIT.findall(text.lower()))


_words_of_document = lru_cache(maxsize=16384)(_words_with_digits)
