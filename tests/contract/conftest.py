"""Makes `contract_common` importable by the contract tests (pytest's importlib mode adds no folder to the path)."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
