"""``python -m hyperplan.cli``: the same as the `hyperplan` command."""

import sys

from hyperplan.cli import main

if __name__ == "__main__":
    sys.exit(main())
