"""`warroom triage` as people and programs use it, on the logs of a small shop, on pastes, and on wrong input."""

import gzip
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import command
from warroom.cli import triage

FOUND, UNDETERMINED, INTERRUPTED = 0, 3, 130


# -- a shop that writes logs ---------------------------------------------------------------------------

CALLS = {
    "api-gateway": (("auth-service", 1.0), ("order-service", 0.6)),
    "auth-service": (("user-db", 1.2),),
    "order-service": (("order-db", 1.0), ("stock-service", 0.7)),
    "stock-service": (("stock-db", 1.0),),
}
"""Service to (callee, probability of a call)."""
OWN = {"api-gateway": 5, "auth-service": 20, "order-service": 25, "stock-service": 15}
"""Milliseconds of work; 8 for a database."""
ONSET = 0.6
"""Part of the time after which the trouble begins."""
START = datetime(2026, 3, 4, 10, tzinfo=UTC)


class Line(NamedTuple):
    second: float
    service: str
    level: str
    text: str


class Shop:
    """`fault` is (kind, service): lock and slow make it slow, crash makes half of its calls fail."""

    def __init__(self, fault: tuple[str, str], minutes: float, seed: int) -> None:
        self.fault, self.seconds, self.draw = fault, 60 * minutes, random.Random(seed)

    def lines(self, rate: float) -> list[Line]:
        """All lines of `rate` requests a minute, in order."""
        found: list[Line] = []
        second = 0.0
        while second < self.seconds:
            second += self.draw.expovariate(rate / 60)
            self.serve("api-gateway", second, found)
        return sorted(found)

    def serve(self, service: str, second: float, out: list[Line]) -> tuple[float, bool]:
        """One request of one service: (milliseconds, whether it failed)."""
        kind = self.fault[0] if second > ONSET * self.seconds and self.fault[1] == service else ""
        if kind == "crash" and self.draw.random() < 0.5:
            return 2.0, True
        took = OWN.get(service, 8) * self.draw.lognormvariate(0, 0.5) * {"lock": 25, "slow": 4}.get(kind, 1)
        failed = False
        for callee, probability in CALLS.get(service, ()):
            if self.draw.random() < probability:
                waited, bad = self.call(service, callee, second + took / 1000, out)
                took, failed = took + waited, failed or bad
        number, word = self.draw.randrange(10**5), "failed, status 500" if failed else "served, status 200"
        out.append(Line(second + took / 1000, service, "INFO", f"request {number} {word}, {took:.0f} ms"))
        self.chatter(service, second, out)
        return took, failed

    def call(self, service: str, callee: str, second: float, out: list[Line]) -> tuple[float, bool]:
        limit = 300 if callee.endswith("db") else 1000
        took, failed = self.serve(callee, second, out)
        if took > limit:
            out.append(Line(second + limit / 1000, service, "ERROR", f"call to {callee} timed out after {limit} ms"))
            return limit, True
        if failed:
            level, attempt = self.draw.choice(("ERROR", "WARN")), self.draw.randint(1, 3)
            text = f"call to {callee} failed: connection refused, attempt {attempt}"
            out.append(Line(second + took / 1000, service, level, text))
        elif self.draw.random() < 0.5:
            out.append(Line(second + took / 1000, service, "INFO", f"call to {callee} ok in {took:.0f} ms"))
        return took, failed

    def chatter(self, service: str, second: float, out: list[Line]) -> None:
        """What healthy services write all day."""
        if self.draw.random() < 0.02:
            out.append(Line(second, service, "WARN", f"slow client, {self.draw.randint(200, 900)} ms to read body"))
        if self.draw.random() < 0.004:
            out.append(Line(second, service, "ERROR", "could not parse header of a client: bad request"))


def as_compose(line: Line, at: datetime) -> str:
    return f"{line.service + '-1':<16}| {at.isoformat(timespec='milliseconds')} {line.level} {line.text}"


def as_json(line: Line, at: datetime) -> str:
    return json.dumps({"time": at.isoformat(), "level": line.level.lower(), "service": line.service, "msg": line.text})


def as_logfmt(line: Line, at: datetime) -> str:
    return f'ts={at.isoformat()} level={line.level.lower()} service={line.service} msg="{line.text}"'


def as_timed(line: Line, at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d} {line.level} {line.service} {line.text}"


def as_syslog(line: Line, at: datetime) -> str:
    return f"{at:%b %e %H:%M:%S} host7 {line.service}[71]: {line.level} {line.text}"


def as_page(line: Line, at: datetime) -> str:
    minutes, seconds = divmod(int((at - START).total_seconds()), 60)
    return f"{minutes - 20:+d}:{seconds:02d} {line.level} {line.service} {line.text}"


FORMS = {
    "compose": as_compose,
    "json": as_json,
    "logfmt": as_logfmt,
    "timed": as_timed,
    "syslog": as_syslog,
    "page": as_page,
}
LOCK, SLOW, CRASH, CALM = ("lock", "user-db"), ("slow", "stock-db"), ("crash", "stock-service"), ("", "")


def shop_log(
    fault: tuple[str, str], form: str = "compose", minutes: float = 20, rate: float = 60, seed: int = 1
) -> str:
    """The text of a log of the shop."""
    write = FORMS[form]
    lines = Shop(fault, minutes, seed).lines(rate)
    return "".join(write(line, START + timedelta(seconds=line.second)) + "\n" for line in lines)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Logs of the shop by fault."""
    folder = tmp_path_factory.mktemp("logs")
    for name, fault in (("lock", LOCK), ("slow", SLOW), ("crash", CRASH), ("calm", CALM)):
        (folder / name).write_text(shop_log(fault))
    return {path.name: path for path in folder.iterdir()}


# -- running it ----------------------------------------------------------------------------------------------

run = partial(command.run, "triage")
refused = partial(command.refused, "triage")


def found(*arguments: object, stdin: str | None = None, code: int = FOUND) -> dict[str, Any]:
    """The object that a program gets."""
    done = run(*arguments, "--json", stdin=stdin)
    assert done.exit_code == code, done.output
    result: dict[str, Any] = json.loads(done.stdout)
    return result


PASTE = """\
api-gateway ERROR: GET /login failed, no reply from auth-service in time (30001 ms)
auth-service WARN: connection pool to user-db exhausted, 50 of 50 in use
auth-service ERROR: call to user-db timed out after 10000 ms
user-db WARN: row lock held for 2900 ms, 14 sessions blocked
auth-service ERROR: call to user-db timed out after 10001 ms
api-gateway ERROR: GET /login failed, no reply from auth-service in time (30002 ms)
payment-db: [no logs]
"""


# -- what is found ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "root", "team"),
    [("lock", "user-db", "dba"), ("slow", "stock-db", "dba"), ("crash", "stock-service", "backend")],
)
def test_the_root_is_found_behind_louder_services(logs: dict[str, Path], name: str, root: str, team: str) -> None:
    result = found(logs[name])
    assert result["roots"] == [root] and result["team"] == team
    assert result["severity"] in ("P1", "P2", "P3") and result["confidence"] > 0.5
    assert result["remedy"] and result["evidence"] and result["decided_by"] == "a script (expert)"


def test_a_calm_log_is_calm(logs: dict[str, Path]) -> None:
    result = found(logs["calm"], code=UNDETERMINED)
    assert result["roots"] == [] and result["severity"] is None and not result["found"]
    assert run(logs["calm"]).exit_code == UNDETERMINED


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_the_format_of_a_log_changes_nothing(tmp_path: Path, form: str) -> None:
    path = tmp_path / "app.log"
    path.write_text(shop_log(CRASH, form, seed=2))
    result = found(path)
    assert result["roots"] == ["stock-service"] and result["read"]["unread"] == 0
    assert set(result["read"]["formats"]) == {form}


def test_services_may_have_any_names(tmp_path: Path) -> None:
    new = dict(
        zip(
            ["api-gateway", *OWN, "user-db", "order-db", "stock-db"],
            "edge-front edge-front p-svc q-svc r-svc s-db t-db u-db".split(),
            strict=True,
        )
    )
    text = shop_log(LOCK)
    for old, name in new.items():
        text = text.replace(old, name)
    path = tmp_path / "app.log"
    path.write_text(text)
    assert found(path)["roots"] == ["s-db"]


def test_lines_that_are_shown_stand_in_the_file_under_their_numbers(logs: dict[str, Path]) -> None:
    lines = logs["lock"].read_text().splitlines()
    shown = found(logs["lock"])["lines"]
    assert shown and all(lines[line["number"] - 1] == line["line"] for line in shown)
    assert any("call to user-db timed out" in line["line"] for line in shown)


def test_the_split_is_near_the_onset_and_is_reported(logs: dict[str, Path]) -> None:
    split = found(logs["crash"])["split"]
    onset = START + timedelta(minutes=20 * ONSET)
    chosen = datetime.fromisoformat(split["now"][0])
    assert abs(chosen - onset) < timedelta(minutes=1) and "rise most" in split["how"]
    assert split["before"][1] == split["now"][0]


@pytest.mark.parametrize("option", ["--split-at", "--since"])
def test_a_person_may_say_when_it_began(logs: dict[str, Path], option: str) -> None:
    result = found(logs["crash"], option, "10:12")
    assert result["split"]["now"][0] == "2026-03-04 10:12:00Z" and "as you said" in result["split"]["how"]
    assert result["roots"] == ["stock-service"]


def test_a_short_paste_is_triaged_under_an_assumption_that_is_said() -> None:
    result = found("-", stdin=PASTE)
    assert result["roots"] == ["user-db"] and result["team"] == "dba"
    assert result["split"]["before"] is None and "nothing to compare with" in result["split"]["how"]
    assert any("is assumed" in warning for warning in result["warnings"])
    assert "if the time before" in result["confidence_words"]
    assert not any("before" in sentence for sentence in result["evidence"]), "the assumed time is no evidence"


def test_severity_is_unknown_without_figures_of_the_gateway() -> None:
    done = run("-", stdin=PASTE)
    assert done.exit_code == FOUND
    assert "severity   unknown: no gateway figures: api-gateway reports only requests that failed" in done.output


def test_a_silent_service_is_part_of_the_system() -> None:
    assert "payment-db" in found("-", stdin=PASTE)["topology"]["services"]


def test_people_read_what_programs_read(logs: dict[str, Path]) -> None:
    result, output = found(logs["lock"]), run(logs["lock"]).output
    for said in (
        *result["roots"],
        result["severity"],
        result["team"],
        result["confidence_words"],
        result["split"]["how"],
    ):
        assert said in output
    assert "decided by a script (expert)" in output
    assert all(f"{line['number']}: {line['line']}" in output for line in result["lines"])


def test_a_gzipped_log_says_what_the_plain_one_says(logs: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "crash.gz"
    path.write_bytes(gzip.compress(logs["crash"].read_bytes()))
    assert found(path) | {"file": ""} == found(logs["crash"]) | {"file": ""}
    assert found("-", stdin=logs["crash"].read_text())["roots"] == ["stock-service"]


@pytest.mark.slow
def test_two_readings_are_the_same_to_the_byte(logs: dict[str, Path]) -> None:
    code = "import sys; from warroom.cli.app import main; sys.argv[1:] = ['triage', sys.argv[1], '--json']; main()"
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code, str(logs["lock"])], capture_output=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert outputs[0] == outputs[1]


def as_many_products_write() -> str:
    """A proxy's access log, JSON of a service, a store's own form, a collector: a compose project, each in its way."""
    draw, lines = random.Random(3), []
    for second in range(0, 1800, 5):
        at, broken = f"10:{second // 60:02d}:{second % 60:02d}", second >= 1200 and draw.random() < 0.4
        asked = f'"GET /cart/{draw.randrange(999)} HTTP/1.1" {502 if broken else 200} 17 "-" "curl"'
        stamp, took = f'"ts":"2026-03-04T{at}Z"', f'"duration_ms":{draw.randrange(3, 9)}'
        lines += [
            f"edge-proxy-1  | 10.0.0.{draw.randrange(9)} - - [04/Mar/2026:{at} +0000] {asked} upstream=cart:7070 31ms",
            f'cart-1        | {{"level":"info",{stamp},"msg":"get cart",{took},"peer":"redis"}}',
            f"jaeger-1      | span received {draw.randrange(99)}",
        ]
        if broken:
            failed = '"msg":"redis: i/o timeout after 2000ms","err":"dial tcp redis:6379: i/o timeout"'
            lines.append(f'cart-1        | {{"level":"error",{stamp},{failed}}}')
        if second % 60 == 0:
            lines.append(f"redis-1       | 1:M 04 Mar 2026 {at}.123 * Background saving started by pid {second}")
    return "\n".join(lines)


def test_products_that_write_each_in_their_own_way_are_read_together() -> None:
    result = found("-", stdin=as_many_products_write())
    assert result["roots"] == ["redis"] and result["severity"] == "P1" and result["read"]["unread"] == 0
    assert result["topology"]["services"] == {"edge-proxy": ["cart"], "cart": ["redis"], "redis": []}
    assert any("jaeger (telemetry)" in warning for warning in result["warnings"])


def test_what_cannot_be_told_is_called_that() -> None:
    done = run("-", stdin="auth-service ERROR: disk full\n")
    assert done.exit_code == UNDETERMINED and "cannot be told" in done.output
    assert "only auth-service writes here" in done.output


# -- what lines do not bear out ----------------------------------------------------------------------------------

UPSTREAM = "ERROR {gateway} GET /checkout 504 upstream {cart} timed out after 3000 ms"


def shop_of_plain_names(gateway: str = "gateway", cart: str = "cart") -> str:
    """Ten minutes, the last third of which three of four checkouts wait for a store that writes nothing."""
    lines = []
    for second in range(600):
        at = f"2026-03-04T10:{second // 60:02d}:{second % 60:02d}Z"
        broken = second >= 400 and second % 4 > 0
        lines += [f"{at} INFO {cart} GET /cart 200 in {15 + second % 7} ms"] if not broken else []
        lines += [f"{at} ERROR {cart} call to cart-db timed out after 2900 ms"] if broken else []
        served = UPSTREAM.format(gateway=gateway, cart=cart) if broken else f"INFO {gateway} GET /checkout 200 in 40 ms"
        lines.append(f"{at} {served}")
    return "\n".join(lines)


@pytest.mark.parametrize("names", [("api-gateway", "cart-service"), ("gateway", "cart")])
def test_requests_that_fail_for_their_upstream_are_failed_requests(names: tuple[str, str]) -> None:
    result = found("-", stdin=shop_of_plain_names(*names))
    assert result["severity"] == "P1" and result["roots"] == ["cart-db"] and result["read"]["unread"] == 0
    (users,) = [sentence for sentence in result["evidence"] if sentence.startswith("users:")]
    failed, handled = int(users.split()[1]), int(users.split()[3])
    assert failed >= 140 and handled < 2 * failed


@pytest.mark.parametrize(("failed", "severity"), [(1, "P1"), (2, "P1"), (0, "P3")])
def test_the_severity_of_a_paste_is_the_share_of_requests_that_fail(failed: int, severity: str) -> None:
    served = ["INFO api-gateway GET /checkout 200 in 40 ms"] * 4
    lost = [UPSTREAM.format(gateway="api-gateway", cart="cart-service")] * failed
    locked = ["ERROR cart-service call to cart-db timed out after 2900 ms"] * 3 + ["WARN cart-db lock wait, 12 blocked"]
    result = found("-", stdin="\n".join([*served, *lost, *locked]))
    assert result["severity"] == severity and result["roots"] == ["cart-db"] and result["cause"] == "locks"


def test_users_who_fail_are_trouble_though_no_root_stands_out() -> None:
    paste = "gateway INFO: GET /checkout 200 in 40 ms\n" + "gateway ERROR: GET /checkout 504 upstream timed out\n" * 4
    result, output = found("-", stdin=paste, code=UNDETERMINED), run("-", stdin=paste).output
    assert result["trouble"] and result["severity"] == "P1" and not result["found"]
    assert list(result["suspects"]) == ["gateway"] and result["confidence"] < 0.5
    assert "severity   P1" in output and "cannot be told" in output and "nothing in these lines" not in output


def test_a_log_of_which_much_was_not_read_is_judged_with_less_confidence() -> None:
    torn = shop_of_plain_names() + "\n~~~ torn" * 700
    result, output = found("-", stdin=torn), run("-", stdin=torn).output
    assert result["confidence"] <= 0.6 and "were not read" in result["confidence_words"]
    assert output.startswith("unread ") and "were not read" in result["warnings"][0]


def shop_without_links() -> str:
    """A gateway that names nobody, and a service whose calls of another fail since it crashes."""
    lines = []
    for second in range(600):
        at, broken = f"2026-03-04T10:{second // 60:02d}:{second % 60:02d}Z", second >= 400 and second % 4 > 0
        ended = "503 1499ms" if broken else "200 48ms"
        lines.append(f"{at} {'ERROR' if broken else 'INFO'} api-gateway POST /checkout {ended}")
        called = "ERROR order-service call to stock-service failed: connection refused"
        lines.append(f"{at} {called if broken else 'INFO order-service call to stock-service ok in 11ms'}")
        lines += [] if broken else [f"{at} INFO stock-service GET /stock 200 7ms"]
        lines += [f"{at} WARN stock-service worker exited with code 137"] if broken and second % 20 == 1 else []
    return "\n".join(lines)


def test_a_gateway_that_logs_no_calls_is_no_second_root() -> None:
    result = found("-", stdin=shop_without_links())
    assert result["roots"] == ["stock-service"] and result["severity"] == "P1"
    assert result["confidence"] <= 0.6 and "graph is disconnected" in result["confidence_words"]
    assert "no line links api-gateway with order-service, stock-service" in result["warnings"][0]


def test_a_topology_links_what_the_lines_do_not(compose: Path) -> None:
    result = found("-", "--topology", compose, stdin=shop_without_links())
    assert result["roots"] == ["stock-service"] and "disconnected" not in result["confidence_words"]
    assert result["confidence"] > 0.6


def test_a_cause_that_no_line_bears_out_is_called_unknown_and_has_no_remedy() -> None:
    paste = "checkout ERROR: could not connect to postgres\n" * 2 + "postgres ERROR: sorry, too many clients already\n"
    result, output = found("-", stdin=paste), run("-", stdin=paste).output
    assert (result["roots"], result["cause"], result["remedy"]) == (["postgres"], "unknown", None)
    assert "postgres (cause unknown)" in output and "restart" not in output


def test_a_remedy_without_a_cause_has_its_reason() -> None:
    result = found("-", stdin=shop_of_plain_names())
    assert result["cause"] == "unknown" and result["remedy"] and "calls time out" in result["remedy_reason"]


@pytest.mark.parametrize(
    "paste", [PASTE, "auth-service ERROR: disk full", "auth-service INFO: GET /a 200 in 7 ms", "api ERROR: no redis"]
)
def test_every_verdict_says_how_sure_it_is(paste: str) -> None:
    assert "\nconfidence " in run("-", stdin=paste).output


def test_an_access_log_tells_how_users_fare() -> None:
    line = '10.0.0.1 - - [04/Mar/2026:10:00:0{} +0000] "GET /a HTTP/1.1" {} 12 "-" "curl"\n'
    result = found("-", stdin=line.format(1, 200) + line.format(2, 502) * 2, code=UNDETERMINED)
    assert result["trouble"] and result["severity"] == "P1" and result["read"]["formats"] == {"access log": 3}


# -- topologies and owners ---------------------------------------------------------------------------------------

COMPOSE = """
services:
  api-gateway: {image: nginx, ports: ["80:80"], depends_on: [auth-service, order-service]}
  auth-service: {build: ., depends_on: [user-db]}
  order-service: {build: ., depends_on: [order-db, stock-service]}
  stock-service: {build: ., depends_on: [stock-db]}
  user-db: {image: "postgres:16"}
  order-db: {image: "postgres:16"}
  stock-db: {image: "postgres:16"}
"""


@pytest.fixture
def compose(tmp_path: Path) -> Path:
    path = tmp_path / "compose.yaml"
    path.write_text(COMPOSE)
    return path


def test_an_inferred_topology_is_that_of_the_shop_and_is_called_inferred(logs: dict[str, Path]) -> None:
    topology = found(logs["calm"], code=UNDETERMINED)["topology"]
    wanted = {
        service: sorted(callee for callee, _ in CALLS.get(service, ()))
        for service in (*OWN, "user-db", "order-db", "stock-db")
    }
    assert topology["services"] == wanted
    assert topology["source"].startswith("inferred from the lines, which may miss calls")


def test_a_compose_file_and_what_was_imported_from_it_say_the_same(
    logs: dict[str, Path], compose: Path, tmp_path: Path
) -> None:
    imported = tmp_path / "topology.json"
    assert command.run("import", "topology", compose, "--out", imported).exit_code == 0
    results = [found(logs["crash"], "--topology", path) for path in (compose, imported)]
    assert results[0]["roots"] == results[1]["roots"] == ["stock-service"]
    assert results[0]["topology"]["services"] == results[1]["topology"]["services"]
    assert str(compose) in results[0]["topology"]["source"]


def test_a_service_that_the_topology_lacks_is_placed_by_its_lines(logs: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "compose.yaml"
    path.write_text(
        COMPOSE.replace(", stock-service]", "]")
        .replace("  stock-service: {build: ., depends_on: [stock-db]}\n", "")
        .replace('  stock-db: {image: "postgres:16"}\n', "")
    )
    result = found(logs["crash"], "--topology", path)
    assert result["roots"] == ["stock-service"]
    assert "stock-service" in result["topology"]["services"]["order-service"]


def test_a_compose_file_with_a_cycle_is_used_and_warned_of(logs: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "compose.yaml"
    path.write_text(
        COMPOSE.replace('user-db: {image: "postgres:16"}', 'user-db: {image: "postgres:16", depends_on: [api-gateway]}')
    )
    result = found(logs["lock"], "--topology", path)
    assert result["roots"] == ["user-db"]
    (warning,) = [warning for warning in result["warnings"] if "cycle" in warning]
    assert "left out user-db -> api-gateway" in warning


def test_inferred_calls_that_form_a_cycle_lose_the_one_that_the_fewest_lines_mention() -> None:
    lines = ["a-service ERROR: call to b-service failed"] * 5 + ["b-service ERROR: call to c-service failed"] * 4
    result = found("-", stdin="\n".join([*lines, "c-service WARN: call to a-service failed"]))
    assert result["topology"]["services"] == {"a-service": ["b-service"], "b-service": ["c-service"], "c-service": []}
    assert any("left out c-service -> a-service" in warning for warning in result["warnings"])


def test_a_topology_of_another_system_is_refused(logs: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "compose.yaml"
    path.write_text("services: {web: {image: nginx, depends_on: [mongo]}, mongo: {image: mongo}}")
    said = refused(logs["lock"], "--topology", path)
    assert "share no service" in said and "mongo, web" in said and "api-gateway" in said


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("owners.yaml", "user-db: storage\n"),
        ("owners.json", '{"user-db": "storage"}'),
        ("owners.csv", "service,team\nuser-db,storage\n"),
    ],
)
def test_owners_override_the_teams_by_kind(logs: dict[str, Path], tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert found(logs["lock"], "--owners", path)["team"] == "storage"


def test_an_owner_of_an_unknown_service_is_warned_of(logs: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "owners.yaml"
    path.write_text("user-dbb: storage\n")
    assert any("did you mean 'user-db'" in warning for warning in found(logs["lock"], "--owners", path)["warnings"])


@pytest.mark.parametrize(
    ("name", "text"),
    [("o.yaml", "- a\n"), ("o.yaml", "user-db: 7\n"), ("o.yaml", "a: [b"), ("o.csv", "a,b,c\n"), ("o.yaml", "")],
)
def test_owners_files_of_another_shape_are_refused(logs: dict[str, Path], tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert str(path) in refused(logs["lock"], "--owners", path)


# -- wrong input -------------------------------------------------------------------------------------------------


def test_the_help_teaches_by_example_and_lists_the_exit_codes() -> None:
    done = run("--help")
    text = " ".join(done.output.replace("│", " ").split())
    assert done.exit_code == 0 and "Example: warroom triage incident.log" in text
    assert "Exit codes: 0 root cause found, 2 invalid input, 3 no problem found or root cause undetermined" in text


def test_wrong_files_are_refused_with_what_was_got(tmp_path: Path) -> None:
    (tmp_path / "empty.log").write_text("")
    (tmp_path / "binary.log").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "prose.txt").write_text("Dear diary,\ntoday all was well.\n")
    assert "no log file" in refused(tmp_path / "none.log")
    assert "is empty" in refused(tmp_path / "empty.log") and "standard input is empty" in refused("-", stdin="")
    assert "is a binary file" in refused(tmp_path / "binary.log")
    assert "'Dear diary,'" in refused(tmp_path / "prose.txt") and "auth-service ERROR: text" in refused(
        tmp_path / "prose.txt"
    )
    assert "is a folder" in refused(tmp_path)
    assert "no topology file" in refused(tmp_path / "prose.txt", "--topology", tmp_path / "none.yaml")
    assert "no owners file" in refused(tmp_path / "prose.txt", "--owners", tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("expret", "did you mean 'expert'? (allowed: expert)"),
        ("nano", "models cannot read pasted logs yet"),
        ("hf:runs/mine/model", "models cannot read pasted logs yet"),
        ("oracle", "no policy for triage 'oracle'"),
    ],
)
def test_policies_that_cannot_judge_a_log_are_refused(policy: str, said: str) -> None:
    assert said in refused("-", "--policy", policy, stdin=PASTE)


@pytest.mark.parametrize(("at", "said"), [("11:30", "the log runs from"), ("soon", "cannot split this log at 'soon'")])
def test_moments_outside_of_the_log_are_refused(logs: dict[str, Path], at: str, said: str) -> None:
    assert said in refused(logs["crash"], "--split-at", at)


def test_lines_that_fit_nothing_are_warned_of() -> None:
    torn = PASTE + "~~~ torn\n"
    (warning,) = [warning for warning in found("-", stdin=torn)["warnings"] if "fit no format" in warning]
    assert warning.startswith("1 of 8 lines") and "line 8: '~~~ torn'" in warning


# -- long logs and interruptions -------------------------------------------------------------------------------------


def listen() -> None:
    """Hear Ctrl-C even where this suite runs in the background of a script, whose children are born deaf to it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
def test_ctrl_c_ends_it_quietly() -> None:
    command = [sys.executable, "-m", "warroom", "triage", "-"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, preexec_fn=listen)
    assert process.stdin is not None
    process.stdin.write(PASTE)
    process.stdin.flush()
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=20)
    assert process.returncode == INTERRUPTED and output == "" and "Traceback" not in errors


def test_a_bar_of_bytes_shows_only_on_a_screen_and_only_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(triage, "PATIENCE", 0.05)
    begun = time.monotonic()
    with triage.bytes_bar(100) as watch:
        watch(10)
        assert time.monotonic() - begun < 1
        time.sleep(0.1)
        watch(90)


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """50 MB of the shop's log."""
    path = tmp_path_factory.mktemp("long") / "long.log"
    block = shop_log(LOCK, minutes=60, rate=200)
    head = block[: len(block) // 10 * 6]
    with path.open("w") as file:
        file.write(head)
        while file.tell() < 50_000_000:
            file.write(block[len(head) :])
    yield path
    path.unlink()


PEAK = """
import resource, sys
from pathlib import Path
from warroom.triage.log_file import read_log
read_log(sys.argv[1])
status = Path("/proc/self/status")
if status.exists():  # what the system calls the maximum counts the process that this one was forked from
    print(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")))
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
"""Reads a log and prints the kilobytes of memory that it took at most."""


@pytest.mark.slow
def test_fifty_megabytes_take_bounded_memory_and_seconds(long_log: Path) -> None:
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", PEAK, str(long_log)], capture_output=True, text=True, check=True)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begun.ru_utime
    assert int(done.stdout) < 120_000, "kB at most, interpreter and libraries included"
    assert long_log.stat().st_size / spent > 3_000_000, f"{long_log.stat().st_size / spent:,.0f} bytes a second"


# -- real logs -----------------------------------------------------------------------------------------------------


def test_recordings_packed_as_csv_are_refused_rather_than_misread(realdata: Path) -> None:
    """Train Ticket's logs are JSON in CSV: a format of their own, that other commands read."""
    incident = sorted((realdata / "nezha_trainticket" / "incidents").iterdir())[0]
    (log,) = incident.glob("*_log.csv.gz")
    assert "no format fits" in refused(log)


@pytest.mark.slow
def test_real_log_texts_are_read_once_they_are_unpacked(realdata: Path, tmp_path: Path) -> None:
    """The same lines as `docker compose logs` would show them: all are read, and levels and services are found."""
    import csv

    csv.field_size_limit(10**9)
    incident = sorted((realdata / "nezha_trainticket" / "incidents").iterdir())[0]
    (log,) = incident.glob("*_log.csv.gz")
    path = tmp_path / "app.log"
    with gzip.open(log, "rt", newline="") as source, path.open("w") as out:
        for row in csv.DictReader(source):
            text = json.loads(row["Log"])["log"].rstrip("\n")
            out.writelines(f"{row['PodName']} | {line}\n" for line in text.split("\n"))
    done = run(path, "--json")
    assert done.exit_code in (FOUND, UNDETERMINED), done.output
    result = json.loads(done.stdout)
    assert result["read"]["unread"] == 0 and len(result["topology"]["services"]) > 10


def test_the_example_of_the_document_is_a_real_run() -> None:
    page = (Path(__file__).parents[1] / "docs" / "triage.md").read_text()
    shown = [line for line in run("-", stdin=PASTE).output.splitlines() if line]
    verdict = shown[: shown.index("why")]
    assert PASTE in page and "\n".join(verdict) in page
