"""The example that people copy: a real training that is preempted and goes on where it stopped."""

import pathlib
import re

from pods import log_lines, quoted, submit, wait_log

TRAIN = pathlib.Path(__file__).resolve().parents[2] / "examples/checkpoint/train.py"


def test_a_training_goes_on_where_it_stopped(local, folder):
    checkpoints = folder / "checkpoints"
    checkpoints.mkdir(mode=0o777)
    checkpoints.chmod(0o777)
    folder.chmod(0o755)
    script = folder / "train.py"
    script.write_bytes(TRAIN.read_bytes())
    script.chmod(0o644)
    steps = folder / "steps"
    steps.write_text("1000000000")  # until it has been preempted
    keeps = submit(local, "keeps", "sleep 1000", gpus=2)
    local.wait_phase(keeps, "Running")
    fit = local.submit(
        "fit",
        "team-a",
        2,
        spec={
            "workingDir": str(folder),
            "command": "/bin/sh -c",
            "args": quoted(f"exec /usr/bin/python3 {script} --steps $(cat steps) --pause 0.005 --folder {checkpoints}"),
        },
    )
    wait_log(local, fit, "step 100")
    # It borrows team-b's devices, and team-b wants them back.
    claim = submit(local, "claim", "sleep 1000", project="team-b", gpus=2)
    local.wait_phase(claim, "Running")
    assert local.workload(fit)["phase"] == "Pending"
    saved = next(
        int(found[1])
        for found in (re.search(r"saved at step (\d+), giving way", line) for line in log_lines(local))
        if found
    )
    last = max(600, saved + 100)
    steps.write_text(str(last))
    local.post(f"/api/v1/workloads/trainings/{claim}/suspend")
    local.wait_phase(fit, "Completed", seconds=60)
    lines = [line.split(" F ")[1] for line in log_lines(local)]
    assert saved >= 100 and f"going on from step {saved}" in lines
    assert lines.count("starting at step 0") == 1
    done = rf"done after step {last}: y = (2\.9|3\.0)\dx -(1\.9|2\.0)\d"
    assert any(re.fullmatch(done, line) for line in lines), lines[-3:]
