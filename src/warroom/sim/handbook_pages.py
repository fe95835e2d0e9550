"""The pages of the handbook, rendered from the tables that casting and judgement use."""

from warroom.core.errors import UnknownName
from warroom.sim.families import FAMILIES
from warroom.sim.family import Family, SizeRule
from warroom.sim.rules import GROUND_RULES, VERDICTS

SIZES: dict[SizeRule, str] = {
    "new value": "the new value, in percent",
    "cut": "what is taken away, in percent of the old value, to one decimal",
    "rise": "what is added, in percent of the new value, to one decimal",
}
TERMS = {
    "share": "share of the service's requests that the change concerns, from 0 to 1; all of them if it names none",
    "load": "requests per second of the service, as shown now",
    "percent": "the new value of the setting, divided by 100",
    "capacity of the store": "requests per second that the store can serve; for a change of a cache, that of the store "
    "behind it, and so is the load",
}
RULES, CAUSES, READING = "rules", "causes", "reading"
TOPICS: tuple[str, ...] = (*FAMILIES, RULES, CAUSES, READING)


def handbook(topic: str) -> str:
    """A page of the handbook: that of a family, or `rules`, `causes` or `reading`."""
    if topic in FAMILIES:
        return _family_page(FAMILIES[topic])
    pages = {RULES: _rules_page, CAUSES: _causes_page, READING: _reading_page}
    if topic not in pages:
        raise UnknownName("topic of the handbook", topic, TOPICS)
    return pages[topic]()


def _family_page(family: Family) -> str:
    made_by = " and ".join(family.agents) if family.agents else "colleagues"
    lines = [
        f"{family.name}: {family.about}. Made by {made_by}.",
        f"Setting: {family.setting.name}{_unit(family.setting.unit)}. Size: {SIZES[family.size]}.",
        f"Share of the requests that is hurt: {family.formula.text}; never below 0.",
        f"Shown by the running system: {family.lever.name}{_unit(family.lever.unit)}.",
    ]
    if family.modes.not_in_use:
        lines.append(f"In force if {family.modes.in_use}; no effect if {family.modes.not_in_use}.")
    if family.made_to == "cache":
        lines.append("The cache is changed, and the store behind it is hurt.")
    return "\n".join(lines)


def _unit(unit: str) -> str:
    return f", in {unit}" if unit else ""


def _rules_page() -> str:
    lines = [f"{ground}: {rule}" for ground, rule in GROUND_RULES.items()]
    lines.append(
        "Whoever's credential signed a change answers for it, by the charter of the signer. Colleagues have none."
    )
    lines.append("A change is judged as it was asked for. An approval never widens services, parts or hours.")
    return "\n".join(lines)


def _causes_page() -> str:
    return "\n".join([f"{label}: {meaning}." for label, meaning in VERDICTS.items()])


def _reading_page() -> str:
    lines = [f"{name}: {meaning}." for name, meaning in TERMS.items()]
    lines.append("A change whose rollout is paused does that part of its harm that the hosts with it are of all hosts.")
    lines.append("Where the ledger and the running system differ, the running system is right.")
    return "\n".join(lines)
