"""What is shared has a share: one person, pod or address takes all that one may have, and others still get in."""

import re

import pytest
from people import make_person
from pods import submit


def figures(server, place):
    """Bound, taken, refused."""
    text = server.get("/metrics").body.decode()
    names = ("prorata_places", "prorata_places_taken", "prorata_places_refused_total")
    return tuple(int(re.search(rf'^{name}{{place="{place}"}} (\d+)$', text, re.M)[1]) for name in names)


def refusals(server, place):
    """Lines of the log."""
    return [
        line for line in server.tail(100000).splitlines() if "a place was refused" in line and f"place={place} " in line
    ]


@pytest.fixture
def machine(start):
    return start("--workloads-per-person", "100")


def test_places_of_shells_are_shared_between_people(machine):
    """256: 64 for one account, the last 32 for administrators."""
    place = [("L1 researcher", "project", machine.project_id("team-a"))]
    tokens = [make_person(machine, f"person-{i}@example.org", *place) for i in range(4)]
    pods = [submit(machine, f"pod-{i}", "sleep 1000", gpus=0) for i in range(15)]
    for pod in pods:
        machine.wait_phase(pod, "Running")

    def enter(pod, token):
        return machine.request("POST", f"/api/v1/workloads/{pod}/exec", {"command": ["sleep", "1000"]}, token=token)

    wanted = [pods[i // 16] for i in range(224)]
    for i, pod in enumerate(wanted):
        assert enter(pod, tokens[i // 64]).status == 201, i
    for token, why in (
        (tokens[0], "you hold 64, all that one account may have of 256"),
        (tokens[3], "all 256 places are"),
    ):
        refused = enter(pods[14], token)
        assert refused.status == 503 and f"shells: {why}" in refused.json["message"], refused
    assert refused.headers["Retry-After"]
    assert figures(machine, "shells") == (256, 224, 2)
    assert len(refusals(machine, "shells")) == 1, "a line for all of a minute"
    assert enter(pods[14], "admin").status == 201
