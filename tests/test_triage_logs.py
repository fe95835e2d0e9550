"""What is read of log files: formats, times, facts of texts, names, counts and the two windows."""

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warroom.triage.facts import FailureType, duration_in, facts_of, failure_of, level_of, mask, status_of
from warroom.triage.formats import FORMATS, bare_services, detect_formats
from warroom.triage.log_file import ParsedLog, read_log
from warroom.triage.log_stats import MAX_BUCKETS
from warroom.triage.log_templates import OTHER_LINES, TemplateIndex
from warroom.triage.service_names import ServiceNames
from warroom.triage.time_buckets import TimeBucket, bin_of, median_of
from warroom.triage.timestamps import TimeReference, format_time, read_split, timestamp
from warroom.triage.windows import find_rate_increase, log_likelihood_ratio, split

Reading = Callable[[str], ParsedLog]


@pytest.fixture
def read(tmp_path: Path) -> Reading:
    """Write a text as a log file, and read it."""

    def read(text: str) -> ParsedLog:
        path = tmp_path / "app.log"
        path.write_text(text)
        return read_log(str(path))

    return read


def templates_of(log: ParsedLog) -> set[tuple[str, str, str]]:
    return {(t.service, t.facts.level, t.text) for t in log.log_stats.templates.all.values() if t.lines}


# -- formats ----------------------------------------------------------------------------------------------

SAME = {
    "compose": "auth-service-1  | 2026-03-04T10:15:32.123Z ERROR disk is full",
    "compose, json": 'auth-service-1  | {"ts": "2026-03-04T10:15:32Z", "level": "error", "msg": "disk is full"}',
    "kubectl": "[pod/auth-service-7d9f8b6c5-x2x9q/app] 2026-03-04 10:15:32,123 ERROR disk is full",
    "json": '{"@timestamp": "2026-03-04T10:15:32Z", "service": {"name": "auth-service"}, "log.level": "ERROR", '
    '"message": "disk is full", "trace.id": "8f1c"}',
    "pino": '{"time": 1772619332000, "level": 50, "app": "auth-service", "msg": "disk is full", "pid": 7}',
    "logfmt": 'time=2026-03-04T10:15:32Z level=error service=auth-service msg="disk is full" pid=7',
    "timed": "2026-03-04 10:15:32.123 ERROR auth-service disk is full",
    "spring": "2026-03-04 10:15:32.123 ERROR [auth-service,4bf92f35,00f067aa] disk is full",
    "python": "2026-03-04 10:15:32,123 - auth-service - ERROR - disk is full",
    "time of day": "10:15:32 auth-service [error] disk is full",
    "syslog": "<131>Mar  4 10:15:32 host7 auth-service[71]: disk is full",
    "syslog 5424": "<131>1 2026-03-04T10:15:32Z host7 auth-service 71 - - disk is full",
    "page": "-2:15 ERROR auth-service disk is full",
    "plain": "auth-service ERROR: disk is full",
    "level first": "[ERROR] auth-service: disk is full",
}


@pytest.mark.parametrize("line", SAME.values(), ids=SAME.keys())
def test_every_format_says_the_same(read: Reading, line: str) -> None:
    assert templates_of(read(line + "\n")) == {("auth-service", "ERROR", "disk is full")}


def test_every_format_reads_its_own_example() -> None:
    for form in FORMATS:
        head = form.read(form.example, frozenset())
        assert head is not None and head.service, form.name
        assert head.text == ('"GET /cart HTTP/1.1" 502 17' if form.name == "access log" else "text"), form.name


@pytest.mark.parametrize("line", SAME.values(), ids=SAME.keys())
def test_the_format_of_most_first_lines_is_tried_first(line: str) -> None:
    chosen = detect_formats([line, line, "some words"], frozenset())[0]
    assert chosen.read(line, frozenset()) is not None


def test_docker_json_lines_hold_the_line_of_the_service(read: Reading) -> None:
    line = '{"log": "2026-03-04 10:15:32 ERROR disk is full\\n", "stream": "stdout", "time": "2026-03-04T10:15:33Z"}'
    log = read(f"auth-service-1 | {line}\n")
    assert {service for service, _, _ in templates_of(log)} == {"auth-service"}


def test_plain_words_are_services_where_different_words_follow() -> None:
    services = ["10:00:00 INFO cart saved it", "10:00:01 INFO cart read it", "10:00:02 WARN billing slow"]
    sentences = ["10:00:00 INFO order placed by 7", "10:00:01 INFO order placed by 9"]
    assert bare_services(services) == {"cart"}
    assert bare_services(sentences) == frozenset()
    assert bare_services(["10:00:00 billing WARN slow"]) == {"billing"}


def timed_of(service: str, second: int) -> str:
    return f"2026-03-04T10:{second // 60:02d}:{second % 60:02d}Z INFO {service} GET /{service} 200 in 15 ms\n"


def test_a_format_that_fits_a_file_reads_plain_names_in_every_line_of_it(read: Reading) -> None:
    text = "".join(timed_of(("cart", "gateway")[second % 2], second) for second in range(800))
    log = read(text + timed_of("orders", 801))
    assert log.unparsed_lines == 0 and log.names.writers == {"cart", "gateway", "orders"}


def test_sentences_in_the_place_of_a_service_are_not_read_as_one(read: Reading) -> None:
    log = read(timed_of("gateway", 1) * 9 + "2026-03-04T10:00:02Z ERROR failed to bind\n")
    assert log.unparsed_lines == 1 and log.names.writers == {"gateway"}


def test_plain_words_stay_words_where_hardly_a_line_names_a_service(read: Reading) -> None:
    log = read(timed_of("gateway", 1) + "".join(f"10:00:02 INFO order placed by {i}\n" for i in range(9)))
    assert log.unparsed_lines == 9


@pytest.mark.parametrize(
    ("answer", "level", "text"),
    [
        ('200 12 "-" "curl/8.5"', "INFO", '"GET /a HTTP/<n>" 200 <n>'),
        ("502 12", "ERROR", '"GET /a HTTP/<n>" 502 <n>'),
        ('502 - "-" "curl" upstream=cart', "ERROR", '"GET /a HTTP/<n>" 502 - upstream=cart'),
    ],
)
def test_access_logs_are_those_of_a_gateway(read: Reading, answer: str, level: str, text: str) -> None:
    line = f'10.0.0.1 - bob [04/Mar/2026:10:00:01 +0000] "GET /a HTTP/1.1" {answer}\n'
    assert templates_of(read(line)) == {("gateway", level, text)}


def test_lines_that_fit_nothing_are_counted_and_quoted(read: Reading) -> None:
    log = read("auth-service ERROR: a\n~~~ torn line\nauth-service ERROR: b\n===\n")
    assert log.unparsed_lines == 2 and log.examples[0] == (2, "~~~ torn line")
    assert log.log_stats.lines == 2


def test_a_mixed_file_is_read_line_by_line(read: Reading) -> None:
    log = read("10:00:00 ERROR auth-service a\nuser-db WARN: b\n10:00:02 ERROR auth-service c\n")
    assert log.formats == {"timed": 2, "plain": 1} and log.unparsed_lines == 0


def test_stack_traces_belong_to_the_line_before(read: Reading) -> None:
    log = read(
        "10:00:00 ERROR auth-service login failed\n"
        "java.lang.IllegalStateException: no session\n"
        "\tat shop.Auth.login(Auth.java:7)\n"
        "Caused by: java.net.SocketTimeoutException: user-db silent\n"
        "10:00:01 INFO auth-service next\n"
    )
    assert (log.log_stats.lines, log.continuation_lines, log.unparsed_lines) == (2, 3, 0)
    texts = {kind.text for kind in log.log_stats.templates.all.values() if kind.lines}
    assert "login failed <- java.lang.IllegalStateException: no session" in texts


def test_stack_traces_are_attached_within_their_own_service(read: Reading) -> None:
    log = read(
        "a-service-1 | 10:00:00 ERROR broke\n"
        "b-service-1 | 10:00:00 INFO fine\n"
        "a-service-1 | Caused by: shop.StockError: none left\n"
        "a-service-1 |   at shop.Stock.take(Stock.java:3)\n"
    )
    assert ("a-service", "ERROR", "broke <- Caused by: shop.StockError: none left") in templates_of(log)
    assert ("b-service", "INFO", "fine") in templates_of(log)


# -- files -----------------------------------------------------------------------------------------------


def refused(path: Path) -> str:
    with pytest.raises(ValueError, match=r".+") as error:
        read_log(str(path))
    return str(error.value)


def test_gzip_is_told_by_its_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "no_suffix"
    path.write_bytes(gzip.compress(b"auth-service ERROR: a\n" * 9))
    assert read_log(str(path)).log_stats.lines == 9


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"\x7fELF\x02\x01\x01\x00\x00\x00\x00" * 99, "binary file"),
        (b"PK\x03\x04rest", "a zip archive: unpack it first"),
        (b"\x28\xb5\x2f\xfdrest", "zstd data: unpack it first"),
        (gzip.compress(b"auth-service ERROR: a\n" * 9999)[:-30], "ends early"),
        (b"once upon a time\nthere was a king\n", "no format fits: the file begins with 'once upon a time'"),
    ],
)
def test_files_that_are_no_logs_are_refused_by_what_they_are(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    assert said in refused(path)


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "web.log").write_text("x")
    assert "name one log file" in refused(tmp_path) and "web.log" in refused(tmp_path)
    assert "no log file" in refused(tmp_path / "none.log")


def test_other_encodings_colours_and_line_ends_change_nothing(tmp_path: Path) -> None:
    text = "auth-service-1 | \x1b[31mERROR\x1b[0m größer als 7 ms\r\n" * 3
    found = []
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path = tmp_path / encoding
        path.write_bytes(text.encode(encoding))
        found.append(templates_of(read_log(str(path))))
    assert found == [{("auth-service", "ERROR", "größer als <n> ms")}] * 3


def test_a_line_without_end_is_cut_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "long.log"
    path.write_text("auth-service ERROR: " + "x" * 5_000_000 + "\nauth-service WARN: b\n")
    assert read_log(str(path)).log_stats.lines == 2


# -- times -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["2026-03-04 10:15:32Z", "2026/03/04 10:15:32Z", "2026-03-04T11:15:32+0100", "1772619332", "1772619332123"],
)
def test_ways_of_writing_one_moment_agree(text: str) -> None:
    assert read_split(text, TimeReference.ZONED, 1772619000, 1772620000) == 1772619332


def test_impossible_times_are_none() -> None:
    assert (
        timestamp("2026-13-04 10:15:32") is None
        and timestamp("25:61:00") is None
        and timestamp("Foo  4 10:15:32") is None
    )


def test_times_of_day_run_over_midnight(read: Reading) -> None:
    log = read("23:59:58 ERROR auth-service a\n00:00:03 ERROR auth-service b\n")
    assert log.log_stats.last - log.log_stats.first == 5
    assert format_time(TimeReference.TIME, log.log_stats.last) == "00:00:03"


def test_a_line_without_time_counts_at_that_of_the_line_before(read: Reading) -> None:
    log = read("10:00:00 ERROR auth-service a\nuser-db WARN: b\n10:00:09 ERROR auth-service c\n")
    assert sum(log.log_stats.between(36_000, 36_001).counts.values()) == 2


def test_times_with_and_without_a_zone_are_said_to_be_mixed(read: Reading) -> None:
    lines = "2026-03-04 10:00:00 INFO auth-service a\n2026-03-04 11:00:05+0100 INFO auth-service b\n"
    log_stats = read(lines).log_stats
    assert log_stats.zones_mixed and log_stats.last - log_stats.first == 5


def test_few_lines_of_a_wrong_clock_are_left_out(read: Reading) -> None:
    lines = [f"2026-03-04 10:{m:02d}:{s:02d} INFO auth-service ok" for m in range(10) for s in range(60)]
    log = read("\n".join(["1970-01-01 00:00:07 INFO user-db up", *lines]) + "\n")
    assert log.log_stats.outlying == 1 and log.log_stats.width <= 2


@given(st.sampled_from([TimeReference.ZONED, TimeReference.LOCAL]), st.integers(1_000_000_000, 2_000_000_000))
def test_what_is_said_of_a_time_is_read_as_that_time(clock: TimeReference, seconds: int) -> None:
    assert read_split(format_time(clock, seconds), clock, seconds - 5, seconds + 5) == seconds


@pytest.mark.parametrize(("text", "seconds"), [("-2:15", -105), ("-2", -120), ("+0:03", 3)])
def test_pages_are_split_by_their_minutes(text: str, seconds: int) -> None:
    assert read_split(text, TimeReference.PAGE, -900, 60) == seconds


# -- facts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("done in 123 ms", 123), ("took 1.2s", 1200), ("gave up after 30002ms", 30002), ("duration_ms=45.5", 45.5),
        ("elapsed=250us", 0.25), ("latency: 3 seconds", 3000), ("waited 2000 ms, took 12 ms", 12), ("7 rows", None),
        ("elapsed: 12", None), ("port 8080 open", None), ("5 messages sent", None),
    ],
)  # fmt: skip
def test_durations_have_units(text: str, milliseconds: float | None) -> None:
    found = duration_in(text)
    assert (found.milliseconds if found else None) == milliseconds


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ('"GET /a HTTP/1.1" 502 17', 502), ("status=200 bytes=500", 200), ("answered 503 after 400 ms", 503),
        ("status code: 404", 404), ("waited 500 ms", None), ("order 503 placed", None), ("code 12", None),
    ],
)  # fmt: skip
def test_statuses_stand_behind_words_that_announce_them(text: str, status: int | None) -> None:
    assert status_of(text) == status


@pytest.mark.parametrize(
    ("text", "level", "failure"),
    [
        ("call timed out", "WARN", FailureType.LATE), ("deadline exceeded", "ERROR", FailureType.LATE),
        ("connection refused", "ERROR", FailureType.REFUSED), ("status=503", "INFO", FailureType.REFUSED),
        ("status=504", "INFO", FailureType.LATE), ("status=404 failed", "WARN", FailureType.NONE),
        ("0 errors, no timeouts", "WARN", FailureType.NONE), ("timeout_ms=3000", "INFO", FailureType.NONE),
        ("recovered after timeout", "INFO", FailureType.NONE), ("error handler loaded", "INFO", FailureType.NONE),
        ("error=null", "WARN", FailureType.NONE), ("all well", "INFO", FailureType.NONE),
    ],
)  # fmt: skip
def test_failures_are_told_from_words_that_only_sound_like_them(text: str, level: str, failure: FailureType) -> None:
    assert failure_of(text, level, status_of(text)) == failure


def test_levels_come_from_the_level_word_and_else_from_the_text() -> None:
    assert level_of("warning", "x") == "WARN" and level_of("SEVERE", "x") == "ERROR"
    assert level_of("", "panic: x") == "ERROR" and level_of("", "fine") == "INFO"


def test_masks_take_what_differs_and_leave_names() -> None:
    assert mask("request 7f3a9c2e-1111-4222-8333-abcdefabcdef of 10.0.0.7:80") == "request <id> of <address>"
    assert mask("user 17 waited 3.5 ms at db1 and user-db-2") == "user <n> waited <n> ms at db1 and user-db-2"
    assert mask("status=503 bytes=17") == "status=503 bytes=<n>"


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.floats(0.01, 1e5))
def test_lines_that_differ_in_numbers_have_one_template(one: int, other: int, duration: float) -> None:
    templates = TemplateIndex()
    texts = [f"request {n} of user {n % 97} answered 200 in {duration:.2f} ms" for n in (one, other)]
    assert len({templates.match("a", "INFO", text).template.number for text in texts}) == 1


def test_lines_that_differ_in_status_or_name_have_two_templates() -> None:
    templates = TemplateIndex()
    texts = ["request 1 answered 200", "request 2 answered 503", "call to db1 failed", "call to db2 failed"]
    assert len({templates.match("a", "ERROR", text).template.number for text in texts * 2}) == 4


@given(st.lists(st.tuples(st.integers(1, 9999), st.integers(1, 99999)), min_size=1, max_size=30))
def test_durations_found_by_their_place_are_those_found_by_reading(numbers: list[tuple[int, int]]) -> None:
    templates = TemplateIndex()
    for request, milliseconds in numbers:
        text = f"request {request} served, status 200, {milliseconds} ms, retry in {request} ms"
        _, place = templates.match("a", "INFO", text)
        found = duration_in(text)
        assert place is not None and found is not None and place.duration(text).milliseconds == found.milliseconds


def test_builds_and_jobs_that_begin_are_noticed() -> None:
    started = [
        facts_of(mask(text), "INFO", None).started
        for text in ("deployed version 1.4.2", "nightly export job started", "starting full backup", "restarted")
    ]
    assert started[0].startswith("build") and all(what.startswith("job") for what in started[1:3]) and not started[3]


# -- names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "written", ["auth-service", "auth-service-1", "auth-service-7d9f8b6c5-x2x9q", "AUTH-service", "/auth-service"]
)
def test_copies_of_a_service_are_one(written: str) -> None:
    assert ServiceNames().canonical(written) == "auth-service"


@pytest.mark.parametrize("written", ["shop-cart-1", "shop_cart_1", "cart-7d9f8b6c5-x2x9q", "cartservice", "cart"])
def test_names_of_a_topology_are_found_in_what_platforms_make_of_them(written: str) -> None:
    assert ServiceNames(["cart", "cart-db"]).canonical(written) == "cart"


@pytest.mark.parametrize(
    ("text", "callee"),
    [
        ("timeout from auth-service", "auth-service"), ("auth did not answer", "auth-service"),
        ("GET http://cart:8080/items 500", "cart"), ("call to cart failed", "cart"), ("added to cart", ""),
        ("request from auth-service", ""), ("received order from auth-service", ""),
        ("cart-db lookup failed", "cart-db"), ("dial tcp: lookup cart-db.default.svc: no such host", "cart-db"),
        ("call to stock-service refused", "stock-service"), ("write-ahead queue is long", ""), ("gateway fine", ""),
    ],
)  # fmt: skip
def test_callees_are_names_that_are_called(text: str, callee: str) -> None:
    names = ServiceNames()
    for writer in ("gateway", "auth-service", "cart", "cart-db"):
        names.canonical(writer)
    assert names.callee_in("gateway", text) == callee


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("GET /checkout 504 upstream cart timed out after 3000 ms", True), ("call to cart failed", False),
        ("GET /login failed, no reply from auth-service in time", True), ("cart answered 504", False),
        ("request failed, status=503, upstream cart refused", True), ("status 503 from cart-db", False),
        ("POST /orders 502 from upstream cart", True), ("GET http://cart:8080/items 500", False),
        ("calling GET /items of cart-db", False), ("GET /items 500", False),
        ("client=10.0.0.7 GET /checkout 504 upstream=cart", True), ("http client: GET /items of cart-db failed", False),
    ],
)  # fmt: skip
def test_a_line_may_tell_of_a_request_and_of_a_call(text: str, own: bool) -> None:
    names = ServiceNames()
    for writer in ("gateway", "auth-service", "cart", "cart-db"):
        names.canonical(writer)
    assert names.states_own_request("gateway", text) == own
    assert names.states_own_request("gateway", f"(other lines) {names.summary_words('gateway', text)}") == own


# -- counts and windows --------------------------------------------------------------------------------------


@given(st.lists(st.floats(0.1, 1e6), min_size=1, max_size=200))
def test_medians_of_bins_are_within_a_bin_of_the_true_median(durations: list[float]) -> None:
    slice = TimeBucket()
    for duration in durations:
        slice.durations[bin_of(duration)] = slice.durations.get(bin_of(duration), 0) + 1
    low, high = sorted(durations)[(len(durations) - 1) // 2], sorted(durations)[len(durations) // 2]
    assert low / 1.12 <= slice.median({0}) <= high * 1.12


def test_the_median_of_nothing_is_zero() -> None:
    assert TimeBucket().median({0}) == 0.0 and median_of.__doc__


def test_a_likelihood_grows_with_the_rise_and_is_zero_without_one() -> None:
    assert log_likelihood_ratio(10, 100, 10, 100) == log_likelihood_ratio(20, 100, 5, 100) == 0.0
    assert 0 < log_likelihood_ratio(10, 100, 20, 100) < log_likelihood_ratio(10, 100, 40, 100)


@given(st.integers(60, 240), st.integers(0, 10_000))
def test_a_step_in_the_rate_is_found_where_it_is(step: int, seed: int) -> None:
    draw = random.Random(seed)
    counts = [sum(draw.random() < (0.02 if i < step else 0.3) for _ in range(10)) for i in range(300)]
    rise = find_rate_increase(counts)
    assert rise is not None and step - 12 <= rise.start <= step + 3
    assert rise.start + rise.length <= 300 and rise.length <= rise.start


def test_a_steady_rate_has_no_step() -> None:
    found = 0
    for seed in range(200):
        draw = random.Random(seed)
        found += find_rate_increase([sum(draw.random() < 0.05 for _ in range(20)) for _ in range(200)]) is not None
    assert found <= 10, "chance was promised at most one log in twenty"


def test_bursts_that_come_all_the_time_are_no_step() -> None:
    found = 0
    for seed in range(100):
        draw = random.Random(seed)
        found += find_rate_increase([12 if draw.random() < 0.08 else 0 for _ in range(200)]) is not None
    assert found <= 5


def test_short_and_timeless_logs_are_not_split(read: Reading) -> None:
    timeless = split(read("auth-service ERROR: a\n" * 50).log_stats)
    short = split(read("10:00:00 ERROR auth-service a\n10:00:09 ERROR auth-service b\n").log_stats)
    assert timeless.before is None and "no times" in timeless.how
    assert short.before is None and "fewer than 20" in short.how


def test_windows_are_of_equal_length_and_meet(read: Reading) -> None:
    lines = [f"10:{m:02d}:{s:02d} {'ERROR' if m > 6 else 'INFO'} auth-service x" for m in range(10) for s in range(60)]
    log_stats = read("\n".join(lines) + "\n").log_stats
    for chosen in (split(log_stats), split(log_stats, "10:07"), split(log_stats, "10:02:30")):
        assert chosen.before is not None and chosen.before[1] == chosen.now[0]
        assert chosen.before[1] - chosen.before[0] == chosen.now[1] - chosen.now[0]
    assert abs(split(log_stats).now[0] - split(log_stats, "10:07").now[0]) <= 4 * log_stats.width


@pytest.mark.parametrize(
    ("at", "said"), [("10:30", "the log runs from"), ("soon", "it has time of day"), ("7", "e.g.")]
)
def test_moments_that_are_not_in_the_log_are_refused(read: Reading, at: str, said: str) -> None:
    log_stats = read("".join(f"10:0{m}:00 INFO auth-service x\n" for m in range(9))).log_stats
    with pytest.raises(ValueError, match=said):
        split(log_stats, at)


def test_a_refused_moment_is_not_put_on_another_day(read: Reading) -> None:
    log_stats = read("".join(f"2026-03-04 10:{m:02d}:00 INFO auth-service x\n" for m in range(16))).log_stats
    with pytest.raises(ValueError, match="12:00") as error:
        split(log_stats, "12:00")
    assert "2026-03-04 10:00:00 to 2026-03-04 10:15:00" in str(error.value) and "03-03" not in str(error.value)


# -- memory ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_memory_is_bounded_whatever_the_texts_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each line has words of its own and a second of its own: the worst case for both bounds."""
    monkeypatch.setattr("warroom.triage.log_stats.COMPACTION_INTERVAL", 500)
    monkeypatch.setattr("warroom.triage.log_stats.MAX_TEMPLATES", 100)
    monkeypatch.setattr("warroom.triage.log_templates.MAX_TEMPLATES", 100)
    monkeypatch.setattr("warroom.triage.log_stats.MAX_ENTRIES", 1_000)
    path = tmp_path / "odd.log"
    with path.open("w") as file:
        for i in range(6_000):
            word = "".join(chr(97 + (i >> shift) % 16) for shift in (0, 4, 8, 12))
            file.write(f"{1772619332 + i} ERROR auth-service call to user-db failed for {word}\n")
    log_stats = read_log(str(path)).log_stats
    assert len(log_stats.templates.all) < 700 and len(log_stats.buckets) <= MAX_BUCKETS
    assert sum(slice.lines for slice in log_stats.buckets.values()) == log_stats.lines == 6_000
    merged = [kind for kind in log_stats.templates.all.values() if kind.text.startswith(OTHER_LINES)]
    assert sum(kind.lines for kind in merged) > 5_000
    assert all(log_stats.names.callee_in("auth-service", kind.text) == "user-db" for kind in merged)
