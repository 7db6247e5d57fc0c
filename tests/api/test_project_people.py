"""Who of a project holds what, waits for what, and has used how much."""

import pytest
from test_access import make_caller
from test_person_bounds import Person


def people(server, project="team-a", token="admin", **query):
    path = f"/api/v1/org-unit/projects/{server.project_id(project)}/people"
    parts = "&".join(f"{key}={value}" for key, value in query.items())
    answer = server.request("GET", f"{path}?{parts}", token=token)
    assert answer.status == 200, answer
    return answer.json["people"]


def test_what_people_hold_wait_for_and_have_used(server):
    ann, bob = Person(server, "ann"), Person(server, "bob")
    assert people(server) == []
    held = ann.submit("held", 2)
    server.wait_phase(held, "Running")
    server.wait_phase(server.submit("theirs", "team-b", 2), "Running")
    server.wait_phase(bob.submit("waits", 1), "Pending")
    done = bob.submit("ends", 0, annotations=[{"name": "prorata.io/sim-duration", "value": "1s"}])
    server.wait_phase(done, "Completed")
    first, second = server.wait_for(
        "hours", lambda: (lambda all: all if all[0]["gpuHours"] > 0 else None)(people(server, days=1))
    )
    assert {**first, "gpuHours": 0} == {
        "name": first["name"],
        "allocatedGpus": 2,
        "runningWorkloads": 1,
        "pendingGpus": 0,
        "pendingWorkloads": 0,
        "gpuHours": 0,
    }
    assert first["name"] == server.workload(held)["submittedBy"]
    assert (second["pendingGpus"], second["pendingWorkloads"], second["allocatedGpus"]) == (1, 1, 0)
    # Who reads the project's workloads reads this, too.
    assert [p["name"] for p in people(server, token=bob.token)] == [first["name"], second["name"]]
    # What has ended still counts.
    assert server.delete(f"/api/v1/workloads/trainings/{held}").status == 202
    server.wait_for("it is gone", lambda: len(server.get("/api/v1/workloads").json["workloads"]) == 3)
    (ann_now,) = [p for p in people(server) if p["name"] == first["name"]]
    assert ann_now["gpuHours"] >= first["gpuHours"] and ann_now["runningWorkloads"] == 0


@pytest.mark.parametrize("days", ["0", "367", "-1", "many", "1.5"])
def test_days_are_checked(server, days):
    answer = server.get(f"/api/v1/org-unit/projects/{server.project_id('team-a')}/people", days=days)
    assert answer.status == 400 and "days" in answer.json["message"]


def test_it_is_nobodys_who_reads_no_workloads_there(server):
    _, other = make_caller(server, "eve", ("L1 researcher", "project", server.project_id("team-b")))
    path = f"/api/v1/org-unit/projects/{server.project_id('team-a')}/people"
    assert server.request("GET", path, token=other).status == 404
    assert server.get("/api/v1/org-unit/projects/9999/people").status == 404


def test_the_command_line_has_a_table(client):
    server = client.server
    server.wait_phase(server.submit("held", "team-a", 2), "Running")
    lines = client.run("project", "people", "team-a", "--days", "7", "--no-headers").splitlines()
    assert [line.split()[1:5] for line in lines if "admin@" in line] == [["2.00", "1", "0.00", "0"]]
    assert "days" in client.run("project", "people", "team-a", "--days", "none", status=1)
