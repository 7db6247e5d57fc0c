"""`--hold`: submitted suspended, from a line or a script; `resume` lets it begin."""

import json


def phase_of(client, name):
    (found,) = [w for w in json.loads(client.run("workload", "list", "-p", "team-a", "--json")) if w["name"] == name]
    return found["phase"]


def test_hold_waits_for_resume(client):
    said = client.run("training", "submit", "night", "-i", "x", "-g", "1", "-p", "team-a", "--hold")
    assert "training resume night -p team-a' lets it begin." in said
    client.server.wait_for("it is held", lambda: phase_of(client, "night") == "Stopped")
    client.run("training", "resume", "night", "-p", "team-a")
    client.server.wait_for("it runs", lambda: phase_of(client, "night") == "Running")


def test_a_script_of_slurm_is_held(client, tmp_path):
    script = tmp_path / "train.sh"
    script.write_text("#!/bin/bash\n#SBATCH --hold -J held --gpus=1\necho begun\n")
    client.run("batch", "-i", "x", "-p", "team-a", str(script))
    client.server.wait_for("it is held", lambda: phase_of(client, "held") == "Stopped")
