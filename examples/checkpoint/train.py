"""A small training that can be preempted: it keeps a checkpoint, saves once more when it is told to stop, and goes on
from there when it is started again. Standard Python alone; the shape is the same for PyTorch.

    prorata training submit fit -g 1 -p team-a -i none --command -- python3 /path/to/train.py --steps 2000

A linear model learns y = 3x - 2 from noisy points by gradient descent.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=2000)
parser.add_argument("--pause", type=float, default=0.01, help="seconds a step takes beside its arithmetic")
parser.add_argument(
    "--folder", default="~/prorata-checkpoints", help="where checkpoints survive the pod: /tmp does not"
)
options = parser.parse_args()

# One checkpoint per workload: every start of it has the same RUNAI_JOB_UUID.
folder = pathlib.Path(options.folder).expanduser() / os.environ.get("RUNAI_JOB_UUID", "by-hand")
folder.mkdir(parents=True, exist_ok=True)
checkpoint = folder / "checkpoint.json"


def save(state):
    part = checkpoint.with_suffix(".part")
    part.write_text(json.dumps(state))
    part.replace(checkpoint)  # whole or not at all, whenever we are killed


def load():
    if checkpoint.exists():
        state = json.loads(checkpoint.read_text())
        print(f"going on from step {state['step']}", flush=True)
        return state
    print("starting at step 0", flush=True)
    return {"step": 0, "slope": 0.0, "offset": 0.0}


state = load()


def leave(*_):
    """Told to stop: the grace period is ours to save in."""
    save(state)
    print(f"saved at step {state['step']}, giving way", flush=True)
    sys.exit(0)


signal.signal(signal.SIGTERM, leave)
while state["step"] < options.steps:
    chance = random.Random(state["step"])  # the same data at the same step, however often we were interrupted
    points = [(x, 3 * x - 2 + chance.gauss(0, 0.1)) for x in (chance.uniform(-1, 1) for _ in range(32))]
    errors = [(x, state["slope"] * x + state["offset"] - y) for x, y in points]
    state = {
        "step": state["step"] + 1,
        "slope": state["slope"] - 0.1 * sum(2 * e * x for x, e in errors) / len(errors),
        "offset": state["offset"] - 0.1 * sum(2 * e for _, e in errors) / len(errors),
    }
    if state["step"] % 50 == 0:
        save(state)
        loss = sum(e * e for _, e in errors) / len(errors)
        print(f"step {state['step']} loss {loss:.5f}", flush=True)
    time.sleep(options.pause)
save(state)
print(f"done after step {state['step']}: y = {state['slope']:.2f}x {state['offset']:+.2f}", flush=True)
