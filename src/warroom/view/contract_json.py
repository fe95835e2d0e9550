"""Records of the contract as JSON, and as the packed text that files hold."""

import base64
import gzip
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

COMPRESSION_LEVEL = 6
"""A higher one takes twice the time for two per cent."""


def to_json(record: "DataclassInstance") -> dict[str, Any]:
    """A record as plain data."""
    return asdict(record)


def json_bytes(record: "DataclassInstance") -> bytes:
    """A record as JSON, in ASCII."""
    return json.dumps(asdict(record), separators=(",", ":"), allow_nan=False).encode("ascii")


def packed(record: "DataclassInstance") -> str:
    """A record as base64 of gzipped JSON: letters that mean nothing to HTML."""
    return base64.b64encode(gzip.compress(json_bytes(record), COMPRESSION_LEVEL, mtime=0)).decode()
