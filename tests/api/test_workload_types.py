"""Workload types: predefined ones whose defaults administrators change, and those that they add."""

import concurrent.futures
import uuid

import pytest
from test_access import make_caller, rule_for

TYPES = "/api/v1/workload-types"


def ids(server):
    categories = {c["name"]: c["id"] for c in server.get("/api/v1/workload-categories").json["categories"]}
    priorities = {p["name"]: p["id"] for p in server.get("/api/v1/workload-priorities").json["priorities"]}
    return categories, priorities


def body(server, name, category="Deploy", priority="medium", **more):
    categories, priorities = ids(server)
    return {
        "name": name,
        "group": "lab.example",
        "categoryId": categories[category],
        "priorityId": priorities[priority],
        **more,
    }


def by_name(server, name):
    return next(t for t in server.get(TYPES).json["types"] if t["name"] == name)


def test_a_type_is_added_changed_and_deleted(server):
    interface = {"pods": {"path": "spec.template"}}
    answer = server.post(TYPES, body(server, "TrainJob", resourceInterfaces=[interface]))
    assert answer.status == 201, answer
    added = answer.json
    assert (added["categoryName"], added["priorityName"]) == ("Deploy", "medium")
    assert added["createdBy"] == "admin@prorata.local"
    assert added["resourceInterfaces"] == [{"resourceInterface": interface}]
    assert server.get(f"{TYPES}/{added['id'].upper()}").json == added
    assert added in server.get(TYPES, externalTypesOnly="true", filterBy="group==lab.example").json["types"]
    _, priorities = ids(server)
    changed = server.request("PUT", f"{TYPES}/{added['id']}", {"priorityId": priorities["low"].upper()})
    assert changed.status == 200, changed
    assert (changed.json["priorityName"], changed.json["categoryName"]) == ("low", "Deploy")
    assert changed.json["resourceInterfaces"] == added["resourceInterfaces"]
    assert server.delete(f"{TYPES}/{added['id']}").status == 204
    for method in ("GET", "PUT", "DELETE"):
        assert server.request(method, f"{TYPES}/{added['id']}", {} if method == "PUT" else None).status == 404


def test_a_type_that_was_added_says_that_it_is_a_name_only(server):
    added = server.post(TYPES, body(server, "TrainJob")).json
    (status,) = added["clusterStatuses"]
    (condition,) = status["conditions"]
    assert (status["phase"], condition["type"], condition["status"]) == ("NotSupported", "Submittable", "False")
    assert "no work of it can be submitted" in condition["message"]
    assert not [t["name"] for t in server.get(TYPES).json["types"] if "clusterStatuses" in t and t != added]
    answer = server.post("/api/v1/workloads", {"type": "TrainJob", "name": "x"})
    below = "batch, distributed, inferences, trainings, workspaces"
    want = f"POST: this path has GET, HEAD, OPTIONS; below it these have POST: {below}"
    assert (answer.status, answer.json["message"]) == (405, want)


@pytest.mark.parametrize(
    ("member", "value", "says"),
    [
        ("name", "lowercase", "name"),
        ("group", "Upper.Case", "group"),
        ("categoryId", str(uuid.UUID(int=1)), "categoryId: there is no category"),
        ("priorityId", str(uuid.UUID(int=1)), "priorityId: there is no priority"),
        ("priorityId", "low", "priorityId"),
        ("resourceInterfaces", [{}] * 5, "resourceInterfaces"),
    ],
)
def test_what_is_wrong_is_named(server, member, value, says):
    answer = server.post(TYPES, {**body(server, "Wrong"), member: value})
    assert answer.status == 400 and says in str(answer.json), answer
    assert not [t for t in server.get(TYPES).json["types"] if t["name"] == "Wrong"]


def test_a_name_is_taken_once_in_its_group(server):
    wanted = body(server, "Twice")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(lambda _: server.post(TYPES, wanted).status, range(4)))
    assert statuses == [201, 409, 409, 409]
    assert server.post(TYPES, {**wanted, "group": "other.example"}).status == 201


def test_a_predefined_type_stays(server):
    answer = server.delete(f"{TYPES}/{by_name(server, 'Training')['id']}")
    assert answer.status == 400 and "stays" in answer.json["message"]


def test_submissions_follow_the_types_defaults(server):
    _, priorities = ids(server)
    training = by_name(server, "Training")
    before = server.workload(server.submit("before", "team-a", 0))
    put = server.request("PUT", f"{TYPES}/{training['id']}", {"priorityId": priorities["high"]})
    assert put.status == 200, put
    after = server.workload(server.submit("after", "team-a", 0))
    own = server.workload(server.submit("own", "team-a", 0, spec={"priorityClass": "very-low"}))
    assert (before["priorityClassName"], before["preemptible"]) == ("low", True)
    assert (after["priorityClassName"], after["preemptible"]) == ("high", False)
    assert own["priorityClassName"] == "very-low"
    server.kill()
    server.start()
    assert by_name(server, "Training")["priorityName"] == "high"
    assert server.request("PUT", f"{TYPES}/{training['id']}", {"priorityId": priorities["low"]}).status == 200


def test_only_an_administrator_of_the_whole_changes_types(server):
    account, token = make_caller(server, "types-reader")
    rule = rule_for(account, "Department administrator", "tenant", "1")
    assert server.post("/api/v1/authorization/access-rules", rule).status == 201
    assert server.request("GET", TYPES, token=token).status == 200
    assert server.request("POST", TYPES, body(server, "Mine"), token=token).status == 403
    training = by_name(server, "Training")["id"]
    assert server.request("PUT", f"{TYPES}/{training}", {}, token=token).status == 403
    assert server.request("DELETE", f"{TYPES}/{training}", token=token).status == 403
