"""Outage wordings of the test split: trouble from outside, and openings and remedies."""

from warroom.sim.streams.outage_wording import Openings, OutageWording, Wordings

TEST_OUTSIDE: Wordings = {
    ("provider", ""): OutageWording(
        ("W vendor api sent 503, the standby vendor shares its network and its fate",
         "E third party silent for {ms} ms; asked once more, and it was silent",
         "W external api closed its end of {seq}; this op needs its word and has none",
         "E certificate of the vendor lapsed on every host of theirs, the one that this op uses included"),
        ("W vendor api sent 503, the standby vendor shares its network and not its fate",
         "E third party silent for {ms} ms; asked once more, and it was not silent",
         "W external api closed its end of {seq}; this op has its word and needs none",
         "E certificate of the vendor lapsed on one host of theirs, the one that this op uses excluded"),
    ),
    ("credential_stuffing", ""): OutageWording(
        ("W sign-in lane full of names from a leak: a genuine user was held up behind them",
         "E bad passwords by the thousand, one per account; the limiter shut out an account and with it its owner",
         "W challenge shown to everyone during a spray of logins, and user {seq} never got past it",
         "E hashing busy with passwords off a bot list, the right one of user {seq} was dropped and they were not"),
        ("W sign-in lane full of names from a leak: they were held up behind a genuine user",
         "E bad passwords by the thousand, one per account; the limiter shut out the sender and no account with it",
         "W challenge shown to some during a spray of logins, and user {seq} never got to see it",
         "E hashing busy with passwords off a bot list, they were dropped and the right one of user {seq} was not"),
    ),
    ("leaked_token", ""): OutageWording(
        ("W token {seq} pages through accounts like a machine: it had quota, its owner had none",
         "E key {seq} used on two continents within minutes: revoked, and the app it was issued to cut off",
         "W scopes of token {seq} tried one by one by a stranger; refused was the owner",
         "E bearer {seq} is in a public paste; its traffic tripled, and an op of someone else gave way"),
        ("W token {seq} pages through accounts like a machine: its owner had quota, it had none",
         "E key {seq} used on two continents within minutes: cut off, and the app it was issued to on a new one",
         "W scopes of token {seq} tried one by one by a stranger; refused was the stranger",
         "E bearer {seq} is in a public paste; its traffic tripled, and gave way to an op of someone else"),
    ),
    ("bad_input", ""): OutageWording(
        (),
        ("E op input without a member that the schema requires, handed back to the client",
         "E client posted {kb} kB of another media type than it declared, 415",
         "E query asks to sort by a column that nobody has, client told, nothing run",
         "E payload nested deeper than allowed, left unread, the fault is the sender's"),
    ),
    ("bad_input", "gateway"): OutageWording(
        (),
        ("E status=400 content length is not a number, as sent by the client",
         "E status=431 header block of {kb}k from one client, more than is read",
         "E status=405 verb not known to any route, client told which are",
         "E status=400 host header names nobody here, scanner by its look"),
    ),
    ("bad_input", "db"): OutageWording(
        (),
        ("E [parse] syntax error at position {n}, text is the client's",
         "E [bind] parameter count differs from the statement's, client told",
         "E [parse] no relation of that name, asked for by hand",
         "E [exec] literal out of range for its column, as the client wrote it"),
    ),
    ("bad_input", "cache"): OutageWording(
        (),
        ("E verb not known, nothing done, client told",
         "E GET of a list as if it were a string, as the client asked",
         "E arguments of a command are one short, reply says so",
         "E client named shard {n}, which this ring never had"),
    ),
    ("bad_input", "queue"): OutageWording(
        (),
        ("E item of {kb}k above what the topic admits, its sender told",
         "E enqueue to a topic that nobody declared, sender told",
         "E item without the key that a compacted topic wants, handed back to its sender",
         "E settle of an id that this group never had, client told"),
    ),
}  # fmt: skip

TEST_OPENINGS: Openings = {
    ("build", ""): ("I boot finished, artifact {object}", "I {object} takes ops from here on",
                    "I readiness passed under {object}"),
    ("build", "gateway"): ("I proxy image {object} past warming, accepting", "I listeners drained over to {object}",
                           "I epoch {n} runs {object}"),
    ("build", "db"): ("I [engine] up on {object}", "I [schema] catalogue now at {object}",
                      "I [engine] handover to {object} done"),
    ("build", "cache"): ("I shard process is {object} now", "I {object} joined the ring, slots taken over",
                         "I node upgraded to {object}"),
    ("build", "queue"): ("I broker node back with {object}", "I {object} leads its partitions again",
                         "I term {seq} began under {object}"),
    ("session", ""): ("I [session {object}] login ok", "I [session {object}] first statement of a transaction",
                      "I [session {object}] attached from the job host"),
    ("prefix", ""): ("I memo {object} rebuilt from its source", "I {object} primed, {n} k entries",
                     "I keys below {object} moved to a new generation"),
    ("prefix", "gateway"): ("I edge store {object} refilled", "I table {object} compiled anew, {n} k rows",
                            "I {object} warmed from a snapshot"),
    ("prefix", "db"): ("I [dict] {object} loaded, {n} k items", "I [plan] cache area {object} attached",
                       "I [result cache] {object} filled anew"),
    ("prefix", "cache"): ("I bulk fill of {object} ended, {n} k keys", "I region layout: {object} placed anew",
                          "I {object} imported from the nightly file"),
}  # fmt: skip

TEST_OPERATOR: dict[str, tuple[str, ...]] = {
    "restart": ("I on-call: process bounced", "W signal 15 from on-call, back up after it"),
    "rollback": ("I on-call: {object} taken off, prior artifact runs", "W reverted {object} by hand"),
    "scale": ("I on-call: capacity raised, newcomers warming", "W replica count changed by hand, upwards"),
    "flush-cache": ("I on-call: {object} cleared", "W {object} invalidated by hand, cold for now"),
    "kill-query": ("I on-call: [session {object}] put to an end", "W [session {object}] closed by hand"),
}
