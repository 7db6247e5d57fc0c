"""An array of tasks, for real: each learns its number, and one that fails ends no other."""

import json

import pytest
from pods import log_of
from servers import Client


@pytest.fixture
def client(start, folder):
    folder.chmod(0o755)
    client = Client(start(), folder / "home").sign_in()
    client.run("project", "set", "team-a")
    return client


def test_tasks_have_numbers_and_fail_alone(client, folder):
    script = folder / "sweep.sh"
    script.write_text(
        "#!/bin/bash\n#SBATCH --array=10-18:2%2 -J sweep\n"
        "echo task $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT\n"
        "[ $SLURM_ARRAY_TASK_ID != 12 ] && [ $SLURM_ARRAY_TASK_ID != 16 ]\n"
    )
    client.run("batch", str(script))

    def ended():
        (found,) = json.loads(client.run("workload", "list", "--json"))
        return found if found["phase"] in ("Completed", "Failed") else None

    sweep = client.server.wait_for("its end", ended)
    assert sweep["phase"] == "Failed" and sweep["phaseMessage"] == "2 of 5 runs failed: 1, 3", sweep
    pods = client.server.get(f"/api/v1/workloads/{sweep['id']}/pods").json["pods"]
    assert sorted(pod["exitCode"] for pod in pods) == [0, 0, 0, 1, 1], "each was tried once"
    logs = [log_of(client.server, sweep["id"], pod=pod["name"]) for pod in pods]
    assert sorted(log.strip() for log in logs) == [f"task {number} of 5" for number in (10, 12, 14, 16, 18)]
