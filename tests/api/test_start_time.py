"""`startAt`: what is submitted joins the queue at a time, and says until then that it waits for it."""

import datetime

import pytest
from test_what_if import ask, body

LATER = "2099-01-31T22:00:00Z"


def submit(server, name, start, gpus=1, kind="trainings", **spec):
    return server.submit(name, "team-a", gpus, kind=kind, spec={"startAt": start, **spec})


def seconds_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def in_seconds(seconds):
    time = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.mark.parametrize("kind", ["trainings", "workspaces"])
def test_it_waits_for_its_time(server, kind):
    later = submit(server, "later", LATER, kind=kind)
    said = server.explanation(later)
    assert (said["code"], said["sentence"]) == (
        "NotReady",
        "Starts no sooner than 2099-01-31T22:00:00.000Z, as its submitter asked.",
    )
    assert (said["forecast"]["kind"], said["forecast"]["at"]) == ("rule", "2099-01-31T22:00:00.000Z")
    assert server.get(f"/api/v1/workloads/{kind}/{later}").json["spec"]["startAt"] == LATER
    # Others don't wait behind it, and a restart changes nothing.
    server.wait_phase(server.submit("now", "team-a", 2), "Running")
    server.stop()
    server.start()
    assert server.workload(later)["phase"] == "Pending"
    assert server.explanation(later)["sentence"] == said["sentence"]


def test_it_starts_then(server):
    start = in_seconds(3)
    soon = submit(server, "soon", start)
    row = server.wait_phase(soon, "Running")
    assert seconds_of(row["phaseUpdatedAt"]) >= seconds_of(start)


def test_a_time_that_is_over_is_no_bound(server):
    server.wait_phase(submit(server, "old", "2001-01-01T00:00:00+02:00"), "Running")


def test_a_gang_waits_whole(server):
    gang = submit(server, "gang", LATER, kind="distributed", numWorkers=1, distributedFramework="PyTorch")
    assert server.explanation(gang)["sentence"].startswith("Starts no sooner than 2099")


def test_it_may_be_stopped_and_deleted_before(server):
    later = submit(server, "later", LATER)
    server.explanation(later)
    path = f"/api/v1/workloads/trainings/{later}"
    assert server.post(f"{path}/suspend").status == 202
    server.wait_phase(later, "Stopped")
    assert server.post(f"{path}/resume").status == 202
    server.wait_phase(later, "Pending")
    assert server.explanation(later)["sentence"].startswith("Starts no sooner")
    assert server.delete(path).status == 202
    server.wait_for("it is gone", lambda: server.get("/api/v1/workloads").json["workloads"] == [])


@pytest.mark.parametrize(
    "start", ["tomorrow", "2026-01-31", "22:00", "", 5, "2026-13-01T00:00:00Z", "2026-01-01T00:00"]
)
def test_what_is_no_time_is_refused_by_field(server, start):
    answer = server.post("/api/v1/workloads/trainings", body(server, "a", "team-a", startAt=start))
    assert answer.status == 400 and "startAt" in answer.json["message"], answer


def test_what_if_says_when(server):
    answer = ask(server, "a", "team-a", startAt=LATER)
    assert answer.status == 200, answer
    assert answer.json["verdict"] == "Waits"
    assert answer.json["forecast"]["at"] == "2099-01-31T22:00:00.000Z"
    assert answer.json["forecast"]["sentence"].startswith("Gets its place at 2099-01-31T22:00:00.000Z if nothing else")
