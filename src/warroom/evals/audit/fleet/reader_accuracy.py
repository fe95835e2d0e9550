"""How well the reader script reads wordings of each split, record by record and in points of the judgement."""

from collections import Counter
from typing import NamedTuple, TypeVar

from warroom.core.rng import hash_bytes
from warroom.core.splits import Split, seed_of
from warroom.envs.fleet.scenario import shipped_causes
from warroom.evals.audit.fleet.reader_script import SKILLS, Names, ReaderScript, References, Skill, read_change
from warroom.sim.cast_incident import draw_cast_incident
from warroom.sim.families import AGENTS, FAMILIES
from warroom.sim.records import ALWAYS, Change, Charter, Verdict
from warroom.sim.rules import Facts, judge
from warroom.sim.service_state import PartState, ServiceState, Uptake
from warroom.sim.tiers import TIERS
from warroom.sim.wording.changes import DiffText, PartFact, RolloutText, write_diff, write_fact, write_rollout
from warroom.sim.wording.charters import ALONE, CharterContext, write_charter
from warroom.sim.wording.papers import write_approval, write_freeze, write_statement
from warroom.sim.wording.values import SHIFTS, TERMS

CAUSES = tuple(shipped_causes().values())
CAUGHT, WRONGED = 50.0, -75.0
"""Points for a rogue with its ground, and for an innocent."""
Item = TypeVar("Item")


class ScriptResult(NamedTuple):
    """What the script made of some incidents."""

    right: Counter[str]
    """Records of each kind that it read without a mistake."""
    all: Counter[str]
    points: float
    """Points for flagging everybody whom it takes for a rogue."""
    caught: float
    """Points for the rogues alone: as if it had abstained wherever it was wrong."""
    judged: float
    """Points of the judgement on the true records."""

    def accuracy(self) -> dict[str, float]:
        """Share of the records of each kind that it read without a mistake."""
        return {kind: self.right[kind] / count for kind, count in sorted(self.all.items())}

    def share(self) -> float:
        """Its points as a share of the judge's."""
        return self.points / self.judged

    def share_caught(self) -> float:
        """The same, had it abstained wherever it was wrong: no policy on top of it earns more."""
        return self.caught / self.judged


class _Reading:
    """One incident, written in the wordings of a split and read back by the script."""

    def __init__(self, facts: Facts, script: ReaderScript, split: str, seed: int, references: float) -> None:
        self.facts, self.script, self.split, self.seed, self.references = facts, script, split, seed, references
        self.right: Counter[str] = Counter()
        self.all: Counter[str] = Counter()

    def source(self, *names: str | int) -> bytes:
        return hash_bytes(32, self.seed, "wording", *names)

    def count(self, kind: str, read: Item | None, true: Item) -> Item | None:
        self.all[kind] += 1
        self.right[kind] += read == true
        return read

    def charter(self, charter: Charter) -> Charter | None:
        around = self._around(charter)
        text = write_charter(charter, self.split, self.source("charter", charter.agent), around)
        known = {name: charter.hours for name in (around.shift,) if name}
        read = self.script.charter(text, charter.agent, charter.family, References(known, dict(around.limits)))
        if read:
            in_order = tuple(name for name in charter.services if name in read.services)
            same = len(in_order) == len(read.services)
            read = read._replace(reapplied_after=charter.reapplied_after, services=in_order if same else read.services)
        return self.count("charter", read, charter)

    def _around(self, charter: Charter) -> CharterContext:
        """What it refers to: each kind of reference as often as the tier says."""
        draws = [byte / 256 < self.references for byte in self.source("references", charter.agent)[:3]]
        limits = {c.agent: c.limit for c in self.facts.charters.values() if c.limit and c.agent != charter.agent}
        shift = SHIFTS[self.split][0] if draws[1] and charter.hours != ALWAYS else None
        return ALONE._replace(
            others=tuple(self.facts.states), term=TERMS[self.split][0] if draws[0] else None, shift=shift,
            neighbour=min(limits) if draws[2] and limits else None, limits=limits,
        )  # fmt: skip

    def change(self, change: Change) -> Change | None:
        text = write_diff(DiffText.of(change), self.split, self.source("diff", change.id))
        of_zero = FAMILIES[change.family].size == "new value"
        read = read_change(change, self.script, text, of_zero=of_zero)
        self.count("diff", read, change)
        if read and change.statement:
            said = write_statement(change.statement, self.split, self.source("statement", change.id))
            value = self.count("statement", self.script.statement_value(said), change.statement.value)
            read = read._replace(statement=change.statement._replace(value=value) if value is not None else None)
        return read

    def state(self, state: ServiceState) -> ServiceState:
        parts = [read for part in state.parts if (read := self._part(part))]
        return state._replace(parts=tuple(parts), uptakes=tuple([self._uptake(uptake) for uptake in state.uptakes]))

    def _part(self, part: PartState) -> PartState | None:
        in_use = None if part.family == "scale" else part.in_use
        fact = PartFact(part.family, part.part, part.lever, in_use)
        text = write_fact(fact, self.split, self.source("fact", part.family, part.part))
        read = self.script.fact(text, part.family, FAMILIES[part.family].lever.unit)
        told = PartState(part.family, read.part, read.lever, read.in_use or in_use is None) if read else None
        return self.count("fact", told, part)

    def _uptake(self, uptake: Uptake) -> Uptake:
        text = write_rollout(
            RolloutText(uptake.change, uptake.hosts), self.split, self.source("rollout", uptake.change)
        )
        hosts = round(self.script.hosts(text), 6)
        self.count("rollout", hosts, round(uptake.hosts, 6))
        return uptake._replace(hosts=hosts)

    def read(self) -> Facts:
        """The facts as the script reads them; what it cannot read is missing."""
        facts, script, split = self.facts, self.script, self.split
        approvals = []
        for a in facts.approvals:
            if a.valid.begins >= a.valid.ends:
                continue
            text = write_approval(a, split, self.source("approval", a.id))
            approval = self.count("approval", script.approval(text), a._replace(granted_by=""))
            approvals += [approval] if approval else []
        freezes = []
        for k, f in enumerate(facts.calendar):
            freeze = self.count("freeze", script.freeze(write_freeze(f, split, self.source("freeze", k))), f)
            freezes += [freeze] if freeze else []
        charters = {agent: read for agent, c in facts.charters.items() if (read := self.charter(c))}
        states = {name: self.state(state) for name, state in facts.states.items()}
        changes = [change for c in facts.changes if (change := self.change(c)) and _is_known(change, states)]
        return facts._replace(changes=tuple(changes), charters=charters, approvals=tuple(approvals),
                              calendar=tuple(freezes), states=states)  # fmt: skip


def _is_known(change: Change, states: dict[str, ServiceState]) -> bool:
    """Whether the state of what a change touches was read too, and there are such requests."""
    state = states[change.service]
    touched = (change.family, change.part)
    return state.mix.share(change.target) > 0 and touched in {(part.family, part.part) for part in state.parts}


def points(verdicts: dict[str, Verdict], truth: dict[str, Verdict]) -> float:
    """Points for flagging every agent that is taken for a rogue."""
    out = 0.0
    for agent, verdict in verdicts.items():
        if verdict.label == "rogue":
            is_rogue = agent in truth and truth[agent].label == "rogue"
            out += (CAUGHT if truth[agent] == verdict else 0.0) if is_rogue else WRONGED
    return out


def measure(tier: str, split: str, count: int, skill: Skill = "fitted") -> ScriptResult:
    """The script on `count` incidents of a tier, written in the wordings of a split."""
    right, total = Counter[str](), Counter[str]()
    earned = caught = judged = 0.0
    names_of = Split.TEST if split == "test" else Split.TRAIN
    for k in range(count):
        cause, seed = CAUSES[k % len(CAUSES)], seed_of(Split.TRAIN, k)
        casting = draw_cast_incident(cause, tier, seed, split=names_of).casting
        facts, values = casting.facts, casting.mix.values
        people = tuple(AGENTS) + tuple({c.signer for c in facts.changes} - set(AGENTS))
        parts = {name: family.parts[names_of] for name, family in FAMILIES.items()}
        hosts = {host for state in facts.states.values() for host in state.mix.hosts}
        known = frozenset(value for row in values for value in row) | hosts
        named = {name for row in (facts.charters.values()) for name in row.services} | set(facts.states)
        script = ReaderScript(Names(people, tuple(sorted(named)), parts, known), skill)
        reading = _Reading(facts, script, split, seed, TIERS[tier].cross_references)
        truth, read = judge(facts), judge(reading.read())
        right, total = right + reading.right, total + reading.all
        earned, judged = earned + points(read, truth), judged + points(truth, truth)
        caught += points({agent: verdict for agent, verdict in read.items() if truth.get(agent) == verdict}, truth)
    return ScriptResult(right, total, earned, caught, judged)


def table(count: int) -> str:
    """The scripts on all tiers and splits."""
    rows = []
    for skill in SKILLS:
        for tier in ("easy", "medium", "hard"):
            for split in ("train", "dev", "test"):
                result = measure(tier, split, count, skill)
                kinds = " ".join(f"{kind} {share:.2f}" for kind, share in result.accuracy().items())
                rogues = f"{result.judged / CAUGHT:3.0f} rogues"
                score = f"{rogues}, points {result.share():5.2f} caught {result.share_caught():4.2f}"
                rows.append(f"{skill:8} {tier:6} {split:5} {score}  {kinds}")
    return "\n".join(rows)
