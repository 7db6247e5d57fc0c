"""Limits of projects and departments over HTTP: whose limit stops what, and what is said of it. How they count, and
what restarts do to them: tests/reconciler/limits_test.c."""

import pytest

TIME, IDLE = "trainingJobTimeLimitSeconds", "trainingJobMaxIdleDurationSeconds"
DESK_TIME = "interactiveJobTimeLimitSeconds"
DESK_IDLE, LOOSE_IDLE = "interactiveJobMaxIdleDurationSeconds", "interactiveJobPreemptIdleDurationSeconds"
LAZY = {"annotations": [{"name": "prorata.io/sim-gpu-utilization", "value": "0"}]}
GANG = {"distributedFramework": "PyTorch", "numWorkers": 2}
LOOSE, FIRM = {"preemptibility": "preemptible"}, {"preemptibility": "non-preemptible"}
# A name, the project's rules, the department's, kind, specification, and whose limit stops it (None: nobody's).
CASES = [
    ("own", {TIME: 1}, {}, "trainings", {}, "training time limit of project own"),
    ("above", {}, {TIME: 1}, "trainings", {}, "training time limit of department above-d"),
    ("tighter", {TIME: 99}, {TIME: 1}, "trainings", {}, "training time limit of department tighter-d"),
    ("equal", {TIME: 1}, {TIME: 1}, "trainings", {}, "training time limit of project equal"),
    ("gang", {TIME: 1}, {}, "distributed", GANG, "training time limit of project gang"),
    ("lazy", {IDLE: 1}, {}, "trainings", LAZY, "training idle limit of project lazy"),
    ("lazies", {}, {IDLE: 1}, "distributed", GANG | LAZY, "training idle limit of department lazies-d"),
    ("desk", {}, {DESK_TIME: 1}, "workspaces", {}, "workspace time limit of department desk-d"),
    ("loose", {LOOSE_IDLE: 1}, {}, "workspaces", LAZY | LOOSE, "workspace idle limit of project loose"),
    ("firm", {DESK_IDLE: 1}, {}, "workspaces", LAZY | FIRM, "workspace idle limit of project firm"),
    ("other-desk", {DESK_IDLE: 1}, {}, "workspaces", LAZY | LOOSE, None),
    ("other-kind", {DESK_IDLE: 1, DESK_TIME: 1}, {}, "trainings", LAZY, None),
    ("busy", {IDLE: 1}, {}, "trainings", {}, None),
    ("ages", {TIME: 9223372036854775, IDLE: 2**63 - 1}, {}, "trainings", LAZY, None),
]  # fmt: skip
TENTH = {"compute": {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.1}}


def quota(server):
    pool = server.get("/api/v1/node-pools").json["nodepools"][0]
    return [{"nodePool": {"id": pool["id"], "name": pool["name"]}, "gpu": {"deserved": 1}}]


def make_project(server, name, rules, department_rules):
    body = {"clusterId": server.cluster_id(), "resources": quota(server)}
    made = server.post(
        "/api/v1/org-unit/departments", {"name": f"{name}-d", "schedulingRules": department_rules, **body}
    )
    assert made.status == 201, made
    made = server.post(
        "/api/v1/org-unit/projects",
        {"name": name, "parentId": made.json["id"], "schedulingRules": rules, **body},
    )
    assert made.status == 201, made
    return made.json


def events(server, workload):
    found = server.get(f"/api/v1/workloads/{workload}/events", limit=500).json["events"]
    return {event["reason"]: event["message"] for event in found if "Limit" in event["reason"]}


@pytest.fixture(scope="module")
def submitted(module_server):
    server, found = module_server, {}
    early = make_project(server, "early", {}, {})
    found["early"] = server.submit("early", "early", kind="trainings", spec=TENTH)
    kept = {key: early[key] for key in ("name", "resources", "description", "defaultNodePools")}
    answer = server.request(
        "PUT", f"/api/v1/org-unit/projects/{early['id']}", {**kept, "schedulingRules": {TIME: 1, IDLE: 1}}
    )
    assert answer.status == 200, answer
    for name, rules, department_rules, kind, spec, _ in CASES:
        make_project(server, name, rules, department_rules)
        found[name] = server.submit(name, name, kind=kind, spec=TENTH | spec)
    return found


@pytest.mark.parametrize("case", [case for case in CASES if case[-1]], ids=lambda case: case[0])
def test_the_limit_that_stops_it_is_named(module_server, submitted, case):
    name, *_, kind, _, limit = case
    server, workload = module_server, submitted[name]
    rule, spent = ("Idle", "GPUs idle for 1 s") if "idle" in limit else ("Time", "ran 1 s")
    words = f"{spent} ({limit})"
    server.wait_phase(workload, "Stopped")
    assert server.workload(workload)["phaseMessage"] == f"Stopped: {words}"
    said = events(server, workload)
    assert said.keys() == {f"{rule}LimitWarning", f"{rule}LimitExceeded"}
    assert said[f"{rule}LimitExceeded"] == f"{name}: Stopped: {words}"
    assert (
        said[f"{rule}LimitWarning"].startswith(f"{name} stops in 0 s: ")
        and words[words.index("(") :] in said[f"{rule}LimitWarning"]
    )
    # Resumed with nothing left of its time it ends where it was; an idle one begins anew.
    module_server.post(f"/api/v1/workloads/{kind}/{workload}/resume")
    server.wait_for("the second end", lambda: server.workload(workload)["phase"] == "Stopped")


def test_other_limits_leave_it_alone(module_server, submitted):
    for name in ["early", *(name for name, *_, words in CASES if words is None)]:
        found = module_server.workload(submitted[name])
        assert found["phase"] == "Running" and not events(module_server, submitted[name]), name
