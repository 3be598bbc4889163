"""`python -m tests.same`: see tests/same/running.py."""

import sys

from tests.same.running import main

if __name__ == "__main__":
    sys.exit(main())
