"""What a gateway writes: requests of users, routes, upstreams, sessions."""

from warroom.core.splits import Split
from warroom.sim.streams.template import KindTemplates, Template

GATEWAY: dict[Split, KindTemplates] = {
    Split.TRAIN: KindTemplates(
        {
            "route": ("/v2/home", "/v2/basket", "/v2/orders", "/v2/account", "/v2/search", "/v2/items"),
            "filter": ("auth", "compress", "cors", "rewrite", "session"),
            "listener": ("public-443", "public-8443", "edge-h2"),
        },
        (
            Template("served", "INFO", 1.0, "access GET {route} 200 {ms} ms {kb} kB"),
            Template("served", "INFO", 0.2, "access POST {route} 201 {ms} ms"),
            Template("served", "INFO", 0.1, "access GET {route} 304 {ms} ms not modified"),
            Template("served", "INFO", 0.1, "session refreshed on {route}, cookie valid for {n} min"),
            Template("failed", "ERROR", 1.0, "access GET {route} 503 {ms} ms, upstream did not deliver"),
            Template("failed", "ERROR", 1.0, "{route} answered 500 after {ms} ms, error page sent"),
            Template("failed", "ERROR", 1.0, "request aborted in filter chain behind {filter}, 502 to client"),
            Template("slow", "WARN", 1.0, "{route} took {ms} ms, client had left"),
            Template("slow", "WARN", 1.0, "499 on {route}: closed by client before the reply of {ms} ms"),
            Template("refused", "WARN", 1.0, "upstream {callee} replied with a server error, try {n}"),
            Template("refused", "WARN", 1.0, "bad response from upstream {callee}, not passed on"),
            Template("late", "WARN", 1.0, "upstream {callee} timed out after {ms} ms"),
            Template("late", "WARN", 1.0, "no reply from {callee} within {ms} ms, request cancelled"),
            Template("lost", "WARN", 1.0, "could not open a stream to {callee}, connection closed during setup"),
            Template("lost", "WARN", 1.0, "connect to {callee} failed after {ms} ms, no upstream answered"),
            Template("chore", "INFO", 2.0, "listener {listener}: {n} connections open"),
            Template("chore", "INFO", 0.5, "route table reloaded, {n} routes, no difference"),
            Template("chore", "INFO", 1.0, "health probes: {n} upstream hosts, all answered"),
            Template("chore", "INFO", 0.3, "session tickets rotated, sequence {seq}"),
            Template("stray", "WARN", 0.004, "client sent a malformed header, 400 on {route}"),
            Template("stray", "WARN", 0.003, "TLS handshake given up by client on {listener}"),
            Template("stray", "ERROR", 0.004, "access log shipper: batch {seq} rejected, kept for the next round"),
        ),
    ),
    Split.TEST: KindTemplates(
        {
            "route": ("/api/start", "/api/cart", "/api/profile", "/api/history", "/api/find", "/api/listing"),
            "filter": ("jwt", "gzip", "headers", "redirects", "affinity"),
            "listener": ("ingress-tls", "ingress-quic", "partner-tls"),
        },
        (
            Template("served", "INFO", 1.0, "method=GET path={route} status=200 duration={ms}ms bytes={kb}k"),
            Template("served", "INFO", 0.2, "method=PUT path={route} status=204 duration={ms}ms"),
            Template("served", "INFO", 0.1, "method=HEAD path={route} status=200 duration={ms}ms"),
            Template("served", "INFO", 0.1, "token for {route} accepted, {n} min left"),
            Template("failed", "ERROR", 1.0, "method=GET path={route} status=503 duration={ms}ms reason=backend"),
            Template("failed", "ERROR", 1.0, "returned 502 for {route} once all tries were spent ({ms} ms)"),
            Template("failed", "ERROR", 1.0, "exchange on {route} ended without a body, stage {filter}, sent 500"),
            Template("slow", "WARN", 1.0, "{route}: first byte only after {ms} ms"),
            Template("slow", "WARN", 1.0, "peer hung up on {route} while we waited, {ms} ms so far"),
            Template("refused", "WARN", 1.0, "cluster={callee} returned 5xx, attempt {n}"),
            Template("refused", "WARN", 1.0, "discarding reply of cluster={callee}: failed its check"),
            Template("late", "WARN", 1.0, "cluster={callee} deadline of {ms} ms passed"),
            Template("late", "WARN", 1.0, "gave up waiting for cluster={callee} at {ms} ms"),
            Template("lost", "WARN", 1.0, "cluster={callee}: dial failed, peer dropped the handshake"),
            Template("lost", "WARN", 1.0, "cluster={callee}: stream reset before any byte was sent"),
            Template("chore", "INFO", 2.0, "accept loop {listener}: {n} sockets"),
            Template("chore", "INFO", 0.5, "configuration poll: version {seq}, up to date"),
            Template("chore", "INFO", 1.0, "endpoint check round finished, {n} endpoints up"),
            Template("chore", "INFO", 0.3, "key for session resumption replaced, id {seq}"),
            Template("stray", "WARN", 0.004, "path={route} status=413 body larger than allowed"),
            Template("stray", "WARN", 0.003, "idle socket on {listener} reaped"),
            Template("stray", "ERROR", 0.004, "span exporter: export {seq} failed, will be repeated"),
        ),
    ),
}
