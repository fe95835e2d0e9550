"""What a failing component writes about itself, by class, and the word stems that mark each class."""

from collections.abc import Mapping

from warroom.core.splits import Split

Texts = Mapping[Split, tuple[str, ...]]
"""The texts of one class: a part for training and development, and a part that only the test draws from.

Placeholders, each at most once a text: `{n}` a number, `{callee}` a service, `{ms}` milliseconds, `{id}` a request.
"""

SIGNATURES: dict[str, Texts] = {
    "crash": {
        Split.TRAIN: (
            "worker {n} died without notice, respawning it now",
            "supervisor: process {n} gone, bringing up another one",
            "fatal: cannot continue, leaving with code 70",
            "worker killed by signal 9 while serving {id}",
            "main thread exited abnormally, supervisor starts it again",
            "fatal error in dispatcher thread, dumping core to disk",
            "container killed by the kernel, back up after {ms} ms",
            "child process died, {n} requests in flight were lost",
            "panic: nil pointer in goroutine {n}, process exited",
            "supervisor counts {n} exits in a row, backing off",
        ),
        Split.TEST: (
            "unhandled fault, runtime going down with a fatal trace",
            "instance vanished mid-request, watchdog launched a fresh one",
            "sigsegv at native frame, interpreter killed on the spot",
            "boot number {n} today, previous run ended unexpectedly",
            "listener panicked and every open connection was dropped",
        ),
    },
    "release": {
        Split.TRAIN: (
            "required setting payments.mode is missing, falling back to none",
            "setting for region not found in this build, request {id} aborted",
            "unknown field in stored record {n}, cannot decode it",
            "schema version {n} is not what this build expects",
            "handler raised on request {id} since the update",
            "new handler has no branch for type {n}, giving up",
            "field renamed in this version, old records fail to parse",
            "schema mismatch between code and table, column absent",
            "handler threw a type error in freshly deployed module",
            "build reads setting {n} as text, a number was expected",
        ),
        Split.TEST: (
            "undefined configuration property after rollout, handler bailed out",
            "entity layout older than the deployed code, schema check negative",
            "attribute error in revised controller, call {id} dropped",
            "environment variable unset, feature introduced today cannot start",
            "artifact {n} cannot interpret a field written by its predecessor",
        ),
    },
    "lock": {
        Split.TRAIN: (
            "lock wait exceeded, transaction {n} rolled back",
            "transaction chosen as deadlock victim, try it again",
            "blocked by transaction {n} for {ms} ms, still waiting",
            "could not obtain row lock within {ms} ms",
            "{n} transactions blocked on the same index page",
            "deadlock between two writers, one of them rolled back",
            "waiter {n} gave up on exclusive table lock",
            "waiters on one row grew to {n}, oldest holds on",
            "metadata lock held since {ms} ms by session {n}",
        ),
        Split.TEST: (
            "circular dependency among sessions, victim number {n} cancelled",
            "update stuck for {ms} ms, owner of the mutex never commits",
            "write {id} aborted: conflicting lock not granted in time",
            "contention on hot key, {n} commits stand in line",
            "select for update blocked, holder idle in transaction",
        ),
    },
    "saturation": {
        Split.TRAIN: (
            "connection pool exhausted, {n} callers still waiting",
            "request queue full at {n} entries, turning work away",
            "shedding load: request {id} turned away at the door",
            "backpressure on, producers paused for {ms} ms",
            "thread pool saturated, task {n} not accepted",
            "no free slot in queue after {ms} ms, request {id} dropped",
            "executor saturated with {n} tasks, newcomer discarded",
            "pool of workers busy, {n} requests wait for a thread",
            "backpressure signalled to callers, intake throttled",
        ),
        Split.TEST: (
            "concurrency limit of {n} reached, admission denied for {id}",
            "all executors occupied, capacity exhausted for the moment",
            "inbound buffer at its bound, queue overflow on shard {n}",
            "every handle checked out, borrowing took {ms} ms in vain",
            "brownout active: shedding optional work to stay alive",
        ),
    },
    "plan_cache": {
        Split.TRAIN: (
            "plan cache hit ratio falling, {n} misses this minute",
            "evicted {n} entries from plan cache within a minute",
            "stale plan in use for query {n}, row estimate off",
            "buffer hit ratio below target, disk reads up",
            "optimizer chose a nested loop for {n} rows",
            "query plan {n} recompiled again, parsing took {ms} ms",
            "hot pages evicted early, reads from disk climb to {n}",
            "optimizer histograms out of date for table {n}",
            "prepared query lost its plan, compiling from scratch",
        ),
        Split.TEST: (
            "cached execution strategy no longer suits data, {n} pages fetched",
            "plan for digest {n} regressed, physical input rising",
            "working set evicted, most lookups now go to storage",
            "misestimated cardinality: optimizer expected far fewer than {n}",
            "compiled queries discarded continually, warm share shrinking",
        ),
    },
    "report": {
        Split.TRAIN: (
            "statement {n} running for {ms} ms, not finished yet",
            "sequential scan over {n} rows for one report",
            "session {n} holds a snapshot open, cleanup cannot advance",
            "export of table {n} running, disk bandwidth taken",
            "long statement by reporting user, sort spilled to disk",
            "full scan of history partition {n} in progress",
            "cursor {n} open for {ms} ms, result only half read",
            "export session keeps {n} temporary files on disk",
            "oldest snapshot is {ms} ms old, dead rows pile up",
        ),
        Split.TEST: (
            "ad hoc aggregate reading whole archive, statement number {n}",
            "analyst query {n} monopolizes io, spilling into temp space",
            "snapshot pinned by one reader, vacuum held off",
            "unbounded select without index, scan passed {n} tuples",
            "bulk unload under way since {ms} ms, cpu taken by one session",
        ),
    },
    "leak": {
        Split.TRAIN: (
            "gc pause of {ms} ms, application stopped meanwhile",
            "heap after collection keeps growing, cycle {n}",
            "old generation nearly full after major collection {n}",
            "full gc number {n} freed almost nothing",
            "memory in use never falls back, {n} objects retained",
            "gc overhead high, most cpu goes to collecting",
            "heap close to its ceiling, allocation stalled {ms} ms",
            "resident memory grew again, {n} buffers not returned",
            "promotion into old generation failed, compacting for {ms} ms",
        ),
        Split.TEST: (
            "stop-the-world of {ms} ms, third within a minute",
            "live set larger after each sweep, heap headroom vanishing",
            "tenured space occupied by {n} sessions nobody uses",
            "allocator starved for {ms} ms, reclaim yields little memory",
            "concurrent mark could not keep up, gc fell back to serial",
        ),
    },
    "backlog": {
        Split.TRAIN: (
            "consumer lag on partition {n} still growing",
            "{n} messages pending, oldest waits since {ms} ms",
            "delivery is behind by {n} messages on this topic",
            "consumer group slower than producers, lag now {n}",
            "committed offset {n} far from head of the log",
            "pending deliveries doubled, redelivery timer armed",
            "subscriber {n} behind, broker keeps messages on disk",
            "undelivered events pile up on topic shard {n}",
            "consumer {n} acknowledged nothing for {ms} ms",
        ),
        Split.TEST: (
            "distance to newest event reads {n}, offset hardly moves",
            "mailbox depth rising, drain rate below arrival rate",
            "stream reader trailing, {n} items undelivered so far",
            "fan-out running late, age of first entry {ms} ms",
            "unprocessed notifications stand at {n}, dispatch falls behind",
        ),
    },
    "vendor": {
        Split.TRAIN: (
            "provider gateway answered 502 for request {id}",
            "partner endpoint did not reply within {ms} ms",
            "external api returned 503, attempt {n} of this call",
            "tls handshake with vendor gateway broke off",
            "external provider says quota is used up",
            "quota at partner spent, {n} calls declined today",
            "provider answered with an html error page for {id}",
            "external api certificate not trusted, call abandoned",
            "partner sandbox closed the connection after {ms} ms",
        ),
        Split.TEST: (
            "outside supplier unavailable, its status page shows an incident",
            "remote vendor api throttles us, 429 on reference {id}",
            "third-party endpoint silent for {ms} ms, giving up",
            "internet egress fine, yet provider resets each session",
            "contracted outside host presents an expired chain, vendor notified",
        ),
    },
    "abuse": {
        Split.TRAIN: (
            "{n} failed logins from one address range within a minute",
            "wrong password for many accounts from network {n}",
            "same token used from {n} hosts at once",
            "login from a country never seen for account {n}",
            "password attempts against {n} accounts, one client fingerprint",
            "account {n} suspended after repeated wrong password",
            "token {id} replayed from a second network",
            "login rate from one subnet is {n} times the usual",
            "credential pairs tried in alphabetical order from host {n}",
        ),
        Split.TEST: (
            "credential stuffing suspected, {n} usernames probed from one prefix",
            "bearer {id} presented on two continents simultaneously",
            "sign-in refused repeatedly, dictionary words as password",
            "unfamiliar country for administrator, second factor skipped",
            "authentication denials clustered in subnet {n}, rhythm looks scripted",
        ),
    },
    "slow_release": {
        Split.TRAIN: (
            "new code path took {ms} ms for request {id}",
            "stage enrich took {ms} ms, was a fraction before this build",
            "n+1 queries: {n} selects issued for one list",
            "extra serialization of response cost {ms} ms",
            "code path under the new switch is slow, {n} calls so far",
            "response stage serialized the same object {n} times",
            "extra round trip per row in rewritten loop, {ms} ms",
            "validation stage added in this build ran {ms} ms",
            "lazy loading issued {n} extra selects per page",
        ),
        Split.TEST: (
            "rewritten endpoint spends {ms} ms in its mapper stage",
            "orm fetched children one by one, {n} round trips",
            "payload encoded twice, extra copy lasted {ms} ms",
            "revision {n} walks the tree recursively on each code path",
            "fresh template engine renders {id} far less quickly",
        ),
    },
}
"""What a component writes about its own failure, by class; written by the root of an incident, if it speaks at all."""

CLASSES: tuple[str, ...] = tuple(SIGNATURES)
"""The signature classes in their order; for those who count or name signatures, themselves written by nobody."""

KEYWORDS: dict[str, tuple[str, ...]] = {
    "crash": ("died", "killed", "fatal", "supervisor", "panic", "exited"),
    "release": ("setting", "field", "schema", "handler"),
    "lock": ("lock", "victim", "waiter", "rolled back"),
    "saturation": ("pool", "queue", "exhaust", "backpressure", "saturat", "shedding"),
    "plan_cache": ("plan", "hit ratio", "evict", "optimizer"),
    "report": ("statement", "scan", "snapshot", "export", "cursor"),
    "leak": ("gc", "heap", "generation", "collect", "memory"),
    "backlog": ("consumer", "pending", "behind", "offset", "undelivered"),
    "vendor": ("partner", "provider", "external", "vendor", "quota"),
    "abuse": ("login", "password", "token", "account", "credential", "country"),
    "slow_release": ("code path", "stage", "n+1", "serializ", "extra"),
}
"""Word stems that mark each signature class, as substrings, and no other; for readers of a closed vocabulary.

Written by nobody: they are parts of what the components write.
"""
