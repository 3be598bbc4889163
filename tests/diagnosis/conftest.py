"""Fixtures that tests of mending share."""

from unittest.mock import patch

import pytest

from sciprec.extend import RULES


@pytest.fixture
def only_rule():
    """A function that makes one rule the only one of the catalogue; afterwards all are back in
    their order, which decides between rules that write the same text.
    """
    with patch.dict(RULES):
        yield lambda rule: (RULES.clear(), RULES.add(rule))
