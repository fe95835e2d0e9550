"""Laws of the phrases of the log environment."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from warroom.envs.logs.wordings import CLASSES, KEYWORDS, SIGNATURES, Texts

from warroom.core.splits import Split
from warroom.envs.logs import wordings

CALLS = ("TIMEOUT", "REFUSED", "TIMEOUT_BLIND", "REFUSED_BLIND")
REQUESTS = ("SERVED", "FAILED", "BACKGROUND")
LEAST = {"HOUSEKEEPING": (20, 10), "NUISANCE": (12, 6), "CHRONIC": (10, 5)}
STRUCTURAL: dict[str, Texts] = {
    name: getattr(wordings, name) for name in (*CALLS, *REQUESTS, "HOUSEKEEPING", "NUISANCE", "CHRONIC", "CLIENT")
}
CLASSES_OF_TEXTS: dict[str, Texts] = {**SIGNATURES, **STRUCTURAL}
SHARED = {
    "TIMEOUT": ("timed out", "timeout", "deadline"),
    "REFUSED": ("refused", "failed", "error"),
    "TIMEOUT_BLIND": ("timed out", "timeout", "deadline", "in time"),
    "REFUSED_BLIND": ("refused", "failed", "error"),
    "SERVED": ("status 20", "status=20", " 200 "),
    "FAILED": ("failed", "error"),
    "BACKGROUND": ("background", "job", "sync", "prefetch"),
    "CLIENT": ("request", "validation", "signature"),
}
"""Of a structural class, words that keep both parts readable: each text holds one."""
FUNCTION_WORDS = set(
    "a an and at by for from has in into is it its no not now of on one only per still the this to was with".split()
)


def texts(of: Texts) -> Iterator[str]:
    for part in (Split.TRAIN, Split.TEST):
        yield from of[part]


def words(lines: tuple[str, ...]) -> Counter[str]:
    found = re.findall(r"[a-z+]{2,}", re.sub(r"\{\w+\}", " ", " ".join(lines)).lower())
    return Counter(word for word in found if word not in FUNCTION_WORDS)


def holds(text: str, stems: tuple[str, ...]) -> bool:
    return any(stem in text.lower() for stem in stems)


def test_no_text_occurs_twice() -> None:
    counts = Counter(text for of in CLASSES_OF_TEXTS.values() for text in texts(of))
    assert [text for text, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("name", CLASSES_OF_TEXTS)
def test_each_class_has_enough_texts_in_two_disjoint_parts(name: str) -> None:
    of = CLASSES_OF_TEXTS[name]
    assert set(of) == {Split.TRAIN, Split.TEST}
    assert not set(of[Split.TRAIN]) & set(of[Split.TEST])
    train, test = LEAST.get(name, (8, 4))
    assert len(of[Split.TRAIN]) >= train
    assert len(of[Split.TEST]) >= test


@pytest.mark.parametrize("name", CLASSES_OF_TEXTS)
def test_placeholders_are_known_and_stand_at_most_once(name: str) -> None:
    known = {"n", "callee", "ms", "id"} if name in ("TIMEOUT", "REFUSED") else {"n", "ms", "id"}
    for text in texts(CLASSES_OF_TEXTS[name]):
        found = re.findall(r"\{(.*?)\}", text)
        assert set(found) <= known, text
        assert len(found) == len(set(found)), text
        assert text.count("{ms}") == text.count("{ms} ms"), text
        filled = text.format(n=7, callee="orders", ms=12, id="3fa9c1")
        assert "{" not in filled and "}" not in filled, text


@pytest.mark.parametrize("name", CLASSES_OF_TEXTS)
def test_lines_are_of_ordinary_length(name: str) -> None:
    assert [text for text in texts(CLASSES_OF_TEXTS[name]) if not 5 <= len(text.split()) <= 14] == []


@pytest.mark.parametrize("name", ["TIMEOUT", "REFUSED"])
def test_a_plain_caller_names_its_callee(name: str) -> None:
    assert all("{callee}" in text and "upstream" not in text for text in texts(STRUCTURAL[name]))


@pytest.mark.parametrize("name", ["TIMEOUT_BLIND", "REFUSED_BLIND"])
def test_a_blind_caller_says_upstream_only(name: str) -> None:
    assert all("upstream" in text for text in texts(STRUCTURAL[name]))


@pytest.mark.parametrize("name", REQUESTS)
def test_requests_and_background_work_state_a_duration(name: str) -> None:
    assert all("{ms} ms" in text for text in texts(STRUCTURAL[name]))


def test_a_status_tells_served_from_failed() -> None:
    assert all(re.search(r"\b20[0-9]\b", text) for text in texts(STRUCTURAL["SERVED"]))
    assert all(re.search(r"\b50[0-9]\b", text) for text in texts(STRUCTURAL["FAILED"]))


@pytest.mark.parametrize("name", SHARED)
def test_structural_classes_share_key_words_across_the_parts(name: str) -> None:
    assert [text for text in texts(STRUCTURAL[name]) if not holds(text, SHARED[name])] == []


def test_every_signature_class_has_keywords() -> None:
    assert tuple(KEYWORDS) == CLASSES == tuple(SIGNATURES)
    for stems in KEYWORDS.values():
        assert 4 <= len(stems) <= 8
        assert all(stem == stem.lower() for stem in stems)


@pytest.mark.parametrize("name", CLASSES)
def test_keywords_cover_their_class(name: str) -> None:
    stems, of = KEYWORDS[name], SIGNATURES[name]
    train = [holds(text, stems) for text in of[Split.TRAIN]]
    test = [holds(text, stems) for text in of[Split.TEST]]
    assert sum(train) >= 0.75 * len(train)
    assert sum(test) >= 0.5 * len(test)
    assert all(any(stem in text.lower() for text in of[Split.TRAIN]) for stem in stems)


@pytest.mark.parametrize("name", CLASSES)
def test_keywords_occur_in_no_other_class(name: str) -> None:
    others = {other: of for other, of in CLASSES_OF_TEXTS.items() if other != name}
    found = [
        (stem, other, text)
        for stem in KEYWORDS[name]
        for other, of in others.items()
        for text in texts(of)
        if stem in text.lower()
    ]
    assert found == []


@pytest.mark.parametrize("name", CLASSES)
def test_reserved_signatures_use_mostly_other_words(name: str) -> None:
    seen, reserved = words(SIGNATURES[name][Split.TRAIN]), words(SIGNATURES[name][Split.TEST])
    assert sum(count for word, count in reserved.items() if word in seen) < 0.4 * reserved.total()
