"""Print the size and shape of the source: files, lines, functions, late imports and uses of `Any`.

python recipes/code_metrics.py [SOURCE]
"""

import ast
import sys
from pathlib import Path

SOURCE = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "src" / "warroom"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def quantile(values: list[int], share: float) -> int:
    return sorted(values)[int(len(values) * share)]


def main() -> None:
    texts = [path.read_text() for path in sorted(SOURCE.rglob("*.py"))]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    functions = [node for node in nodes if isinstance(node, Function)]
    lengths = [(node.end_lineno or node.lineno) - node.lineno + 1 for node in functions]
    files = [text.count("\n") for text in texts]
    late = sum(isinstance(inner, ast.Import | ast.ImportFrom) for node in functions for inner in ast.walk(node))
    loose = sum(isinstance(node, ast.Name) and node.id == "Any" for node in nodes)
    print(f"files                 {len(files)} (median {quantile(files, 0.5)} lines, longest {max(files)})")
    print(f"lines                 {sum(files)}")
    print(f"functions             {len(lengths)}")
    median, most = quantile(lengths, 0.5), quantile(lengths, 0.9)
    print(f"lines per function    median {median}, 90 % {most}, longest {max(lengths)}")
    print(f"imports in functions  {late}")
    print(f"uses of Any           {loose}")


if __name__ == "__main__":
    main()
