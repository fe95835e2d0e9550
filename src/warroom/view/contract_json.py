"""Records of the contract as JSON, and as the packed text that files hold."""

import base64
import gzip
import json

from warroom.core.types import JsonObject

COMPRESSION_LEVEL = 6
"""A higher one takes twice the time for two per cent."""


def json_bytes(record: object) -> bytes:
    """A record as JSON, in ASCII."""
    return json.dumps(record, separators=(",", ":"), allow_nan=False, default=_fields).encode("ascii")


def _fields(record: object) -> dict[str, object]:
    """A record's fields: records have slots, so that nothing else is among them."""
    return {name: getattr(record, name) for name in type(record).__slots__}  # type: ignore[attr-defined]


def to_json(record: object) -> JsonObject:
    """A record as plain data."""
    data: JsonObject = json.loads(json_bytes(record))
    return data


def packed(record: object) -> str:
    """A record as base64 of gzipped JSON: letters that mean nothing to HTML."""
    return base64.b64encode(gzip.compress(json_bytes(record), COMPRESSION_LEVEL, mtime=0)).decode()
