"""Outage wordings of the train split: trouble from outside, and openings and remedies."""

from warroom.sim.streams.outage_wording import Openings, OutageWording, Wordings

TRAIN_OUTSIDE: Wordings = {
    ("provider", ""): OutageWording(
        ("W payment partner responds 503 to every endpoint, its backup endpoint was tried and is one of them",
         "E partner outside reports an incident of its own, request cannot be parked until it ends",
         "W connection reset by the external provider after {ms} ms, the retry was reset as well",
         "E provider's sandbox answers, its live system does not; the request needs the live one"),
        ("W payment partner responds 503 to one endpoint, its backup endpoint was tried and is not that",
         "E partner outside reports an incident of its own, request can be parked until it ends",
         "W connection reset by the external provider after {ms} ms, the retry went well",
         "E provider's live system answers, its sandbox does not; the request needs the live one"),
    ),
    ("credential_stuffing", ""): OutageWording(
        ("W login attempts from {n} proxies with one password each, lockout hit a customer who had the right one",
         "E failed logins far above registered users; the throttle does not tell them from this customer",
         "W verification service flooded by guesses, a valid login waited behind guess {seq} and lapsed",
         "E address range of the guessers blocked, and this customer signs in from the same range"),
        ("W login attempts from {n} proxies with one password each, lockout hit none who had the right one",
         "E failed logins far above registered users; the throttle does tell them from this customer",
         "W verification service flooded by guesses, guess {seq} waited behind a valid login and lapsed",
         "E address range of the guessers blocked, and this customer signs in from another range"),
    ),
    ("leaked_token", ""): OutageWording(
        ("W token {seq} presented by an unknown device in bulk, rate limit reached for its rightful user",
         "E api key {seq} found in a public repository and abused, disabled under the feet of this caller",
         "W export by token {seq} is not what its owner ever does, owner's own call collided with it",
         "E session {seq} is used from two places; the one thrown out was the user"),
        ("W token {seq} presented by an unknown device in bulk, rate limit reached, not for its rightful user",
         "E api key {seq} found in a public repository and abused, disabled after this caller had a new one",
         "W export by token {seq} is not what its owner ever does, owner's own call came before it",
         "E session {seq} is used from two places; the one thrown out was not the user"),
    ),
    ("bad_input", ""): OutageWording(
        (),
        ("E request body violates the contract, 400 returned to its sender",
         "E MalformedJson at column {n}, sent so by the client",
         "E client supplied a date that does not exist, request not processed",
         "E unsupported value in a mandatory field, client error, stack trace omitted"),
    ),
    ("bad_input", "gateway"): OutageWording(
        (),
        ("E client sent invalid header line, 400",
         "E client intended to send too large body: {kb} kB",
         "E client sent plain HTTP request to HTTPS port",
         "E invalid method from client while reading request line"),
    ),
    ("bad_input", "db"): OutageWording(
        (),
        ("E syntax error at or near character {n}, statement as submitted by client",
         "E invalid input syntax for type date, value supplied by client",
         "E column does not exist, ad hoc statement of a client",
         "E division by zero in a client's expression"),
    ),
    ("bad_input", "cache"): OutageWording(
        (),
        ("E WRONGTYPE operation against a key of another kind, client error",
         "E unknown command with {n} arguments from client",
         "E protocol error from client: unbalanced quotes",
         "E value is not an integer, INCR by a client on text"),
    ),
    ("bad_input", "queue"): OutageWording(
        (),
        ("E record of {kb} kB exceeds the maximum of its topic, producer at fault",
         "E unknown topic in a produce request, client misconfigured",
         "E record without key for a compacted topic, rejected as invalid",
         "E timestamp of record lies in the future, invalid, producer's clock"),
    ),
}  # fmt: skip

TRAIN_OPENINGS: Openings = {
    ("build", ""): ("I application build {object} started", "I serving from build {object} now",
                    "I build {object} passed its readiness probe"),
    ("build", "gateway"): ("I binary upgraded on the fly to {object}", "I master process runs {object}",
                           "I workers respawned from {object}"),
    ("build", "db"): ("I database system is ready, version {object}", "I migration {object} applied",
                      "I server upgraded to {object}, catalogue in step"),
    ("build", "cache"): ("I server initialized, version {object}", "I failover finished, master now on {object}",
                         "I module set of {object} loaded"),
    ("build", "queue"): ("I broker registered with version {object}", "I controlled restart into {object} complete",
                         "I feature level raised to {object}"),
    ("session", ""): ("I connection authorized, session {object}", "I session {object} begins a transaction",
                      "I session {object} set its application name"),
    ("prefix", ""): ("I local cache {object} populated", "I {object} reloaded, {n} thousand entries",
                     "I refresh of {object} scheduled and run"),
    ("prefix", "gateway"): ("I cache loader finished with {object}", "I zone {object} resized, entries carried over",
                            "I map {object} reloaded"),
    ("prefix", "db"): ("I cache area {object} prewarmed", "I invalidation messages for {object} processed",
                       "I {object} rebuilt by the maintenance worker"),
    ("prefix", "cache"): ("I keys under {object} imported from a dump", "I prefix {object} loaded afresh",
                          "I {n} thousand entries under {object} replaced"),
}  # fmt: skip

TRAIN_OPERATOR: dict[str, tuple[str, ...]] = {
    "restart": ("I restarted by an operator", "W shutdown asked for by an operator, starting again"),
    "rollback": ("I build {object} withdrawn by an operator", "W operator put back what ran before {object}"),
    "scale": ("I replicas added by an operator", "I operator asked for more hosts, joining"),
    "flush-cache": ("I prefix {object} emptied by an operator", "W operator dropped all under {object}, filling again"),
    "kill-query": ("I session {object} ended by an operator", "W operator cut session {object}"),
}
