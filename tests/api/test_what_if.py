"""What would happen if a workload were submitted now: what is said is what then happens; who may ask; what is
refused."""

import json
import threading

import pytest
from contract import check_answer
from test_access import make_caller

IMAGE = "runai.jfrog.io/demo/quickstart"
WHAT_IF = "/api/v1/scheduler/what-if"


def body(server, name, project, gpus=1, **spec):
    return {
        "name": name,
        "projectId": server.project_id(project),
        "clusterId": server.cluster_id(),
        "spec": {"image": IMAGE, "compute": {"gpuDevicesRequest": gpus}, **spec},
    }


def ask(server, name, project, gpus=1, kind="Training", token="admin", fixes=True, **spec):
    question = {"type": kind, "workload": body(server, name, project, gpus, **spec), "fixes": fixes}
    answer = server.request("POST", WHAT_IF, question, token=token)
    check_answer("ask_what_if", answer)
    return answer


def wait_settled(server, *ids):
    for workload in ids:
        server.wait_phase(workload, "Running", "Pending")


def names(answer):
    return sorted(d["workload"] for d in answer.json["displaced"])


def test_it_starts_where_it_said(server):
    answer = ask(server, "a1", "team-a", 2)
    assert answer.status == 200 and answer.json["verdict"] == "Starts" and answer.json["displaced"] == []
    assert answer.json["nodePool"] == "default" and answer.json["forecast"]["kind"] == "now"
    (place,) = answer.json["nodes"]
    assert place["gpus"] == 2 and place["pods"] == 1
    assert (
        answer.json["queue"]["project"]["with"]["allocated"] == 2
        and answer.json["queue"]["project"]["before"]["allocated"] == 0
    )
    assert server.get("/api/v1/workloads").json["workloads"] == []
    a1 = server.submit("a1", "team-a", gpus=2)
    server.wait_phase(a1, "Running")
    assert server.get(f"/api/v1/workloads/{a1}/pods").json["pods"][0]["nodeName"] == place["name"]


def test_who_it_says_gives_way_gives_way(server):
    b1, b2 = (server.submit(name, "team-b", gpus=2) for name in ("b1", "b2"))
    for workload in (b1, b2):
        server.wait_phase(workload, "Running")
    answer = ask(server, "a1", "team-a", 2)
    assert answer.json["verdict"] == "StartsByEviction" and len(names(answer)) == 1
    (displaced,) = answer.json["displaced"]
    assert (
        displaced["project"] == "team-b"
        and displaced["gpus"] == 2
        and displaced["action"] == "reclaim"
        and not displaced["moved"]
    )
    a1 = server.submit("a1", "team-a", gpus=2)
    server.wait_phase(a1, "Running")
    server.wait_phase(displaced["workloadId"], "Pending")
    (receipt,) = server.get("/api/v1/scheduler/receipts").json["receipts"]
    assert (
        receipt["workload"] == displaced["workload"]
        and receipt["beneficiary"] == "a1"
        and receipt["node"] == answer.json["nodes"][0]["name"]
    )


def test_what_waits_says_why_and_a_fix_that_holds(server):
    server.wait_phase(server.submit("b1", "team-b", gpus=2), "Running")
    answer = ask(server, "a1", "team-a", 3, nodePools=["default"])
    assert answer.json["verdict"] == "Waits" and answer.json["explanation"][0]["code"] == "NotEnoughGpus"
    assert (
        answer.json["nodes"] == []
        and answer.json["nodePool"] is None
        and answer.json["forecast"]["kind"] in ("unknown", "never")
    )
    fewer = [f for f in answer.json["fixes"] if f["kind"] == "FewerGpus"]
    assert fewer, answer.json["fixes"]
    assert (
        ask(server, "a1", "team-a", fewer[0]["change"]["gpuDevicesRequest"]).json["verdict"]
        == fewer[0]["verdict"]
        == "Starts"
    )
    assert ask(server, "a1", "team-a", 3, fixes=False).json["fixes"] == []
    a1 = server.submit("a1", "team-a", gpus=3)
    server.wait_for("an explanation", lambda: (server.workload(a1)["explanation"] or {}).get("code") == "NotEnoughGpus")
    again = server.get(f"/api/v1/workloads/{a1}/what-if")
    check_answer("get_workload_what_if", again)
    assert again.json["verdict"] == "Waits" and [f["kind"] for f in again.json["fixes"]] == [
        f["kind"] for f in answer.json["fixes"]
    ]


def test_what_runs_is_not_asked_again(server):
    a1 = server.submit("a1", "team-a")
    server.wait_phase(a1, "Running")
    answer = server.get(f"/api/v1/workloads/{a1}/what-if")
    assert answer.status == 409 and "does not wait" in answer.json["message"]
    assert server.get("/api/v1/workloads/00000000-0000-4000-8000-000000000000/what-if").status == 404


def test_every_kind_and_every_request_can_be_asked_about(server):
    assert ask(server, "w1", "team-a", 1, kind="Workspace").json["verdict"] == "Starts"
    gang = ask(server, "d1", "team-a", 1, kind="Distributed", numWorkers=4)
    assert gang.json["verdict"] == "Starts" and sum(n["pods"] for n in gang.json["nodes"]) == 4
    assert ask(server, "d2", "team-a", 1, kind="Distributed", numWorkers=5).json["verdict"] == "Waits"
    part = ask(
        server,
        "p1",
        "team-a",
        1,
        compute={"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5},
    )
    assert part.json["verdict"] == "Starts" and part.json["nodes"][0]["gpus"] == 0.5
    assert ask(server, "c1", "team-a", 0, compute={"cpuCoreRequest": 1}).json["verdict"] == "Starts"
    odd = ask(
        server, "x1", "team-a", 0, compute={"extendedResources": [{"resource": "example.com/nic", "quantity": "1"}]}
    )
    assert odd.json["verdict"] == "Waits" and odd.json["explanation"], odd
    here = ask(
        server,
        "n1",
        "team-a",
        1,
        nodeAffinityRequired={
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "team.io/rack", "operator": "Exists"}]}]
        },
    )
    assert here.json["verdict"] == "Waits" and here.json["forecast"]["kind"] == "never", here


def test_a_resource_that_nobody_knows_stands_beside_those_that_are_known(server):
    spec = {"compute": {"extendedResources": [{"resource": "example.com/m", "quantity": "1"}]}}
    waiting = server.submit("m1", "team-a", gpus=0, spec={"image": IMAGE, **spec})
    server.wait_phase(waiting, "Pending")
    for name in ("example.com/a", "example.com/z", "example.com/m"):
        answer = ask(server, "x1", "team-a", 0, compute={"extendedResources": [{"resource": name, "quantity": "1"}]})
        assert answer.json["verdict"] == "Waits", answer


def test_a_name_that_is_taken_is_refused_as_submitting_refuses_it(server):
    server.submit("a1", "team-a")
    answer = ask(server, "a1", "team-a")
    assert answer.status == 400 and answer.json["message"] == "workload.name: the project has a workload a1 already"
    assert ask(server, "a1", "team-b").json["verdict"] == "Starts"  # its namesake is another project's
    prefix = body(server, "a1", "team-a")
    prefix["useGivenNameAsPrefix"] = True
    assert server.post(WHAT_IF, {"type": "Training", "workload": prefix}).json["verdict"] == "Starts"


BAD = [
    ("no body at all", None, "type"),
    ("no workload", {"type": "Training"}, "workload"),
    ("a kind that does not exist", {"type": "Job", "workload": {}}, "type"),
    ("a workload that is none", {"type": "Training", "workload": []}, "workload"),
    ("an empty workload", {"type": "Training", "workload": {}}, "workload."),
    ("fixes that are no switch", {"type": "Training", "workload": {}, "fixes": "all"}, "fixes"),
]


@pytest.mark.parametrize("question, field", [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_a_bad_question_names_its_field(server, question, field):
    answer = server.post(WHAT_IF, question if question is not None else {})
    assert answer.status == 400 and field in answer.json["message"], answer


BAD_WORKLOADS = [
    ({"name": "Not_A_Name"}, "workload.name"),
    ({"projectId": "999"}, "workload.projectId"),
    ({"clusterId": "00000000-0000-4000-8000-000000000000"}, "workload.clusterId"),
    ({"spec": None}, "workload.spec"),
    ({"spec": {"image": IMAGE, "compute": {"gpuDevicesRequest": -1}}}, "workload.spec.compute.gpuDevicesRequest"),
    ({"spec": {"image": IMAGE, "nodePools": ["nowhere"]}}, "workload.spec.nodePools[0]"),
    ({"spec": {"image": IMAGE, "priorityClass": "urgent"}}, "workload.spec.priorityClass"),
    ({"spec": {"image": IMAGE, "parallelism": 10**9}}, "workload.spec.parallelism"),
]


def test_a_workload_that_could_not_be_submitted_is_refused_with_its_field(server):
    for change, field in BAD_WORKLOADS:
        answer = server.post(WHAT_IF, {"type": "Training", "workload": {**body(server, "x1", "team-a"), **change}})
        assert answer.status == 400 and answer.json["message"].startswith(field), (change, answer)


def test_who_may_not_create_may_not_ask(server):
    mine = server.project_id("team-a")
    _, viewer = make_caller(server, "vera", ("Viewer", "project", mine))
    assert ask(server, "x1", "team-a", token=viewer).status == 403
    _, researcher = make_caller(server, "ann", ("L1 researcher", "project", mine))
    question = {"type": "Training", "workload": body(server, "x1", "team-a")}
    assert server.request("POST", WHAT_IF, question, token=researcher).json["verdict"] == "Starts"
    question["workload"]["projectId"] = server.project_id("team-b")
    answer = server.request("POST", WHAT_IF, question, token=researcher)
    assert answer.status == 400 and answer.json["message"].startswith("workload.projectId: no project")
    assert server.request("POST", WHAT_IF, question, token=None).status == 401


def test_strangers_have_no_names(server):
    b1, b2 = (server.submit(name, "team-b", gpus=2) for name in ("secret-1", "secret-2"))
    for workload in (b1, b2):
        server.wait_phase(workload, "Running")
    _, token = make_caller(server, "ann", ("L1 researcher", "project", server.project_id("team-a")))
    answer = ask(server, "a1", "team-a", 2, token=token)
    (displaced,) = answer.json["displaced"]
    assert (
        displaced["workload"] == "another project's workload"
        and displaced["workloadId"] is None
        and displaced["project"] == "another project"
    )
    assert displaced["gpus"] == 2
    wider = ask(server, "a1", "team-a", 4, token=token)
    assert wider.json["verdict"] == "Waits"
    queue = server.submit("secret-3", "team-b", gpus=2)
    server.wait_phase(queue, "Pending")
    order = server.request("GET", "/api/v1/scheduler/queue", token=token)
    tree = server.request("GET", "/api/v1/scheduler/fairshare", token=token)
    assert [w["workload"] for w in order.json["workloads"]] == ["another project's workload"] and order.json[
        "workloads"
    ][0]["workloadId"] is None
    research = next(d for d in tree.json["root"]["children"] if d["name"] == "research")
    assert {p["name"]: p["id"] for p in research["children"]}["another project"] is None
    for shown in (answer, wider, order, tree):
        assert b"team-b" not in shown.body and b"secret" not in shown.body, shown
    a1 = server.submit("a1", "team-a", gpus=2)
    server.wait_phase(a1, "Running")
    assert server.request("GET", "/api/v1/scheduler/receipts", token=token).json["receipts"] == []
    _, other = make_caller(server, "bob", ("L1 researcher", "project", server.project_id("team-b")))
    receipts = server.request("GET", "/api/v1/scheduler/receipts", token=other)
    check_answer("get_scheduler_receipts", receipts)
    (receipt,) = receipts.json["receipts"]
    assert receipt["workload"].startswith("secret-") and receipt["beneficiary"] == "another project's workload"
    assert receipt["beneficiaryId"] is None and receipt["beneficiaryProject"] == "another project"
    assert "team-a" not in receipts.body.decode() and "a1" not in receipt["sentence"].split(), receipt
    (full,) = server.get("/api/v1/scheduler/receipts").json["receipts"]
    assert (
        full["beneficiary"] == "a1"
        and full["beneficiaryProject"] == "team-a"
        and "a1 of project team-a" in full["sentence"]
    )
    waiting = server.wait_for(
        "an explanation", lambda: server.request("GET", f"/api/v1/workloads/{queue}/explanation", token=other).json
    )
    assert "team-a" not in json.dumps({k: v for k, v in waiting.items() if k != "evidence"}), waiting


def test_lists_can_be_narrowed(server):
    for name in ("b1", "b2"):
        server.wait_phase(server.submit(name, "team-b", gpus=2), "Running")
    server.wait_phase(server.submit("a1", "team-a", gpus=2), "Running")
    (receipt,) = server.get("/api/v1/scheduler/receipts").json["receipts"]

    def count(**query):
        answer = server.get("/api/v1/scheduler/receipts", **query)
        check_answer("get_scheduler_receipts", answer)
        return len(answer.json["receipts"])

    assert (
        count(workloadId=receipt["workloadId"])
        == count(projectId=receipt["projectId"])
        == count(departmentId=receipt["departmentId"])
        == 1
    )
    assert count(nodePool="default") == count(since="2020-01-01T00:00:00Z") == 1
    assert (
        count(projectId=server.project_id("team-a"))
        == count(nodePool="other")
        == count(since="2100-01-01T00:00:00Z")
        == count(offset=1)
        == 0
    )
    assert server.get("/api/v1/scheduler/receipts", since="yesterday").status == 400
    assert server.get("/api/v1/scheduler/queue", nodePool="nowhere").status == 404
    assert server.get("/api/v1/scheduler/fairshare", nodePool="nowhere").status == 404
    assert server.get("/api/v1/scheduler/fairshare", resource="disk").status == 400


def share_sum(node):
    assert sum(t["given"] for t in node["terms"]) == pytest.approx(node["fairShare"]) or node["kind"] == "pool", node
    for child in node["children"]:
        share_sum(child)


def test_terms_of_a_share_sum_to_it(server):
    server.wait_phase(server.submit("b1", "team-b", gpus=2), "Running")
    server.submit("b2", "team-b", gpus=3)
    for resource in ("gpu", "cpu", "memory"):
        answer = server.get("/api/v1/scheduler/fairshare", resource=resource)
        check_answer("get_scheduler_fairshare", answer)
        share_sum(answer.json["root"])


def test_many_questions_at_once_stop_nobody(server):
    server.wait_phase(server.submit("b1", "team-b", gpus=2), "Running")
    question = {"type": "Training", "workload": body(server, "x1", "team-a", 9)}
    statuses = []

    def run():
        for _ in range(20):
            answer = server.request("POST", WHAT_IF, question)
            statuses.append(answer.status)
            if answer.status == 503:
                assert answer.headers["Retry-After"] == "1"

    threads = [threading.Thread(target=run) for _ in range(12)]
    for thread in threads:
        thread.start()
    workload = server.submit("a1", "team-a", gpus=1)
    for thread in threads:
        thread.join()
    assert set(statuses) <= {200, 503} and 200 in statuses
    server.wait_phase(workload, "Running")
    assert server.post(WHAT_IF, question).status == 200
