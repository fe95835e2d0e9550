"""Laws of the tables of trouble: what a new `.toml` file in `domains/` has to keep."""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from statistics import mean

import pytest

from warroom.envs.tickets.domains import (
    ACTIONS,
    SUFFIXES,
    Cause,
    Complaint,
    Domain,
    StepTemplate,
    all_causes,
    domains,
)
from warroom.envs.tickets.wording.forms import FORMS
from warroom.sim.wording.forms import SPLITS

DOMAINS = tuple(domains().values())
CAUSES = tuple(all_causes())
NEVER_IN_A_CLAUSE = re.compile(r"[.?!:;\"`{}<>\[\]|]")
FIRST_PERSON = {"I", "me", "my", "mine", "we", "us", "our"}
COMMON = set(
    "a an the and or but nor of in on at to from by for with without as than that this these those there then when "
    "while where which who whoever what whatever is are was were be been has have had does do did not no never "
    "only even still just it its one every each any all some more most less too so yet out up off over under "
    "after before once people person somebody someone something nothing everybody everyone".split()
)


def ids(domain: Domain) -> str:
    return domain.name


def cause_phrases(cause: Cause) -> Iterator[str]:
    for phrases in (cause.name, cause.clue, cause.finding, cause.belief):
        yield from chain.from_iterable(phrases.values())


def said_by_users(complaint: Complaint) -> Iterator[str]:
    yield from chain.from_iterable(complaint.plain.values())
    for cause in complaint.causes:
        yield from chain.from_iterable(cause.clue.values())


def clauses(domain: Domain) -> Iterator[str]:
    for complaint in domain.complaints:
        yield from chain.from_iterable(complaint.plain.values())
        for cause in complaint.causes:
            yield from cause_phrases(cause)


def all_phrases(domain: Domain) -> Iterator[str]:
    yield from clauses(domain)
    for complaint in domain.complaints:
        yield from chain.from_iterable(complaint.technical.values())


def procedures(domain: Domain) -> Iterator[Sequence[StepTemplate]]:
    for complaint in domain.complaints:
        yield from (cause.steps for cause in complaint.causes)
    yield from (follow_up.steps for follow_up in domain.follow_ups)


def steps(domain: Domain) -> Iterator[StepTemplate]:
    return chain.from_iterable(procedures(domain))


def repeated(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(map(str.lower, names)).items() if times > 1]


def fits(text: str, form: str) -> bool:
    return re.fullmatch(FORMS[form].pattern, text) is not None


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9'-]+", text.lower())


def stems(text: str) -> set[str]:
    return {re.sub(r"(ing|ed|es|s|ly)$", "", word) for word in words(text) if word not in COMMON}


def runs(text: str, length: int) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[k : k + length]) for k in range(len(found) - length + 1)}


@pytest.mark.parametrize("domain", DOMAINS, ids=ids)
def test_a_domain_is_large_enough(domain: Domain) -> None:
    assert len(domain.teams) == 3 and len(domain.products) >= 5 and len(domain.nicknames) >= 8
    assert domain.counts and domain.amounts and domain.follow_ups
    assert len(domain.complaints) >= 3
    for complaint in domain.complaints:
        assert 2 <= len(complaint.causes) <= 4, complaint.id


@pytest.mark.parametrize("domain", DOMAINS, ids=ids)
def test_each_split_has_phrases_enough(domain: Domain) -> None:
    for complaint in domain.complaints:
        for split in SPLITS:
            assert len(complaint.plain[split]) >= 3 and len(complaint.technical[split]) >= 2, (complaint.id, split)
            for cause in complaint.causes:
                assert len(cause.clue[split]) >= 4, (cause.id, split)
                for phrases in (cause.finding, cause.name, cause.belief):
                    assert len(phrases[split]) >= 2, (cause.id, split)


def test_no_phrase_occurs_twice() -> None:
    assert repeated(chain.from_iterable(map(all_phrases, DOMAINS))) == []


def test_names_are_unique_over_all_domains() -> None:
    products = chain.from_iterable(domain.products for domain in DOMAINS)
    sold = [f"{product} {suffix}".strip() for product in products for suffix in set(SUFFIXES)]
    assert repeated([*sold, *chain.from_iterable(domain.nicknames for domain in DOMAINS)]) == []
    assert repeated(domain.noun for domain in DOMAINS) == []
    assert repeated(domain.prefix for domain in DOMAINS) == []
    assert repeated(domain.queue for domain in DOMAINS) == []
    assert repeated(domain.teams[0] for domain in DOMAINS) == []
    assert repeated(cause.id for _, _, cause in CAUSES) == []
    assert repeated(follow_up.name for domain in DOMAINS for follow_up in domain.follow_ups) == []


@pytest.mark.parametrize("domain", DOMAINS, ids=ids)
def test_clauses_have_no_full_stop_and_survive_a_capital(domain: Domain) -> None:
    for clause in clauses(domain):
        assert not NEVER_IN_A_CLAUSE.search(clause) and clause == " ".join(clause.split()), clause
        assert FORMS["cap"].read(clause[0].upper() + clause[1:]) == clause, clause
        assert fits(clause, "clause"), clause


@pytest.mark.parametrize("domain", DOMAINS, ids=ids)
def test_what_users_say_can_be_reported_by_others(domain: Domain) -> None:
    """Threads quote it: "the user added that ..."; so nobody says "I" in it."""
    for complaint in domain.complaints:
        for phrase in said_by_users(complaint):
            assert not FIRST_PERSON & set(phrase.split()), phrase


@pytest.mark.parametrize("domain", DOMAINS, ids=ids)
def test_what_users_say_names_no_product(domain: Domain) -> None:
    for complaint in domain.complaints:
        for phrase in said_by_users(complaint):
            assert not [product for product in domain.products if product.lower() in phrase.lower()]


@pytest.mark.parametrize("domain", DOMAINS, ids=ids)
def test_what_articles_write_has_the_form_of_its_slot(domain: Domain) -> None:
    for complaint in domain.complaints:
        for phrase in chain.from_iterable(complaint.technical.values()):
            assert fits(phrase, "phrase") and (phrase[0].islower() or phrase.split()[0].isupper()), phrase
    for team in domain.teams:
        assert fits(team, "title"), team
    for product in domain.products:
        assert fits(product, "title") and not product.endswith(tuple(f" {suffix}" for suffix in set(SUFFIXES) - {""}))
    for nickname in domain.nicknames:
        assert fits(nickname, "phrase"), nickname
        assert nickname.startswith("the ") or nickname[0].isupper(), nickname
    for follow_up in domain.follow_ups:
        assert fits(follow_up.name, "phrase"), follow_up.name
    assert fits(domain.noun, "phrase") and fits(domain.version, "word")


@pytest.mark.parametrize("complaint", [each for domain in DOMAINS for each in domain.complaints], ids=lambda c: c.id)
def test_clue_and_finding_share_no_four_words_in_a_row(complaint: Complaint) -> None:
    for cause in complaint.causes:
        for clue in chain.from_iterable(cause.clue.values()):
            for told in chain(*cause.finding.values(), *cause.name.values()):
                assert not runs(clue, 4) & runs(told, 4), (clue, told)


@pytest.mark.parametrize("split", SPLITS)
def test_shared_words_do_not_tell_the_cause(split: str) -> None:
    """Whoever picks the cause whose finding and name share the most words with the clue is right about by chance."""
    hits, chances = [], []
    for complaint in chain.from_iterable(domain.complaints for domain in DOMAINS):
        told = [set(chain.from_iterable(map(stems, (*c.finding[split], *c.name[split])))) for c in complaint.causes]
        for k, cause in enumerate(complaint.causes):
            for clue in cause.clue[split]:
                shared = [len(stems(clue) & of) for of in told]
                hits.append((shared[k] == max(shared)) / shared.count(max(shared)))
                chances.append(1 / len(shared))
    assert mean(hits) <= mean(chances) + 0.05, (mean(hits), mean(chances))


@pytest.mark.parametrize("domain", DOMAINS, ids=ids)
def test_steps_have_what_their_kind_needs(domain: Domain) -> None:
    for step in steps(domain):
        if step.kind == "do":
            assert step.action in ACTIONS and len(step.objects) >= 3, step
        elif step.kind == "set":
            assert 0 < step.base[0] < step.base[1] and re.fullmatch(r"[A-Za-z%/]+", step.unit), step
        elif step.kind == "choose":
            assert len(step.options) >= 3, step
        elif step.kind == "run":
            assert len(step.commands) >= 3 and all(fits(command, "command") for command in step.commands), step
        else:
            assert step.kind in ("switch", "ask", "wait"), step
        assert (step.kind in ("set", "choose", "switch")) == bool(step.setting), step


@pytest.mark.parametrize("domain", DOMAINS, ids=ids)
def test_numbers_that_are_computed_have_their_terms(domain: Domain) -> None:
    for step in steps(domain):
        assert bool(step.counted) == (step.each > (0, 0)) and (not step.whole or step.counted), step
        assert not step.counted or step.counted in domain.counts, step
        assert not step.whole or domain.units[step.whole] == step.unit, step
    assert {step.counted for step in steps(domain)} >= set(domain.counts)
    assert {step.whole for step in steps(domain)} >= set(domain.amounts)
    assert all(amount // 8 > 0 for amounts in domain.amounts.values() for amount in amounts)


@pytest.mark.parametrize("domain", DOMAINS, ids=ids)
def test_every_cause_has_a_number_and_a_choice(domain: Domain) -> None:
    for complaint in domain.complaints:
        for cause in complaint.causes:
            kinds = {step.kind for step in cause.steps}
            assert 3 <= len(cause.steps) <= 4 and "set" in kinds, cause.id
            assert kinds & {"choose", "switch", "run"}, cause.id


@pytest.mark.parametrize("domain", DOMAINS, ids=ids)
def test_no_two_procedures_of_a_domain_share_a_setting_an_object_or_an_option(domain: Domain) -> None:
    assert repeated(step.setting for step in steps(domain) if step.setting) == []
    for name in ("objects", "options", "commands"):
        assert repeated(chain.from_iterable(getattr(step, name) for step in steps(domain))) == []


@pytest.mark.parametrize("domain", DOMAINS, ids=ids)
def test_no_object_is_a_part_of_another_of_its_step(domain: Domain) -> None:
    """ "Clear the call log store" would tell its reader to clear the call log, too."""
    for step in steps(domain):
        for one, other in itertools.permutations((*step.objects, *step.options, *step.commands), 2):
            assert not re.search(rf"\b{re.escape(one)}\b", other), (one, other)


@pytest.mark.parametrize("domain", DOMAINS, ids=ids)
def test_a_thing_that_is_counted_is_one_word_as_registers_are_read(domain: Domain) -> None:
    assert all(re.fullmatch(r"[A-Za-z]+", name) for name in domain.counts)


@pytest.mark.parametrize("domain", DOMAINS, ids=ids)
def test_settings_objects_and_options_are_written_as_frames_expect(domain: Domain) -> None:
    for step in steps(domain):
        assert not step.setting or (fits(step.setting, "phrase") and step.setting.split()[0] not in ("the", "a", "an"))
        assert all(fits(thing, "object") for thing in step.objects), step
        assert all(re.fullmatch(r"[A-Z][A-Za-z0-9 -]*", option) for option in step.options), step
