"""`#SBATCH --array`: the runs of one training, each with its number; one that fails ends no other."""

import json
import shlex

import pytest


@pytest.fixture
def dry(client, tmp_path):
    def run(option, *words):
        script = tmp_path / "sweep.sh"
        script.write_text(f"#!/bin/bash\n#SBATCH {option}\necho $SLURM_ARRAY_TASK_ID\n")
        done = client.finish("batch", "-p", "team-a", "-i", "image", "--dry-run", str(script), *words)
        return done, json.loads(done.stdout)["spec"] if done.returncode == 0 else None

    return run


@pytest.mark.parametrize(
    "option, runs, at_once, number, last",
    [
        ("--array=0-99%8", 100, 8, "0+1*", 99),
        ("-a 1-10", 10, 10, "1+1*", 10),
        ("--array 0-99:2%200", 50, 50, "0+2*", 98),
        ("--array=7", 1, 1, "7+1*", 7),
    ],
)
def test_an_array_is_runs_with_numbers(dry, option, runs, at_once, number, last):
    _, spec = dry(option, "data/7")
    assert (spec["completions"], spec["parallelism"], spec["backoffLimitPerIndex"]) == (runs, at_once, 0)
    words = shlex.split(spec["command"])
    assert words[:2] == ["/bin/sh", "-c"] and f"SLURM_ARRAY_TASK_ID=$(({number}JOB_COMPLETION_INDEX))" in words[2]
    assert words[3:5] == ["/bin/bash", "-c"] and words[-1] == "data/7"
    variables = {each["name"]: each["value"] for each in spec["environmentVariables"]}
    assert (variables["SLURM_ARRAY_TASK_COUNT"], variables["SLURM_ARRAY_TASK_MAX"]) == (str(runs), str(last))


@pytest.mark.parametrize("array", ["1,3,7", "9-1", "a", "0-", "0-9%", "0-9%0", "0-9:0", "-3", "0-99999999", "0-9x"])
def test_an_array_of_another_form_is_refused(dry, array):
    done, _ = dry(f"--array={array}")
    assert done.returncode == 1 and f"--array: {array}: 5 and 0-99:2%8 are known" in done.stderr, done
