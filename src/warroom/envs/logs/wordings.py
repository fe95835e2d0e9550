"""The phrases of the log environment: what services write about calls, requests and nothing in particular."""

from warroom.core.splits import Split
from warroom.envs.logs.signatures import CLASSES as CLASSES
from warroom.envs.logs.signatures import KEYWORDS as KEYWORDS
from warroom.envs.logs.signatures import SIGNATURES as SIGNATURES
from warroom.envs.logs.signatures import Texts as Texts

TIMEOUT: Texts = {
    Split.TRAIN: (
        "call to {callee} timed out after {ms} ms",
        "request {id}: {callee} did not answer before the deadline",
        "deadline exceeded while calling {callee}, attempt {n}",
        "read timeout on connection to {callee}",
        "{callee} timed out, request {id} given up",
        "no answer from {callee} within {ms} ms, timeout",
        "java.net.SocketTimeoutException: read from {callee} timed out",
        "context deadline exceeded: rpc to {callee}, waited {ms} ms",
        "timeout waiting for {callee}, retry {n} scheduled",
    ),
    Split.TEST: (
        "gave up on {callee}: timeout of {ms} ms reached",
        "{callee} silent until the deadline, request {id} cancelled",
        "rpc towards {callee} timed out on try {n}",
        "future for {callee} timed out after {ms} ms",
        "deadline passed, {callee} still owes a response",
    ),
}
"""A call exceeded its deadline, the callee named; written by the caller."""

REFUSED: Texts = {
    Split.TRAIN: (
        "call to {callee} failed at once: connection refused",
        "{callee} answered with an error for request {id}",
        "request {id} to {callee} failed with status 500",
        "connection refused by {callee}, attempt {n}",
        "{callee} returned error 503 after {ms} ms",
        "rpc to {callee} failed: code unavailable",
        "bad response from {callee}: internal server error",
        "failed to reach {callee}, connection reset by peer",
        "error from {callee}: could not process request {id}",
    ),
    Split.TEST: (
        "dial {callee}: connection refused on try {n}",
        "{callee} replied with an error, status 500, after {ms} ms",
        "invocation of {callee} failed: remote side reports internal error",
        "got error response from {callee} for {id}",
        "{callee} closed the connection at once, call failed",
    ),
}
"""A call failed without delay, the callee named; written by the caller."""

TIMEOUT_BLIND: Texts = {
    Split.TRAIN: (
        "upstream call timed out after {ms} ms",
        "deadline exceeded while waiting for upstream, request {id}",
        "upstream did not answer in time, attempt {n}",
        "read timeout on upstream connection {n}",
        "request {id} given up: upstream timed out",
        "no upstream answer within {ms} ms, timeout",
        "context deadline exceeded in upstream client",
        "timeout on an upstream hop, its name not recorded",
    ),
    Split.TEST: (
        "upstream timeout of {ms} ms reached for {id}",
        "upstream kept silent until the deadline passed",
        "http client timed out against its upstream, try {n}",
        "deadline ran out, upstream response never came",
    ),
}
"""A call exceeded its deadline, the callee not named; written by a caller that names nobody."""

REFUSED_BLIND: Texts = {
    Split.TRAIN: (
        "upstream call failed at once: connection refused",
        "upstream answered with an error for request {id}",
        "connection refused by upstream, attempt {n}",
        "upstream returned error 503 after {ms} ms",
        "request {id} failed: bad upstream response",
        "upstream connection reset by peer, call failed",
        "error reply from upstream, status 500",
        "failed to reach upstream, trying the next address",
    ),
    Split.TEST: (
        "dial upstream: connection refused on try {n}",
        "upstream replied with an error after {ms} ms",
        "client got an upstream error response for {id}",
        "upstream hung up at once, call failed",
    ),
}
"""A call failed without delay, the callee not named; written by a caller that names nobody."""

SERVED: Texts = {
    Split.TRAIN: (
        "request {id} done in {ms} ms, status 200",
        "GET /v1/items/{n} 200 served in {ms} ms",
        "request completed with status 200 in {ms} ms",
        "POST /v1/items status 201 done in {ms} ms",
        "served request {id} with status 204 in {ms} ms",
        "request {id} ok, {n} bytes, status 200, {ms} ms",
        "access: status=200 bytes={n} request took {ms} ms",
        "grpc request finished ok, status 200, in {ms} ms",
        "request done: status 200, {ms} ms, {n} rows returned",
    ),
    Split.TEST: (
        "request {id} finished in {ms} ms with status 200",
        "PUT /v2/entries/{n} done, status 204, {ms} ms",
        "reply sent for request {id}: status 200 in {ms} ms",
        "inbound request served, status 201, elapsed {ms} ms",
        "status 200 written after {ms} ms, request body {n} bytes",
    ),
}
"""A request answered well, with its duration; written by every service that logs its requests."""

FAILED: Texts = {
    Split.TRAIN: (
        "request {id} failed after {ms} ms, status 500",
        "GET /v1/items/{n} failed with 500 after {ms} ms",
        "request answered with error status 503 after {ms} ms",
        "error response 502 sent for request {id} after {ms} ms",
        "POST /v1/items failed, status 504 after {ms} ms",
        "request ended in error after {ms} ms, status 500",
        "access: status=503 bytes={n} request failed after {ms} ms",
        "request {id} failed: status 504 returned in {ms} ms",
        "could not complete request {id}, error 500 after {ms} ms",
    ),
    Split.TEST: (
        "request {id} closed with error status 500 after {ms} ms",
        "PUT /v2/entries/{n} failed, 503 written after {ms} ms",
        "inbound request failed in {ms} ms with status 502",
        "reply for request {id} is error 504, elapsed {ms} ms",
        "status 500 error sent to caller after {ms} ms",
    ),
}
"""A request answered with an error, with its duration; written by the service that was asked."""

BACKGROUND: Texts = {
    Split.TRAIN: (
        "background sync step {n} took {ms} ms",
        "prefetch of popular items took {ms} ms",
        "job step {n} done, took {ms} ms",
        "background index refresh took {ms} ms for {n} entries",
        "sync with replica {n} took {ms} ms",
        "scheduled job compact took {ms} ms",
        "prefetch batch {n} loaded, took {ms} ms in background",
        "periodic job aggregated {n} counters, took {ms} ms",
        "background thumbnail step took {ms} ms",
    ),
    Split.TEST: (
        "background job recalculated {n} scores, took {ms} ms",
        "sync round {n} ended, it took {ms} ms",
        "prefetch worker warmed {n} keys, took {ms} ms",
        "housekeeping job step took {ms} ms, nothing left over",
        "background merge of segment {n} took {ms} ms",
    ),
}
"""A step of work that no user waits for, with its duration; written by healthy services."""

HOUSEKEEPING: Texts = {
    Split.TRAIN: (
        "health check ok, {n} probes since start",
        "configuration reloaded, no changes found",
        "flushed {n} metrics to the agent",
        "session cleanup removed {n} expired sessions",
        "cache warm, {n} entries loaded",
        "certificate check passed, {n} days left",
        "leader lease renewed for term {n}",
        "connection {n} opened to the replica",
        "connection {n} closed after idle time",
        "liveness probe answered in {ms} ms",
        "readiness probe ok, serving traffic",
        "service registry heartbeat sent, sequence {n}",
        "rotated log file, {n} old files kept",
        "feature switches refreshed, {n} active",
        "dns records refreshed for {n} names",
        "rate limiter counters reset for window {n}",
        "checkpoint complete, wrote {n} buffers to disk",
        "audit trail sealed with segment {n}",
        "worker {n} idle, going to sleep",
        "scheduler tick {n}, nothing to run",
        "trace sampler kept {n} spans this minute",
        "gossip round {n} finished, all members alive",
        "temporary directory swept, {n} files removed",
        "local time in step with the time server",
    ),
    Split.TEST: (
        "self test passed, {n} checks run",
        "re-read configuration file, nothing new in it",
        "telemetry agent took {n} samples from us",
        "removed {n} idle sessions during routine cleanup",
        "lookup cache primed with {n} rows",
        "certificate chain valid, next check in {n} minutes",
        "still leader, lease extended to epoch {n}",
        "opened spare connection {n} ahead of demand",
        "membership list unchanged, {n} nodes present",
        "write-ahead segment {n} safely archived",
        "log level unchanged, file {n} rotated",
        "keepalive exchanged with peer {n}",
    ),
}
"""Information about nothing; written by every service, ill or well."""

NUISANCE: Texts = {
    Split.TRAIN: (
        "slow client, took {ms} ms to read the response",
        "deprecated parameter sort_by used in request {id}",
        "telemetry push failed, retry {n} will follow",
        "client closed connection early on request {id}",
        "response of {n} bytes is larger than recommended",
        "old api version in use by caller {n}",
        "missing correlation header, made up {id}",
        "duplicate request {id} ignored as already done",
        "cookie without samesite attribute seen {n} times",
        "metrics label has too many values, {n} dropped",
        "config key retries.max is deprecated, still honoured",
        "connection {n} idle too long, recycled",
        "time drift against peer is {ms} ms, tolerated",
        "falling back to default locale for request {id}",
    ),
    Split.TEST: (
        "peer drained its socket slowly, {ms} ms for one reply",
        "obsolete query argument ignored on request {id}",
        "trace shipment postponed, {n} spans kept for later",
        "browser went away before response {id} was written",
        "ambiguous timezone in request {id}, utc assumed",
        "log line of {n} characters cut short",
        "caller still speaks protocol revision {n}, discouraged",
    ),
}
"""Warnings that healthy services write all day."""

CHRONIC: Texts = {
    Split.TRAIN: (
        "cannot parse optional header x-device-info, ignored",
        "thumbnail {n} not found in media store",
        "feature key {n} is stale, default used",
        "failed to send usage beacon, giving up silently",
        "translation missing for message {n}, english shown",
        "could not decode referrer of request {id}",
        "image {n} has no dimensions, layout guessed",
        "avatar download failed for profile {n}",
        "unable to resolve legacy shortlink {n}",
        "orphaned record {n} skipped during lookup",
        "postal code of record {n} does not match its city",
        "error rendering optional banner {n}, left out",
    ),
    Split.TEST: (
        "optional locale header unreadable, dropped for {id}",
        "preview picture {n} absent, placeholder shown",
        "experiment key {n} retired long ago, still requested",
        "no text for label {n} in chosen language",
        "dangling reference {n} in archived entry, skipped",
        "recommendation widget empty, error swallowed for {id}",
    ),
}
"""Errors that some healthy services write steadily for months."""

CLIENT: Texts = {
    Split.TRAIN: (
        "validation failed for request {id}: amount is negative",
        "request {id}: body cannot be parsed as json",
        "bad signature on request {id}, answered 401",
        "unsupported api version {n} in request, answered 400",
        "invalid request {id}: date lies in the past",
        "malformed multipart request, stray byte at {n}, answered 400",
        "validation error: parameter limit must be below {n}",
        "invalid page number {n} in request",
        "request body of {n} bytes over the allowed size",
        "invalid content type on request {id}, answered 415",
    ),
    Split.TEST: (
        "invalid request {id}: email address is malformed",
        "signature check failed on webhook {id}, answered 401",
        "cannot parse request body, unexpected character at {n}",
        "request {id} names unsupported version, answered 400",
        "validation failed: {n} items exceed the allowed size",
    ),
}
"""Errors that malformed requests of clients cause, loud but innocent; written by the service that was asked."""
