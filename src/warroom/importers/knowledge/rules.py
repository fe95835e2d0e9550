"""Files of Prometheus rules: `groups:` as Prometheus reads it, and Kubernetes' PrometheusRule, alone or in a List."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from warroom.importers.knowledge.issues import ImportIssue
from warroom.importers.knowledge.yaml_texts import load_texts

SUFFIXES = frozenset({".yaml", ".yml"})
"""Ends of the files that are looked for in a folder."""
MAX_BYTES = 20_000_000
"""The largest file that is read; YAML takes about a second for a megabyte."""


class RuleFileIssue(StrEnum):
    """What is odd about a file of rules."""

    BROKEN_FILE = "broken_file"
    NO_RULES = "no_rules"
    BROKEN_RULE = "broken_rule"
    RECORDING_RULE = "recording_rule"


ISSUE_MESSAGES: dict[StrEnum, str] = {
    RuleFileIssue.BROKEN_FILE: "files that are no YAML, not UTF-8, unreadable or too big: left out",
    RuleFileIssue.NO_RULES: "YAML documents with neither groups: nor spec.groups: left out",
    RuleFileIssue.BROKEN_RULE: "groups and rules of another shape than Prometheus reads: left out",
    RuleFileIssue.RECORDING_RULE: "recording rules, which alert nobody: left out",
}


class AlertRule(NamedTuple):
    """An alerting rule, as far as it speaks to people."""

    name: str
    annotations: Mapping[str, str]
    """Templates stay as they are written; those that are no text are left out."""
    where: str
    """File and group, for a report."""


def rule_files(paths: Sequence[Path]) -> list[Path]:
    """The files themselves, and of each folder all YAML files below, sorted; a `ValueError` names what is not there."""
    found = [file for path in paths for file in _files(path)]
    if not found:
        raise ValueError(f"no file of rules given: name files or folders that hold {' or '.join(sorted(SUFFIXES))}")
    return list(dict.fromkeys(found))


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        # rglob follows no link to a folder, so it ends.
        return sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    if not path.is_file():
        raise ValueError(f"no file of rules {str(path)!r}: check the path (from {str(Path.cwd())!r})")
    return [path]


def read_alerts(
    files: Sequence[Path], issues: list[ImportIssue], on_progress: Callable[[int], None] = lambda count: None
) -> Iterator[AlertRule]:
    """All alerting rules of the files in order; adds what is odd to `met`."""
    for file in files:
        try:
            documents = _documents(file)
        except ValueError as error:
            issues.append(ImportIssue(RuleFileIssue.BROKEN_FILE, f"{file.name}: {error}"))
            documents = []
        for document in documents:
            yield from _alerts(document, file.name, issues)
        on_progress(1)


def _documents(file: Path) -> list[Any]:
    """The YAML documents of a file, a List's items among them."""
    try:
        if file.stat().st_size > MAX_BYTES:
            raise ValueError(f"over {MAX_BYTES / 1e6:.0f} MB")
        found = load_texts(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ValueError(str(error.strerror)) from error
    items = [document["items"] if _is_list(document) else [document] for document in found]
    return [document for some in items for document in some]


def _is_list(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("items"), list)


def _alerts(document: Any, file: str, issues: list[ImportIssue]) -> Iterator[AlertRule]:
    if document in (None, ""):
        return
    body = document if isinstance(document, dict) else {}
    spec = body.get("spec")
    groups = body.get("groups", spec.get("groups") if isinstance(spec, dict) else None)
    if not isinstance(groups, list):
        issues.append(ImportIssue(RuleFileIssue.NO_RULES, f"{file} (keys: {', '.join(map(str, body)) or 'none'})"))
        return
    for group in groups:
        yield from _alerts_of_group(group, file, issues)


def _alerts_of_group(group: Any, file: str, issues: list[ImportIssue]) -> Iterator[AlertRule]:
    if not (isinstance(group, dict) and isinstance(group.get("rules"), list)):
        issues.append(ImportIssue(RuleFileIssue.BROKEN_RULE, f"{file}: a group without a list of rules"))
        return
    where = f"{file}, {group.get('name')}"
    for rule in group["rules"]:
        if isinstance(rule, dict) and isinstance(rule.get("alert"), str) and rule["alert"].strip():
            yield AlertRule(rule["alert"].strip(), _annotations(rule), where)
        elif isinstance(rule, dict) and "record" in rule:
            issues.append(ImportIssue(RuleFileIssue.RECORDING_RULE, f"{where}: {rule['record']}"))
        else:
            issues.append(ImportIssue(RuleFileIssue.BROKEN_RULE, f"{where}: a rule with neither alert nor record"))


def _annotations(rule: Mapping[str, Any]) -> dict[str, str]:
    found = rule.get("annotations")
    pairs = found.items() if isinstance(found, dict) else ()
    return {str(name): value for name, value in pairs if isinstance(value, str)}
