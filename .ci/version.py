"""The version of the package and the commit that it is built from, asked of git when it is built.

A commit with the tag `v0.2.0` is 0.2.0. Any other is on the way to the version that CHANGELOG.md
names first, or to the one behind the last tag: 0.2.0.dev1162+g0123456789ab, with `.dirty` where
files differ from the commit. An archive that git made says it in `.git_archival.txt`, an sdist in
its PKG-INFO, which hatchling reads first. Where none of these knows, one sentence says so.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parents[1]
COMMIT = "sciprec/commit.txt"  # sciprec/foundation/origin.py reads it
TAGS = "v[0-9]*"


def git(root, *words):
    """Output of git about the repository whose top `root` is; empty where it has none."""
    if not (root / ".git").exists():  # an unpacked archive, perhaps inside another repository
        return ""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def archived(root):
    """Commit and description that git wrote into an archive; empty words elsewhere."""
    file = root / ".git_archival.txt"
    told = file.read_text(encoding="utf-8") if file.is_file() else ""
    known = dict(re.findall(r"^(commit|describe): ([^$\s]+)$", told, flags=re.MULTILINE))
    return known.get("commit", ""), known.get("describe", "")


def commit(root=ROOT):
    """Twelve digits of the commit, marked where files differ from it; empty where it is unknown."""
    return git(root, "describe", "--always", "--exclude=*", "--dirty", "--abbrev=12") or (
        archived(root)[0][:12]
    )


def described(root):
    """The last tag and the number of commits since it; without a tag, of all that there are."""
    told = git(root, "describe", "--tags", "--long", f"--match={TAGS}") or archived(root)[1]
    found = re.fullmatch(r"v([0-9.]+)(?:-(\d+)-g[0-9a-f]+)?", told)
    if found:
        return found[1], int(found[2] or 0)
    if git(root, "rev-parse", "--is-shallow-repository") == "true":
        return "", 0  # what is left out cannot be counted
    return "", int(git(root, "rev-list", "--count", "HEAD") or 0)


def coming(root, tag):
    """The version that a commit without a tag of its own is on the way to."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^## (\d+\.\d+\.\d+)", text, flags=re.MULTILINE)[1]
    if not tag:
        return first
    last = [*map(int, tag.split(".")), 0, 0][:3]
    behind = [*last[:2], last[2] + 1]
    return ".".join(map(str, max(behind, [*map(int, first.split("."))])))


def version(root=ROOT):
    """The version, as PEP 440 writes it; a sentence on standard error where none is known."""
    now, (tag, count) = commit(root), described(root)
    if now and tag and not count and "dirty" not in now:
        return tag
    if now:
        return f"{coming(root, tag)}.dev{count}+g{now.replace('-', '.')}"
    guess = f"{coming(root, '')}.dev0"
    print(f"sciprec is built from {root}, of which neither git nor an archive of git's says the "
          f"commit: its version is {guess}, without one", file=sys.stderr)  # fmt: skip
    return guess


class Commit(BuildHookInterface):
    """Puts the commit into wheels and sdists, so that what they make can name it without git."""

    def initialize(self, version, build_data):
        now = commit(Path(self.root))
        if now and version != "editable":
            self.folder = tempfile.TemporaryDirectory()
            file = Path(self.folder.name, "commit.txt")
            file.write_text(now + "\n", encoding="utf-8")
            build_data["force_include"][str(file)] = COMMIT
