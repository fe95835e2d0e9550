"""Python files of a user's own: scenarios, policies and rewards, loaded with errors that name file and line."""

import ast
import hashlib
import importlib.util
import sys
import traceback
from functools import cache
from pathlib import Path
from types import ModuleType


@cache
def load_module(path: Path, kind: str) -> ModuleType:
    """The module of a file, once per process; `kind` says what it should hold (`scenario`, `policy`, `reward`).

    A `ValueError` gives file, line and reason of whatever keeps it from loading.
    """
    if not path.is_file():
        raise ValueError(f"no {kind} file {str(path)!r}")
    name = f"warroom_{kind}_{path.stem}_{_short_hash(str(path.resolve()).encode())[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the file is the caller's: whatever it raises is told to the caller
        del sys.modules[name]
        raise ValueError(f"{located(error, path)}; the {kind} file does not load") from error
    return module


def located(error: BaseException, path: Path) -> str:
    """An error that a user's file raised, as `FILE:LINE: TYPE: MESSAGE`, with the last line of that file in it."""
    if isinstance(error, SyntaxError):
        return f"{path}:{error.lineno}: {type(error).__name__}: {error.msg}"
    own = path.resolve()
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).resolve() == own]
    place = f"{path}:{frames[-1].lineno}" if frames else str(path)
    return f"{place}: {type(error).__name__}: {error}"


def line_of(path: Path, name: str) -> str:
    """`FILE:LINE` of what a file defines under a name at its top level; the file alone where it does not."""
    for node in ast.parse(path.read_bytes()).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names = {node.name}
        if name in names:
            return f"{path}:{node.lineno}"
    return str(path)


def file_hash(path: Path) -> str:
    """32 hex digits that tell one version of a file from another."""
    return _short_hash(path.read_bytes())


def _short_hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
