"""What workloads leave in their homes is measured; a project whose homes take too much submits nothing new."""

import os

import pytest
from pods import submit, wait_log
from test_logs import MIB, metrics_of

SHORT = {"terminationGracePeriodSeconds": 1}
OVER = "may take 2Mi (--local-home-project)"


def large_homes_of(server):
    events = server.get("/api/v1/events", limit=500).json["events"]
    return [event["message"] for event in events if event["reason"] == "HomesTooLarge"]


@pytest.mark.skipif(os.geteuid() != 0, reason="homes of workloads' own need root")
def test_a_project_with_large_homes_submits_nothing(make_server, folder):
    server = make_server("--backend", "local", "--local-gpus", "0", "--quick-start", "--local-home-project", "2Mi")

    def refused(project, name):
        answer = server.post(
            "/api/v1/workloads/trainings",
            {
                "name": name,
                "projectId": server.project_id(project),
                "clusterId": server.cluster_id(),
                "spec": {"image": "any", "command": "true", "compute": {"gpuDevicesRequest": 0}},
            },
        )
        return answer.json["message"] if answer.status == 400 else None

    def homes_of_team_a():
        return metrics_of(server).get('prorata_project_home_bytes{project="team-a"}', 0)

    script = "mkdir -p a/b/c; head -c 3000000 /dev/urandom > a/b/c/file; ln a/b/c/file again; ln -s / out; echo full; "
    workload = submit(server, "large", script + "sleep 1000", gpus=0, spec=SHORT)
    submit(server, "small", "head -c 100000 /dev/urandom > file", gpus=0, project="team-b")
    wait_log(server, workload, "full")
    server.wait_for("it is measured", lambda: homes_of_team_a() > 2 * MIB, 60)
    message = refused("team-a", "first")
    assert message.startswith("projectId: the homes of team-a's workloads take ") and OVER in message
    assert not refused("team-b", "others")
    assert 3 * 10**6 <= homes_of_team_a() < 4 * MIB, "a file of two names once, and nothing behind a link"
    told = server.wait_for("it is told", lambda: large_homes_of(server))
    assert len(told) == 1 and "--local-home-project" in told[0]
    server.kill()
    server.start()
    server.wait_for("it is measured after a restart too", lambda: homes_of_team_a() > 2 * MIB, 60)
    assert refused("team-a", "second")
    assert server.delete(f"/api/v1/workloads/trainings/{workload}").status == 202
    server.wait_for("its home is gone", lambda: homes_of_team_a() == 0, 60)
    assert not refused("team-a", "third")


# A file before and one after the next folder, whatever the order in which a file system names them. A path of all
# levels is longer than one call takes.
DEEP = """
import os
for level in range(1500):
    for name in ("a", "z"):
        with open(name, "wb") as file:
            file.write(bytes(5000))
    os.mkdir("deeper")
    os.symlink("..", "link")
    os.chdir("deeper")
"""


def bytes_below(folder):
    """As stat has them, by descriptors: no path is long enough."""
    total, descriptors = os.lstat(folder).st_blocks * 512, [os.open(folder, os.O_RDONLY)]
    while descriptors:
        here = descriptors.pop()
        for name in os.listdir(here):
            total += os.lstat(name, dir_fd=here).st_blocks * 512
            if name == "deeper":
                descriptors.append(os.open(name, os.O_RDONLY, dir_fd=here))
        os.close(here)
    return total


@pytest.mark.skipif(os.geteuid() != 0, reason="homes of workloads' own need root")
def test_what_lies_deep_in_a_home_counts(make_server, folder):
    folder.chmod(0o755)
    server = make_server("--backend", "local", "--local-gpus", "0", "--quick-start", "--local-scratch", str(folder))

    def homes_of_team_a():
        return metrics_of(server).get('prorata_project_home_bytes{project="team-a"}', 0)

    workload = submit(server, "deep", f"python3 -c '{DEEP}'; echo full; sleep 1000", gpus=0, spec=SHORT)
    wait_log(server, workload, "full")
    (home,) = folder.glob(f"prorata-*-homes/{workload}")
    total = bytes_below(home)
    assert total > 1500 * 2 * 5000
    server.wait_for("all of it is measured", lambda: homes_of_team_a() == total, 60)
    assert server.delete(f"/api/v1/workloads/trainings/{workload}").status == 202
    server.wait_for("its home is gone", lambda: homes_of_team_a() == 0 and not home.exists(), 60)
