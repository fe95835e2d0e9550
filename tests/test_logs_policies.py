"""Laws of the scripts that play log triage: what the diagnosis makes of figures, and how the policies play."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warroom.envs.logs.policies.diagnosis import Diagnosis, conclude
from warroom.envs.logs.policies.likelihood import EVIDENCE_PRICE, MOST, failure_evidence, latency_evidence
from warroom.envs.logs.policies.system_view import SystemView

from warroom.core.rng import stream
from warroom.core.scenario import TIERS
from warroom.core.splits import Split, seed_of
from warroom.core.types import Brief, ToolCall
from warroom.envs import episode_spec, make, suite
from warroom.envs.logs import wordings
from warroom.envs.logs.policies import POLICIES
from warroom.envs.logs.policies.expert import LogsExpert
from warroom.envs.logs.policies.keywords import CLIENT, class_of, is_complaint, is_job
from warroom.envs.logs.policies.naive import STRATEGIES
from warroom.envs.logs.views import (
    CallLogs,
    Catalogue,
    Gauge,
    Level,
    LogsObservation,
    Overview,
    Pair,
    Pattern,
    ServiceEntry,
    ServiceLogs,
)
from warroom.episode import Episode
from warroom.policies import policy_set
from warroom.rollout import play

SHOP = Catalogue((
    ServiceEntry("front", "gateway", "sre", ("login", "pay")),
    ServiceEntry("login", "service", "backend", ("users",)),
    ServiceEntry("pay", "service", "backend", ("ledger", "mail")),
    ServiceEntry("users", "db", "dba", ()),
    ServiceEntry("ledger", "db", "dba", ()),
    ServiceEntry("mail", "queue", "sre", ()),
))  # fmt: skip
MANY = 400.0
"""Requests of each service in a window."""
WELL = (0.0, 1.0)
ServiceImpact = dict[str, tuple[float, float]]
"""Service -> (share of the calls of it that fail, factor on their durations); all others are well."""


QUIET = Pair(0, 0)


def level(name: str, errors: Pair = QUIET) -> Level:
    return Level(name, Pair(4000, 4000), Pair(100, 100), errors)


def counted(share: float, busier: float = 1.0) -> tuple[Pair, Pair]:
    return Pair(MANY, MANY * busier), Pair(1, round(MANY * share) + 1)


def read(name: str, service_impact: ServiceImpact, late: int = 0, **more: object) -> ServiceLogs:
    """What a service's logs say when these services fail or are slow, as all of its callers see it."""
    share, slower = service_impact.get(name, WELL)
    handled, failed = counted(share)
    calls = []
    for callee in SHOP.entry(name).calls:
        failing, factor = service_impact.get(callee, WELL)
        calls.append(CallLogs(callee, *counted(failing), late, Pair(20.0, 20.0 * factor)))
    logs = ServiceLogs(level(name), handled, failed, Pair(40.0, 40.0 * slower), tuple(calls))
    return replace(logs, **more)  # type: ignore[arg-type]


def everything(service_impact: ServiceImpact, late: int = 0, **more: ServiceLogs) -> dict[str, ServiceLogs]:
    return {name: read(name, service_impact, late) for name in SHOP.names} | more


def diagnosed(service_impact: ServiceImpact, late: int = 0, **more: ServiceLogs) -> Diagnosis:
    return conclude(SHOP, everything(service_impact, late, **more))


def silent(name: str) -> ServiceLogs:
    return ServiceLogs(Level(name, None, None, None))


def wrote(
    name: str, service_impact: ServiceImpact, text: str, before: float = 0, now: float = 4, **more: object
) -> ServiceLogs:
    return read(name, service_impact, patterns=(Pattern("WARN", text, Pair(before, now)),), **more)


DEEP: ServiceImpact = {"front": (0.2, 1.0), "pay": (0.3, 1.0), "ledger": (0.35, 1.0)}
LATE: ServiceImpact = {"front": (0.0, 1.5), "pay": (0.0, 1.9), "ledger": (0.0, 3.5)}


# -- signs ----------------------------------------------------------------------------------------------


@given(st.integers(0, 400), st.integers(0, 400), st.integers(0, 20))
def test_more_failures_never_weigh_less(few: int, more: int, before: int) -> None:
    few, more = sorted((few, more))
    signs = [failure_evidence([Pair(before, now)], [Pair(400, 400)]) for now in (few, more)]
    assert signs[0] is not None and signs[1] is not None
    assert -EVIDENCE_PRICE <= signs[0].weight <= signs[1].weight <= MOST
    assert 0 <= signs[0].share <= signs[1].share <= 1


@given(st.floats(1, 1000), st.floats(1, 1000), st.floats(1, 500), st.floats(0, 0.5))
def test_a_change_is_known_the_better_the_more_was_counted(
    was: float, now: float, count: float, latency_jitter: float
) -> None:
    one = latency_evidence([Pair(was, now)], [Pair(count, count)], latency_jitter)
    more = latency_evidence([Pair(was, now)], [Pair(4 * count, 4 * count)], latency_jitter)
    assert one is not None and more is not None
    assert one.variance >= more.variance >= latency_jitter**2
    assert exp(one.change) == pytest.approx(now / was)


def test_nothing_counted_is_no_sign() -> None:
    assert failure_evidence([], []) is None and latency_evidence([], [], 0.1) is None
    assert failure_evidence([Pair(0, 0)], [Pair(10, 0)]) is None
    assert latency_evidence([Pair(0, 0)], [Pair(10, 10)], 0.1) is None


def test_failures_within_chance_do_not_speak_for_trouble() -> None:
    sign = failure_evidence([Pair(1, 3)], [Pair(400, 400)])
    assert sign is not None and sign.weight <= 0.5


# -- words ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", wordings.SIGNATURES)
def test_words_of_a_fault_are_known_by_their_kind(kind: str) -> None:
    told = [class_of(text) for text in wordings.SIGNATURES[kind][Split.TRAIN]]
    assert told == [kind] * len(told)


@pytest.mark.parametrize("name", ["TIMEOUT", "REFUSED", "TIMEOUT_BLIND", "REFUSED_BLIND"])
def test_complaints_about_others_are_no_words_of_a_fault(name: str) -> None:
    for text in getattr(wordings, name)[Split.TRAIN]:
        assert class_of(text) is None and is_complaint(text), text


@pytest.mark.parametrize("name", ["HOUSEKEEPING", "NUISANCE", "SERVED", "FAILED", "BACKGROUND", "CHRONIC", "CLIENT"])
def test_ordinary_lines_hold_no_words_of_a_fault(name: str) -> None:
    for text in getattr(wordings, name)[Split.TRAIN]:
        assert class_of(text) in (None, CLIENT), text


def test_builds_and_jobs_are_told_apart() -> None:
    assert is_job("job 4711") and not is_job("build 4711")


# -- where the trouble starts -----------------------------------------------------------------------------


@pytest.mark.parametrize("service_impact", [DEEP, LATE])
def test_the_deepest_service_in_trouble_is_the_root(service_impact: ServiceImpact) -> None:
    found = diagnosed(service_impact)
    assert found.roots == ("ledger",) and found.confidence > 0.9


@pytest.mark.parametrize(
    "service_impact", [{"front": (0.2, 1.0), "pay": (0.3, 1.0)}, {"front": (0, 1.6), "pay": (0, 2.4)}]
)
def test_a_service_whose_callees_are_well_is_the_root_itself(service_impact: ServiceImpact) -> None:
    assert diagnosed(service_impact).roots == ("pay",)


def test_the_gateway_is_the_root_when_no_call_fails() -> None:
    assert diagnosed({"front": (0.2, 1.0)}).roots == ("front",)


def test_a_root_without_logs_is_judged_by_its_callers() -> None:
    assert diagnosed(DEEP, ledger=silent("ledger")).roots == ("ledger",)


def test_a_caller_without_logs_hides_no_root_that_speaks_for_itself() -> None:
    assert diagnosed(LATE, pay=silent("pay")).roots in (("pay",), ("ledger",))


def test_errors_about_clients_accuse_nobody() -> None:
    loud = wrote("login", DEEP, "validation failed for request <id>: amount is negative", now=300)
    found = diagnosed(DEEP, login=replace(loud, level=level("login", Pair(0, 300))))
    assert found.roots == ("ledger",)
    assert diagnosed({}, login=loud).roots == ()


def test_steady_words_of_a_fault_accuse_nobody() -> None:
    steady = wrote("users", DEEP, "deadlock between two writers, one of them rolled back", before=4)
    assert diagnosed(DEEP, users=steady).roots == ("ledger",)


def test_background_work_that_drifts_accuses_nobody() -> None:
    assert diagnosed({}, users=read("users", {"users": (0.0, 3.0)})).roots == ()


def test_two_branches_in_trouble_have_two_roots() -> None:
    found = diagnosed(DEEP | {"login": (0.3, 1.0), "users": (0.4, 1.0)})
    assert sorted(found.roots) == ["ledger", "users"]
    assert found.teams == ("dba",)


def test_a_callee_that_its_callers_find_well_explains_nothing() -> None:
    shared = Catalogue((
        ServiceEntry("front", "gateway", "sre", ("a", "b")),
        ServiceEntry("a", "service", "backend", ("store",)),
        ServiceEntry("b", "service", "backend", ("store",)),
        ServiceEntry("store", "db", "dba", ()),
    ))  # fmt: skip
    handled, failed = counted(0.3)
    bad = [CallLogs(name, handled, failed, 0, Pair(20, 20)) for name in ("a", "b")]
    well = CallLogs("store", *counted(0.0), 0, Pair(20, 20))
    logs = ServiceLogs(level("front"), handled, failed, Pair(40, 40), tuple(bad))
    below = {name: ServiceLogs(level(name), handled, failed, Pair(20, 20), (well,)) for name in ("a", "b")}
    assert sorted(conclude(shared, {"front": logs} | below).roots) == ["a", "b"]


def test_calm_figures_mean_that_nothing_is_wrong() -> None:
    found = diagnosed({})
    assert (found.roots, found.teams, found.remedy, found.team, found.cause) == ((), (), "", "", "nothing")
    assert found.confidence > 0.9


def test_nothing_read_is_nothing_known() -> None:
    found = conclude(SHOP, {})
    assert found.roots == () and found.confidence == 0.0
    assert conclude(SHOP, {name: silent(name) for name in SHOP.names}).confidence == 0.0


def test_metrics_of_a_recording_accuse() -> None:
    busy = read("users", {}, gauges=(Gauge("cpu %", 3.0, 0.5, 95.0),))
    assert diagnosed({}, users=busy).roots == ("users",)


def test_calls_in_circles_and_strangers_are_borne() -> None:
    circle = Catalogue(
        (ServiceEntry("front", "gateway", "sre", ("a",)), ServiceEntry("a", "service", "backend", ("front",)))
    )
    stranger = CallLogs("b", *counted(0.5), 0, Pair(20, 20))
    logs = ServiceLogs(level("a"), *counted(0.5), Pair(20, 20), (stranger,))
    assert conclude(circle, {"a": logs}).roots in ((), ("a",), ("front",))


# -- what it is -----------------------------------------------------------------------------------------------


def cause(service_impact: ServiceImpact, root: ServiceLogs, late: int = 0) -> tuple[str, str, str]:
    found = conclude(SHOP, everything(service_impact, late) | {root.service: root})
    assert found.roots == (root.service,)
    return found.cause, found.remedy, found.team


PAY_FAILS: ServiceImpact = {"front": (0.2, 1.0), "pay": (0.3, 1.0)}
PAY_SLOW: ServiceImpact = {"front": (0.0, 1.6), "pay": (0.0, 2.4)}
SILENT = counted(0.0)[1]


def test_a_service_that_owns_up_to_nothing_has_crashed() -> None:
    assert cause(PAY_FAILS, read("pay", PAY_FAILS, failed=SILENT))[:2] == ("crash", "restart")


@pytest.mark.parametrize(("service_impact", "name"), [(PAY_FAILS, "bad release"), (PAY_SLOW, "slower release")])
def test_a_build_just_before_asks_for_a_rollback(service_impact: ServiceImpact, name: str) -> None:
    root = read("pay", service_impact, started=((-4, "build 812"),))
    assert cause(service_impact, root) == (name, "rollback", "backend")


def test_requests_that_nobody_sent_ask_for_room() -> None:
    root = read("pay", PAY_SLOW, handled=Pair(MANY, 2.2 * MANY))
    assert cause(PAY_SLOW, root, late=90)[1] == "scale"


def test_a_job_just_before_is_a_query_to_kill() -> None:
    assert cause(LATE, read("ledger", LATE, started=((-6, "job 7"),))) == ("long report", "kill-query", "dba")


def test_what_creeps_at_a_database_is_told_by_a_later_look() -> None:
    worse = LATE | {"ledger": (0.0, 4.6)}
    readings = everything(worse)
    found = conclude(SHOP, readings, earlier={"pay": read("pay", LATE)})
    assert found.roots == ("ledger",) and found.remedy == "flush-cache"
    assert conclude(SHOP, readings, earlier={"pay": read("pay", worse)}).remedy == "kill-query"


def test_a_provider_outside_is_for_sre_and_for_nobody_to_mend() -> None:
    root = wrote("pay", PAY_FAILS, "provider gateway answered 502 for request <id>")
    assert cause(PAY_FAILS, root) == ("provider", "", "sre")


def test_abuse_is_for_security() -> None:
    root = wrote("pay", PAY_FAILS, "wrong password for many accounts from network <n>", handled=Pair(MANY, 2 * MANY))
    assert cause(PAY_FAILS, replace(root, failed=Pair(1, 240))) == ("abuse", "", "security")


def test_what_comes_from_outside_is_told_by_what_it_does_when_its_words_are_unknown() -> None:
    provider = wrote("pay", PAY_FAILS, "foo answered bar on reference <n>")
    assert cause(PAY_FAILS, provider) == ("provider", "", "sre")
    abuse = replace(provider, handled=Pair(MANY, 2 * MANY), failed=Pair(1, 240))
    assert cause(PAY_FAILS, abuse) == ("abuse", "", "security")


def test_failures_that_no_callee_explains_are_a_root_of_their_own() -> None:
    found = diagnosed(DEEP | {"front": (0.8, 1.0)})
    assert sorted(found.roots) == ["front", "ledger"]


# -- the conclusion as a function --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("service_impact", "expected"),
    [({"front": (0.3, 1.0)}, "P1"), ({"front": (0.1, 1.0)}, "P2"), ({"front": (0.02, 1.0)}, "P3"),
     ({"front": (0.0, 4.0)}, "P1"), ({"front": (0.0, 2.0)}, "P2"), ({}, "P3")],
)  # fmt: skip
def test_severity_follows_the_rule(service_impact: ServiceImpact, expected: str) -> None:
    assert conclude(SHOP, {"front": read("front", service_impact)}).severity == expected


def test_severity_is_that_of_the_first_look() -> None:
    first, later = read("front", {"front": (0.1, 1.0)}), read("front", {"front": (0.6, 1.0)})
    assert conclude(SHOP, {"front": later}, earlier={"front": first}).severity == "P2"


def test_the_order_of_reading_does_not_matter() -> None:
    readings = everything(DEEP)
    assert conclude(SHOP, readings) == conclude(SHOP, dict(reversed(readings.items())))


def test_names_do_not_matter() -> None:
    new = dict(zip(SHOP.names, ("zeta", "beta", "omega", "alpha", "kappa", "psi"), strict=True))
    entries = [e._replace(name=new[e.name], calls=tuple(new[c] for c in e.calls)) for e in SHOP.entries]
    readings = {
        new[name]: replace(
            logs,
            level=logs.level._replace(service=new[name]),
            calls=tuple(row._replace(callee=new[row.callee]) for row in logs.calls),
        )
        for name, logs in everything(DEEP).items()
    }
    old, renamed = diagnosed(DEEP), conclude(Catalogue(tuple(entries)), readings)
    assert renamed.roots == tuple(new[root] for root in old.roots)
    assert (renamed.cause, renamed.remedy, renamed.teams) == (old.cause, old.remedy, old.teams)
    assert renamed.confidence == pytest.approx(old.confidence)


def test_the_evidence_quotes_the_figures_and_the_innocent_loud() -> None:
    overview = Overview((level("login", Pair(2, 90)), level("ledger")))
    said = conclude(SHOP, everything(DEEP), overview).evidence
    assert any("pay: 141 of 400 calls of ledger failed" in line for line in said), said
    assert any(line.startswith("login is loud (ERROR 2 -> 90)") for line in said)


@pytest.mark.parametrize("service_impact", [{}, DEEP, LATE, PAY_FAILS])
def test_probabilities_are_probabilities(service_impact: ServiceImpact) -> None:
    found = diagnosed(service_impact)
    assert 0 <= found.confidence <= 1
    assert all(0 <= share <= 1 for share in found.posterior.values())
    assert sum(found.posterior.values()) <= 1 + 1e-9


def test_trouble_reaches_those_above_it_and_nobody_else() -> None:
    system_view = SystemView(SHOP, {})
    assert system_view.affected_callers["ledger"] == system_view.transitive_callers["ledger"] == {"front", "pay"}
    assert system_view.affected_callers["front"] == frozenset()


# -- play -------------------------------------------------------------------------------------------------------

CORE, WHOLE = suite("logs", "core"), suite("logs", "full")


@cache
def played(policy: str, tier: str, scenarios: str, seeds: int) -> list[Episode]:
    return [
        play(episode_spec(name, tier, seed_of(Split.DEV, k)), policy_set("logs", policy))
        for name in suite("logs", scenarios)
        for k in range(seeds)
    ]


def per_cent(values: Iterable[bool | float | None]) -> float:
    known = [float(value) for value in values if value is not None]
    return 100 * sum(known) / len(known)


@pytest.mark.slow
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("policy", POLICIES)
def test_scripts_make_no_wrong_call_and_come_to_an_end(policy: str, tier: str) -> None:
    for episode in played(policy, tier, "full", 2):
        assert not any(step.refused for step in episode.steps)
        assert episode.steps[-1].tool in ("resolve", "ignore") or len(pages(episode)) == budget(episode)


def pages(episode: Episode) -> list[str]:
    acts = ("request_more_logs", "remediate", "resolve", "ignore")
    return [step.tool for step in episode.steps if step.tool in acts]


def budget(episode: Episode) -> int:
    return make(episode.scenario, episode.tier, episode.seed).budget


@pytest.mark.slow
@pytest.mark.parametrize("tier", TIERS)
def test_the_expert_finds_the_root(tier: str) -> None:
    bar = {"easy": 95, "medium": 92, "hard": 88}[tier]
    assert per_cent(e.outcome["root_cause"] for e in played("expert", tier, "core", 24)) >= bar


@pytest.mark.slow
@pytest.mark.parametrize("tier", TIERS)
def test_the_expert_is_far_above_the_heuristic(tier: str) -> None:
    expert, heuristic = ([e.score for e in played(p, tier, "core", 24)] for p in ("expert", "heuristic"))
    assert sum(expert) / len(expert) > sum(heuristic) / len(heuristic) + 0.4


@pytest.mark.slow
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("policy", ["loudest", "loudest_delta", "first_error", "keyword"])
def test_scripts_that_weigh_no_evidence_seldom_find_the_root(policy: str, tier: str) -> None:
    bar = {"easy": 55, "medium": 40, "hard": 30}[tier]
    assert per_cent(e.outcome["root_cause"] for e in played(policy, tier, "core", 24)) <= bar


def test_the_expert_declares_each_thing_once() -> None:
    for episode in played("expert", "medium", "core", 24):
        said = [(step.tool, str(step.arguments)) for step in episode.steps if step.tool not in pages(episode)]
        assert len(said) == len(set(said))
        assert [tool for tool, _ in said].count("classify_severity") <= 1


def test_the_same_incident_is_played_the_same_way() -> None:
    again = [
        play(episode_spec(e.scenario, e.tier, e.seed), policy_set("logs", "expert"))
        for e in played("expert", "hard", "core", 24)[:6]
    ]
    assert [e.trajectory_hash for e in again] == [e.trajectory_hash for e in played("expert", "hard", "core", 24)[:6]]


def maker(name: str) -> Callable[[Brief], object]:
    return lambda brief: POLICIES[name](brief, stream(1, "test"))


def test_the_expert_makes_up_for_calls_that_another_took_the_place_of() -> None:
    env = make(CORE[0], "easy", seed_of(Split.DEV, 3))
    expert = maker("expert")(env.brief("oncall"))
    assert isinstance(expert, LogsExpert)
    lost = ["classify_severity", "remediate"]
    while not env.done:
        call = expert.act(env.observe())
        if call.name in lost:
            lost.remove(call.name)
            call = ToolCall("request_more_logs", {"service": "all"})
        env.step(call)
    outcome = env.outcome()
    assert not lost and outcome["severity"] and outcome["team"] and outcome["solved"]


def test_a_false_alarm_is_ignored_without_a_word() -> None:
    for episode in played("expert", "easy", "full", 2):
        if episode.scenario == "logs/false_alarm":
            assert {step.tool for step in episode.steps} == {"request_more_logs", "ignore"}


@pytest.mark.parametrize("name", STRATEGIES)
def test_naive_scripts_close_alike(name: str) -> None:
    page = LogsObservation(1, 8, 0, level("all", Pair(4, 40)), ())
    script = POLICIES[name](Brief("logs", "oncall", "", (), (), ToolCall("x"), SHOP), stream(1, "test"))
    calls = [script.act(page)]
    while calls[-1].name not in ("resolve", "ignore"):
        calls.append(script.act(page))
    asked = [call for call in calls if call.name == "request_more_logs"]
    assert len(asked) <= 8
    closing = [call.name for call in calls if call not in asked]
    assert closing == ["classify_severity", "identify_root_cause", "escalate", "remediate", "resolve"]
