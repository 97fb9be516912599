"""Makes the helpers of these tests, and those of the contract tests, importable."""

import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "contract")]
