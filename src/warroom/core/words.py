"""Facts of an incident in words, as reports and terminals show them."""

from collections.abc import Mapping


def facts_in_words(facts: Mapping[str, object], *, comma: str = ", ") -> str:
    """Names and values without those that are None; `comma` stands between the items of a list."""
    known = {name.replace("_", " "): value for name, value in facts.items() if value is not None}
    return ", ".join(f"{name} {_value_in_words(value, comma)}" for name, value in known.items())


def _value_in_words(value: object, comma: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return comma.join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
