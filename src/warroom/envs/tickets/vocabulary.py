"""What tickets are about: domains with their systems, symptoms, settings, and the words that all domains share.

Symptoms come in two registers, that of people (`plain`, in tickets) and that of experts (`technical`, in articles)
that hardly share a word. Each split has symptoms of its own.
"""

from typing import NamedTuple

from warroom.core.splits import Split


class ProductSystem(NamedTuple):
    """A kind of product, and the tool that its administrators type."""

    noun: str
    tool: str


class Symptom(NamedTuple):
    """One complaint in two registers."""

    technical: str
    plain: tuple[str, ...]


class SettingKey(NamedTuple):
    """A setting: its name, its unit and the range of its values."""

    name: str
    unit: str
    low: int
    high: int


class Domain(NamedTuple):
    """One field of work."""

    systems: tuple[ProductSystem, ...]
    symptoms: dict[Split, tuple[Symptom, ...]]
    keys: tuple[SettingKey, ...]


DOMAINS: dict[str, Domain] = {
    "networking": Domain(
        (
            ProductSystem("wireless bridge", "wbctl"),
            ProductSystem("branch router", "brctl"),
            ProductSystem("load director", "ldctl"),
        ),
        {
            Split.TRAIN: (
                Symptom(
                    "neighbour table overflow",
                    ("calls drop whenever the office fills up", "every meeting room loses sound around ten"),
                ),
                Symptom(
                    "asymmetric return path",
                    ("pages start to show and then stop half way", "files come in fast but nothing goes out"),
                ),
                Symptom(
                    "beacon interval mismatch",
                    ("my laptop keeps asking for the wifi again", "walking down the hall cuts me off"),
                ),
            ),
            Split.TEST: (
                Symptom(
                    "spanning loop after failover",
                    (
                        "everything blinks and then the whole floor is dark",
                        "the lamp on the wall box goes wild and we are out",
                    ),
                ),
                Symptom(
                    "fragment reassembly drop",
                    ("small mails go, anything with a drawing does not", "sending photos never ends"),
                ),
            ),
        },
        (
            SettingKey("hold-timer", "seconds", 20, 900),
            SettingKey("table-size", "entries", 300, 9000),
            SettingKey("window", "kilobytes", 16, 900),
        ),
    ),
    "security": Domain(
        (
            ProductSystem("malware filter", "mfctl"),
            ProductSystem("key escrow", "kectl"),
            ProductSystem("access proxy", "apctl"),
        ),
        {
            Split.TRAIN: (
                Symptom(
                    "revocation list parse failure",
                    ("a red warning covers the site we use daily", "it says danger before our own start page"),
                ),
                Symptom(
                    "inspection queue starvation",
                    ("opening a sheet takes as long as a coffee", "each double click waits and waits"),
                ),
                Symptom(
                    "false positive on packed binaries",
                    ("the program I installed is gone after lunch", "our label tool vanishes from the desktop"),
                ),
            ),
            Split.TEST: (
                Symptom(
                    "stale policy snapshot",
                    ("I was allowed in yesterday and today a wall", "the door page says no since I came back"),
                ),
                Symptom(
                    "escrow handshake rollback",
                    ("the disk wants a long number nobody has", "after the update it asks for a secret of 40 digits"),
                ),
            ),
        },
        (
            SettingKey("scan-depth", "levels", 2, 64),
            SettingKey("grace", "hours", 2, 96),
            SettingKey("verdict-ttl", "minutes", 5, 700),
        ),
    ),
    "cloud": Domain(
        (
            ProductSystem("object vault", "ovctl"),
            ProductSystem("job runner", "jrctl"),
            ProductSystem("message bus", "mbctl"),
        ),
        {
            Split.TRAIN: (
                Symptom(
                    "token bucket exhaustion",
                    ("the night report is still running at noon", "what took minutes now takes a morning"),
                ),
                Symptom(
                    "presigned address drift",
                    ("links we send are dead on arrival", "customers get a page about denied access"),
                ),
                Symptom(
                    "cold worker timeout",
                    ("the first try each day fails, the second is fine", "it wakes up slowly and then behaves"),
                ),
            ),
            Split.TEST: (
                Symptom(
                    "consumer group rebalance storm",
                    ("orders show up twice and then an hour late", "the screen of new bookings stands still in waves"),
                ),
                Symptom(
                    "lifecycle rule collision",
                    ("last month's scans are gone from the folder", "older pictures turn into grey boxes"),
                ),
            ),
        },
        (
            SettingKey("burst", "requests", 50, 5000),
            SettingKey("link-ttl", "minutes", 5, 700),
            SettingKey("warm-workers", "instances", 2, 90),
        ),
    ),
    "infrastructure": Domain(
        (
            ProductSystem("backup robot", "btctl"),
            ProductSystem("compute cluster", "ccctl"),
            ProductSystem("disk array", "dactl"),
        ),
        {
            Split.TRAIN: (
                Symptom(
                    "snapshot chain too deep",
                    ("we cannot get back anything since the weekend", "last night's copy never ended"),
                ),
                Symptom(
                    "path flap on takeover",
                    ("screens freeze for a minute and then race", "all machines hold their breath together"),
                ),
                Symptom(
                    "index rebuild stall",
                    ("we delete and delete and it stays full", "free space melts though nobody saves"),
                ),
            ),
            Split.TEST: (
                Symptom(
                    "clock step after migration",
                    ("two people see different times on one file", "the morning shift's entries land in yesterday"),
                ),
                Symptom(
                    "ballooning under reservation",
                    ("the machine is alone and still out of breath", "one window open and it crawls"),
                ),
            ),
        },
        (
            SettingKey("chain-limit", "snapshots", 3, 60),
            SettingKey("path-wait", "seconds", 5, 300),
            SettingKey("index-memory", "megabytes", 512, 9000),
        ),
    ),
    "identity": Domain(
        (
            ProductSystem("sign-on portal", "spctl"),
            ProductSystem("directory mirror", "dmctl"),
            ProductSystem("badge service", "bsctl"),
        ),
        {
            Split.TRAIN: (
                Symptom(
                    "assertion window skew",
                    ("I enter the right password and land where I began", "the login page goes in a circle"),
                ),
                Symptom(
                    "orphaned role binding",
                    ("the new colleague sees an empty share", "since I changed teams my folders are gone"),
                ),
                Symptom(
                    "audience claim mismatch",
                    ("the phone says no, the computer says yes", "it lets me in by browser but not by the app"),
                ),
            ),
            Split.TEST: (
                Symptom(
                    "nested group truncation",
                    ("half of our department lost the printer menu", "some of us are in and some are out, same job"),
                ),
                Symptom(
                    "badge cache inversion",
                    ("doors open for the one who left", "the gate beeps green for my old card only"),
                ),
            ),
        },
        (
            SettingKey("skew", "seconds", 10, 600),
            SettingKey("sync-every", "minutes", 5, 300),
            SettingKey("session-life", "hours", 2, 96),
        ),
    ),
    "applications": Domain(
        (
            ProductSystem("mail relay", "mrctl"),
            ProductSystem("ledger client", "lcctl"),
            ProductSystem("print hub", "phctl"),
        ),
        {
            Split.TRAIN: (
                Symptom(
                    "spooler worker deadlock",
                    ("it says done and nothing comes out", "twelve copies at once after an hour of none"),
                ),
                Symptom("cursor pool exhaustion", ("the order mask stays grey", "saving an invoice turns for ever")),
                Symptom(
                    "locale fallback mismatch",
                    ("sums show with dots where commas belong", "the month names are in another language"),
                ),
            ),
            Split.TEST: (
                Symptom(
                    "deferred queue inversion",
                    ("answers reach me before the questions", "mails of Monday arrive on Wednesday"),
                ),
                Symptom(
                    "template cache poisoning",
                    ("letters carry the head of another firm", "my offer went out with someone else's logo"),
                ),
            ),
        },
        (
            SettingKey("workers", "threads", 2, 64),
            SettingKey("retry-after", "minutes", 5, 700),
            SettingKey("page-size", "rows", 20, 5000),
        ),
    ),
}
"""Six fields of work with three systems each."""

VERBS = ("rebind", "reload", "purge", "resync", "rotate", "detach", "reseed", "promote", "drain", "relink")
PROCEDURES = ("anchor renewal", "tenant relink", "ledger rebuild", "trust reseed", "quota transfer")
HARDWARE = ("Aldux", "Brenner", "Corvia", "Delmark", "Ostrom", "Pellix")
SITES = ("Graz", "Lund", "Porto", "Tartu", "Ghent", "Brno", "Cork", "Turin")
TEAMS = ("core", "edge", "field", "platform")
SYLLABLES = (
    "bel",
    "dor",
    "fen",
    "gal",
    "hep",
    "jor",
    "kam",
    "lin",
    "mor",
    "nev",
    "pra",
    "qui",
    "ros",
    "sel",
    "tur",
    "vex",
)
TOPICS: dict[Split, tuple[tuple[str, str], ...]] = {
    Split.TRAIN: (
        ("payroll data", "it is the machine with everybody's payroll data"),
        ("patient records", "patient records are on it"),
        ("export-controlled drawings", "we keep export-controlled drawings there"),
        ("board mail", "this is board mail, the directors wait"),
    ),
    Split.TEST: (
        ("payroll data", "the payroll data of the whole plant sit on that box"),
        ("patient records", "patient records of two wards lie there"),
        ("export-controlled drawings", "the export-controlled drawings are stored on it"),
        ("board mail", "what stands still is board mail"),
    ),
}
"""What a policy may reserve for people: (as policies say it, as a ticket says it)."""
