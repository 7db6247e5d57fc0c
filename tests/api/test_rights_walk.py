"""Every operation that is served, by everybody: no token, a bad one, each predefined role in three scopes; on the own
project, a neighbour's and one of another department. Who may do what stands in rights/matrix.csv and
rights/operations.psv, both written by hand."""

import pathlib
import re
import shutil
import tempfile

import pytest
import yaml
from rights_matrix import matrix
from rights_walk import LONG, Expectation, Walk, requests, served
from servers import ROOT, Server

DOCUMENT = yaml.load((ROOT / "openapi/openapi.yaml").read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
SERVED = served(DOCUMENT)
ROWS = requests()
ENDING = {"delete_session", "end_openid_session"}  # end what their caller signs in with
NAMES = [name for name in SERVED if name in ROWS]


@pytest.fixture(scope="module")
def walk():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-test-"))
    server = Server(folder, "--quick-start").start()
    yield Walk(server, matrix(DOCUMENT["components"]["schemas"]["ResourceType"]["enum"]))
    assert server.stop() == 0, server.tail()
    log = server.log.read_text(errors="replace")
    assert "Sanitizer" not in log and "runtime error" not in log, server.tail()
    shutil.rmtree(folder)


def test_each_operation_has_a_row():
    assert set(ROWS) == set(SERVED), "a new operation says here who may call it"
    for name, (_, _, node) in SERVED.items():
        permission = node["x-permission"]
        told = permission if isinstance(permission, str) else f"{permission['resource']}:{permission['action']}"
        row = ROWS[name]
        assert told.replace("none", "open") == (row["gate"] or row["permission"]), name


def test_nobody_gets_in_without_a_good_token(walk):
    wrong = []
    for stranger in walk.strangers():
        for name in NAMES:
            if ROWS[name]["permission"] == "open":
                continue
            method, path, body = walk.request(name, walk.targets[0])
            answer = walk.send(method, path, body, stranger.token)
            told = answer.json if method != "HEAD" else {}
            if answer.status != 401 or set(told) - {"code", "message", "details"} or b"qmx" in answer.body:
                wrong.append((stranger.name, name, answer))
    assert not wrong, "\n".join(map(str, wrong))


def hidden_from(caller, walk):
    """What no answer to the caller may hold: the names of what lies outside his scope."""
    return [t.mark.encode() for t in walk.targets if not caller.contains((1, t.department["id"], t.project))]


def in_project(walk, role):
    return next(c for c in walk.callers if c.role == role and c.scope == "project")


NOWHERE = {
    "project": "987654",
    "department": "987654",
    "projectId": "987654",
    "departmentId": "987654",
    "accessRuleId": "987654",
}
NOWHERE |= dict.fromkeys(("workload", "workloadId", "podId", "AssetId"), "11111111-2222-4333-8444-555555555555")


@pytest.mark.parametrize("name", [name for name in NAMES if ROWS[name]["place"] in ("project", "department")])
def test_what_is_hidden_answers_like_what_is_not_there(walk, name):
    """Word for word, but for the id that was asked for; for the role that may do everything in its project."""
    caller, target = in_project(walk, "System administrator"), walk.targets[2]
    method, path, body = walk.request(name, target)
    hidden = walk.send(method, path, body, caller.token)
    values = walk.values(name, target)
    walk.nowhere = {k: v for k, v in NOWHERE.items() if k in values}
    method, path, body = walk.request(name, target)
    walk.nowhere = {}
    missing = walk.send(method, path, body, caller.token)
    told = [hidden.body.decode(), missing.body.decode()]
    for word, value in NOWHERE.items():
        told = [re.sub(rf"\b({re.escape(str(values[word]))}|{value})\b", "ID", text) for text in told]
    assert hidden.status == missing.status >= 400 and told[0] == told[1]


def has_search(name):
    return any(
        "Search" in p.get("$ref", "") or p.get("name") == "search" for p in SERVED[name][2].get("parameters", [])
    )


@pytest.mark.parametrize("name", [n for n in NAMES if SERVED[n][0] == "GET" and has_search(n)])
def test_a_search_finds_nothing_that_is_hidden(walk, name):
    """By names that the caller guesses: no row and no number."""
    for role in ("System administrator", "Viewer", "L1 researcher"):
        caller = in_project(walk, role)
        for target in walk.targets[1:]:
            _, path, _ = walk.request(name, walk.targets[0])
            answer = walk.send("GET", f"{path}{'&' if '?' in path else '?'}search={target.mark}", None, caller.token)
            told = answer.json["accessRules"]["accessRules"] if name == "get_me_access_rules" else answer.json
            found = (
                told.get("count", 0)
                if "count" in told
                else told
                if isinstance(told, list)
                else next(iter(told.values()), None)
            )
            assert answer.status in (200, 403) and (answer.status == 403 or not found), (role, answer)


# Hardware is everybody's: what is used of it changes for all.
HARDWARE = {
    "get_nodes",
    "get_tenant_nodes",
    "get_devices",
    "get_nodepools",
    "get_nodepool",
    "get_clusters",
    "get_cluster_by_uuid",
    "get_overview_nodes",
}
HARDWARE |= {
    "get_node_telemetry",
    "get_cluster_metrics",
    "get_nodepool_metrics",
    "get_node_metrics",
    "list_simulation_nodes",
    "get_scheduler_fairshare",
}
READS = [
    n
    for n in NAMES
    if SERVED[n][0] == "GET"
    and ROWS[n]["permission"] != "open"
    and n not in HARDWARE | {"stream_events", "get_session"}
]


def test_what_a_neighbour_does_changes_no_answer(walk):
    """Counts, sums, events, explanations, the queue, forecasts: nothing tells of a project that the caller does not
    see. What it asks of GPUs is another matter: it moves shares and the queue, where it stands without its name."""
    server, own, other = walk.server, walk.targets[0], walk.targets[1]
    callers = [in_project(walk, role) for role in ("Viewer", "L1 researcher", "System administrator")]
    waits = server.submit("qmx-waits", own.project_name, 64, spec=LONG)  # more than there is
    server.wait_for("its explanation", lambda: server.workload(waits).get("explanation"))
    own.workloads["trainings"], kept = waits, own.workloads["trainings"]
    asked = {name: walk.request(name, own) for name in READS}

    def answers():
        """Without what grows by itself with time, what all machines of a pool do together, measured at times, and when
        the scheduler decided last."""
        told = {(c.name, n): walk.send(*asked[n], c.token) for c in callers for n in READS}
        itself = re.compile(
            rb'"\w*Seconds":[\d.]+|"used":(?:[\d.]+|{[^}]*})|"(?:decidedAt|planningSince)":(?:null|"[^"]*")'
        )
        return {key: (a.status, itself.sub(b"", a.body)) for key, a in told.items()}

    first, second = answers(), answers()
    before = {key: answer for key, answer in second.items() if first[key] == answer}
    changing = {name for name in READS if any((c.name, name) not in before for c in callers)}
    assert len(changing) < 0.1 * len(READS), changing
    workload = server.submit("qnx-more", other.project_name, 0, spec=LONG)
    server.wait_phase(workload, "Running")
    assert server.delete(f"/api/v1/workloads/workspaces/{other.workloads['workspaces']}").status == 202
    other.asset(server, "compute", "secret")
    server.post(
        "/api/v1/org-unit/projects",
        {"name": "qnx-new", "clusterId": walk.cluster, "parentId": other.department["id"], "resources": []},
    )
    after = answers()
    wrong = [(key, answer, after[key]) for key, answer in before.items() if answer != after[key]]
    own.workloads["trainings"], gone = kept, other.workloads["workspaces"]
    server.wait_for("it is gone", lambda: b"deleted" in server.get(f"/api/v1/workloads/{gone}").body)
    walk.mend("delete_workspace", other)
    for kind in ("workspaces/", ""):
        told = walk.send("GET", f"/api/v1/workloads/{kind}{gone}", None, callers[2].token)
        assert told.json == {"code": 404, "message": f"workload {gone}: not found"}, "nor that it ever was"
    assert not wrong, f"{len(wrong)}: {[key for key, *_ in wrong]}\n" + "\n".join(map(str, wrong[:6]))


@pytest.mark.parametrize("name", [name for name in NAMES if ROWS[name]["permission"] != "open"])
def test_who_may_do_what(walk, name):
    row, wrong = ROWS[name], []
    for target in walk.targets if row["place"] in ("department", "project", "made") else walk.targets[:1]:
        for caller in walk.callers:
            method, path, body = walk.request(name, target)
            expected = Expectation(walk, caller, row, target).statuses()
            answer = walk.send(method, path, body, caller.token)
            if answer.status not in expected:
                wrong.append((caller.role, caller.scope, target.mark, "expected", expected, answer))
            elif any(mark in answer.body for mark in hidden_from(caller, walk)):
                wrong.append((caller.role, caller.scope, target.mark, "tells what is hidden", answer))
            if name in ENDING:
                caller.token = walk.token_of(caller.account)
            if answer.status < 300 and method == "DELETE":
                walk.forget(name)
                walk.mend(name, target)
    assert not wrong, f"{len(wrong)} of them\n" + "\n".join(map(str, wrong[:12]))
