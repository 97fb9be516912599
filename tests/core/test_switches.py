"""The kernel tests under Numba's two switches that find what compiled code hides.

Without the compiler a student can step through every kernel; with bounds checks an index outside an array is an
error instead of a wrong number.
"""

import pytest


@pytest.mark.parametrize("switch", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_kernel_suite_passes_under(switch, run_python, root, tmp_path_factory):
    if not list((root / "tests" / "kernels").glob("test_*.py")):
        pytest.skip("no kernel tests")
    cache = tmp_path_factory.getbasetemp().parent / "switched-cache"  # compiled with the switch: not the user's cache
    arguments = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "tests/kernels"]
    done = run_python(
        "", *arguments, timeout=1500, check=False, **{switch: "1", "HYPERPLAN_CACHE_DIR": cache, "PYTHONHASHSEED": "0"}
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
