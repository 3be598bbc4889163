"""How large the package is: `python .ci/size.py`, the figures of docs/reference/architecture.md."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "sciprec"


def measured(path: Path) -> tuple[int, int, int]:
    """Return lines, lines of docstrings, and lines of code: neither of these, nor blank."""
    text = path.read_text(encoding="utf-8")
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                prose.update(range(node.lineno, node.end_lineno + 1))
    lines = text.splitlines()
    code = sum(bool(line.strip()) for n, line in enumerate(lines, 1) if n not in prose)
    return len(lines), len(prose), code


def main() -> None:
    rows = {path: measured(path) for path in sorted(PACKAGE.rglob("*.py"))}
    lines, prose, code = (sum(column) for column in zip(*rows.values(), strict=True))
    print(f"{len(rows)} modules, {lines} lines: {code} of code, {prose} of docstrings")
    core = sum(row[0] for path, row in rows.items() if "precision" in path.relative_to(PACKAGE).parts)
    print(f"precision: {core} lines")
    for room in sorted(path for path in PACKAGE.iterdir() if path.is_dir()):
        inside = [row for path, row in rows.items() if room in path.parents]
        if inside:
            print(f"  {room.name:12} {len(inside):4} modules {sum(r[2] for r in inside):6} of code")


if __name__ == "__main__":
    main()
