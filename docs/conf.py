"""The documentation as a site: `sphinx-build -W -n docs site`, without a network."""

import os
import sys
from pathlib import Path

import sciprec

sys.path.insert(0, str(Path(__file__).parent))
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # `sciprec`

project = "sciprec"
author = copyright = "the sciprec maintainers"
version = release = sciprec.__version__

extensions = [
    "myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "reference_directives",
]  # fmt: skip
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "sciprec"
myst_heading_anchors = 4
nb_execution_mode = "cache"  # tutorials run again where they, or what they ran with, changed
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_raise_on_error = True
autodoc_typehints = "none"
napoleon_use_ivar = True
nitpick_ignore_regex = [("py:class", ".*")]  # types in docstrings are words
