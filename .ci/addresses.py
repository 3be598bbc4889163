"""Addresses in the metadata of a built package: the repository's own, known where it is built.

A hook of hatchling. `SCIPREC_REPOSITORY_URL` names the repository (empty: none); else git's remote
`origin` does. Links of the README become absolute; without an address there are no project URLs.
A wheel built from an sdist takes both from the sdist: hatchling reads its PKG-INFO first.
"""

import os
import re
import subprocess
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "SCIPREC_REPOSITORY_URL"
HOST = r"((?:[\w-]+\.)+[a-z]{2,}"  # a name that others reach: not this machine's, not a number
PATH = r"[^@:?#/][^@:?#]*?)(?:\.git)?/?"
FORMS = (
    rf"https?://(?:[^@/]+@)?{HOST}(?::\d+)?/{PATH}",  # what stands before @ is a secret
    rf"ssh://[\w.-]+@{HOST})(?::\d+)?/({PATH}",
    rf"[\w.-]+@{HOST}):({PATH}",
)


def page_of(remote):
    """The https address of a repository that git calls `remote`, or an empty word."""
    found = filter(None, (re.fullmatch(form, remote.strip()) for form in FORMS))
    return next(("https://" + "/".join(one.groups()) for one in found), "")


def repository(root):
    """The address of the repository whose checkout or sdist `root` is, or an empty word."""
    given = os.environ.get(VARIABLE)
    if given is not None:
        if given and not page_of(given):
            raise ValueError(f"{VARIABLE} is {given!r}; accepted: https://host/owner/name")
        return page_of(given)
    if not (root / ".git").exists():  # an unpacked sdist, perhaps inside another repository
        return ""
    asked = ["git", "-C", str(root), "remote", "get-url", "origin"]
    try:
        return page_of(subprocess.run(asked, capture_output=True, text=True, check=False).stdout)
    except OSError:
        return ""


def absolute(text, root, address):
    """Markdown whose links and pictures of files below `root` are absolute."""

    def link(found):
        picture, words, target = found.groups()
        if target.startswith("#") or not (root / target.partition("#")[0]).exists():
            return found[0]
        return f"{picture}[{words}]({address}/{'raw' if picture else 'blob'}/HEAD/{target})"

    return re.sub(r"(!?)\[([^][]*)\]\(([^)\s]+)\)", link, text)


class Addresses(MetadataHookInterface):
    def update(self, metadata):
        root = Path(self.root)
        address = repository(root)
        text = (root / "README.md").read_text(encoding="utf-8")
        text = absolute(text, root, address) if address else text
        pages = {
            "Homepage": address,
            "Documentation": f"{address}#readme",
            "Changelog": f"{address}/blob/HEAD/CHANGELOG.md",
            "Issues": f"{address}/issues",
        }
        metadata.setdefault("readme", {"content-type": "text/markdown", "text": text})
        metadata.setdefault("urls", pages if address else {})
