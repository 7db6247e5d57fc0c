"""A cluster that stands still comes to rest (docs/scheduler.md, 12.2). Each file once was one in which pods were
evicted for ever."""

import json
import pathlib
import subprocess

import pytest
from servers import PRORATA

CASES = sorted((pathlib.Path(__file__).parent / "rest").glob("*.json"))
CYCLES = 24


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in CASES])
def test_comes_to_rest(path):
    done = subprocess.run(
        [PRORATA, "simulate", str(path), "--cycles", str(CYCLES + 2)], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    late = [d for cycle in json.loads(done.stdout)["cycles"][CYCLES:] for d in cycle["decisions"]]
    assert [d["pod"] for d in late if d["verb"] in ("evict", "withdraw")] == []
