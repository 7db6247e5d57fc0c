"""Who did what: every write, sign-in and refused try leaves a record; who sees it, how, and what is never in it."""

import concurrent.futures
import csv
import io
import json
import re
import subprocess
import urllib.parse

import pytest
from contract import OPERATIONS
from servers import ADMIN, PASSWORD, PRORATA
from test_access import department_id, make_caller

ALL = {"start": "2020-01-01T00:00:00Z", "end": "2100-01-01T00:00:00Z"}
# No writes, though they are no GET; and the keys of a shell, which has its record.
NO_WRITES = {"get_permitted_scopes", "ask_what_if", "ask_what_if_quota", "create_exec_input"}


def records(server, token="admin", **query):
    path = "/api/v1/audit/log?" + "&".join(f"{k}={v}" for k, v in {**ALL, "numberOfSamples": 1000, **query}.items())
    answer = server.request("GET", path, token=token)
    assert answer.status == 200, answer
    assert answer.json["audit_logs"] == answer.json["logs"]
    return answer.json["audit_logs"]


def last(server, **query):
    found = records(server, numberOfSamples=1, **query)
    assert found, query
    return found[0]


def verify(server):
    return subprocess.run([PRORATA, "verify", "--data", str(server.data)], capture_output=True, text=True, timeout=60)


def test_every_write_of_the_document_leaves_a_record(server):
    """A caller without any rights asks for each of them: it is refused, and each refusal has its record."""
    writes = {
        name: (method, path)
        for name, (method, path, node) in OPERATIONS.items()
        if method != "GET"
        and name not in NO_WRITES
        and (not isinstance(node.get("x-permission"), dict) or node["x-permission"]["action"] != "read")
    }
    assert len(writes) > 60
    nobody = make_caller(server, "nobody")[1]
    for method, path in (writes[name] for name in sorted(writes, key=lambda name: name == "delete_session")):
        server.request(method, re.sub(r"{\w+}", "00000000-0000-4000-8000-000000000000", path), {}, token=nobody)

    def missing():
        found = {r["metadata"]["operation"] for r in records(server)}
        return set(writes) - found

    server.wait_for("a record of each", lambda: not missing())


def test_a_change_says_what_was_before_and_after(server):
    project = server.project_id("team-a")
    body = server.get(f"/api/v1/org-unit/projects/{project}").json
    resources = body["resources"]
    resources[0]["gpu"]["deserved"] = 3
    change = {"name": body["name"], "description": "new", "resources": resources}
    assert server.request("PUT", f"/api/v1/org-unit/projects/{project}", change).status == 200
    record = last(server)
    assert (record["subject"], record["subject_type"], record["source_ip"]) == (ADMIN, "User", "127.0.0.1")
    assert (record["action"], record["http_method"], record["result"]) == ("update", "PUT", "Succeeded")
    assert (record["entity_type"], record["entity_id"], record["entity_name"]) == ("project", project, "team-a")
    assert record["url"] == f"/api/v1/org-unit/projects/{project}" and record["http_status_code"] == 200
    changes = {c["field"]: (c.get("before"), c.get("after")) for c in record["changes"]}
    assert changes.pop("description") == ("made for the quick starts", "new")
    assert list(changes.values()) == [(2, 3)] and "gpu.deserved" in next(iter(changes))
    assert server.delete(f"/api/v1/org-unit/projects/{project}").status in (200, 202, 204)
    record = last(server)
    assert (record["action"], record["entity_name"]) == ("delete", "team-a")
    assert {c["field"]: c.get("before") for c in record["changes"]}["description"] == "new"


def test_what_is_made_has_its_id(server):
    workload = server.submit("w", "team-a")
    record = last(server)
    assert (record["action"], record["entity_type"], record["entity_id"]) == ("create", "workload", workload)
    assert record["entity_name"] == "w"
    department = server.get("/api/v1/org-unit/departments").json["departments"][0]["id"]
    body = {"name": "p", "clusterId": server.cluster_id(), "parentId": department, "resources": []}
    project = server.post("/api/v1/org-unit/projects", body).json["id"]
    assert last(server)["entity_id"] == project


def test_sign_ins_are_told_and_folded(server):
    for _ in range(2):
        server.request(
            "POST", "/api/v1/token", {"grantType": "password", "username": ADMIN, "password": "wrong"}, token=None
        )
    server.request(
        "POST",
        "/api/v1/token",
        {"grantType": "password", "username": "My-Secret-Passw0rd", "password": "x"},
        token=None,
    )
    server.request("DELETE", "/api/v1/session", token=server.sign_in())
    server.token = None
    assert last(server, filterBy="action==sign-out")["subject"] == ADMIN
    good = last(server, filterBy="action==sign-in,result==Succeeded")
    assert good["subject"] == ADMIN and good["metadata"]["grant"] == "password"

    def failed():
        return records(server, filterBy="action==sign-in,result==Failed")

    server.wait_for("the refused ones", lambda: len(failed()) >= 2)
    assert {r["subject"] for r in failed()} <= {ADMIN, ""}
    server.stop()
    server.start()
    server.token = None
    assert sum(r["count"] for r in failed() if r["subject"] == ADMIN) == 2
    assert "My-Secret-Passw0rd" not in json.dumps(records(server))


def test_a_flood_of_refused_tries_is_folded_and_bounded(server):
    def ask(number):
        path = f"/api/v1/users/00000000-0000-4000-8000-{number:012}"
        return server.request("DELETE", path, token=None).status

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(400))) == {401}
    server.stop()
    server.start()
    server.token = None
    found = records(server, filterBy="result==Failed")
    assert sum(r["count"] for r in found) == 400 and len(found) <= 4, found


def test_secrets_are_in_no_record(server):
    secrets = [PASSWORD]
    env = [{"name": "HF_TOKEN", "value": "hf-env-secret"}, {"name": "PLAIN", "value": "plain-env-value"}]
    server.submit("w", "team-a", spec={"environmentVariables": env, "args": "--token args-secret"})
    secrets += ["hf-env-secret", "plain-env-value", "args-secret"]
    user = server.post("/api/v1/users", {"email": "a@example.org"}).json
    secrets.append(user["tempPassword"])
    secrets.append(server.post(f"/api/v1/users/{user['id']}/password").json["tempPassword"])
    account = make_caller(server, "account")[0]
    secrets.append(account["clientSecret"])
    token = server.sign_in("a@example.org", secrets[-2])
    change = {"currentPassword": secrets[-2], "newPassword": "a-brand-new-Passw0rd"}
    assert server.request("POST", "/api/v1/me/password", change, token=token).status == 200
    secrets += ["a-brand-new-Passw0rd", token]
    wrong = {"currentPassword": "wrong-current-secret", "newPassword": "short"}
    server.request("POST", "/api/v1/me/password", wrong, token=token)
    secrets += ["wrong-current-secret"]
    server.request("DELETE", "/api/v1/session?access_token=query-secret", token=server.sign_in())
    server.token = None
    secrets.append("query-secret")
    server.wait_for("the refused one", lambda: records(server, filterBy="result==Failed"))
    text = json.dumps(records(server)) + server.get("/api/v1/audit/log/file", **ALL).body.decode()
    assert "(hidden)" in text and not [s for s in secrets if s in text]
    server.stop()
    whole = (server.data / "prorata.db").read_bytes()
    assert not [s for s in secrets if s.encode() in whole and "env" not in s and s != "args-secret"]


def test_a_name_that_a_spreadsheet_would_run_is_harmless_in_csv(server):
    for start in "=+-@":
        email = f"{start}cmd@example.org"
        server.post("/api/v1/users", {"email": email})
    rows = list(csv.reader(io.StringIO(server.get("/api/v1/audit/log/file", **ALL).body.decode())))
    assert rows[0][:3] == ["timestamp", "id", "subject"] and len({len(row) for row in rows}) == 1
    cells = [cell for row in rows for cell in row]
    assert not [cell for cell in cells if cell[:1] in tuple("=+-@\t\r")]
    assert [cell for cell in cells if cell.startswith("'")] or all("cmd@" not in cell for cell in cells)


def test_the_file_as_json_and_its_own_record(server):
    server.sign_in()
    answer = server.get("/api/v1/audit/log/file", file_type="JSON", **ALL)
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.json == records(server)[1:]
    assert last(server)["metadata"]["operation"] == "downloadAuditLogs" and last(server)["action"] == "read"


def test_pages_follow_each_other(server):
    for number in range(7):
        server.post("/api/v1/users", {"email": f"u{number}@example.org"})
    whole, seen, offset = records(server), [], 0
    while offset is not None:
        page = server.get("/api/v1/audit/log", numberOfSamples=3, offset=offset, **ALL).json
        assert page["total"] == len(whole)
        seen += page["audit_logs"]
        offset = page.get("next")
    assert seen == whole and len({r["id"] for r in seen}) == len(seen)
    times = [r["timestamp"] for r in records(server, sortOrder="asc")]
    assert times == sorted(times)
    names = [r["entity_name"] for r in records(server, sortBy="entity_name", filterBy="entity_type==user")]
    assert names == sorted(names)
    page = server.get("/api/v1/audit/log", numberOfSamples=0, **ALL).json
    assert page == {"audit_logs": [], "logs": [], "total": len(whole)}


REFUSED = [
    "",
    "start=2020-01-01T00:00:00Z",
    "start=x&end=2100-01-01T00:00:00Z",
    "start=2100-01-01T00:00:00Z&end=2020-01-01T00:00:00Z",
    *(
        "start=2020-01-01T00:00:00Z&end=2100-01-01T00:00:00Z&" + more
        for more in (
            "filterBy=mac==x",
            "filterBy=subject",
            "filterBy=timestamp=@2020",
            "filterBy=timestamp>=yesterday",
            "sortBy=mac",
            "sortBy=time_ms;DROP",
            "numberOfSamples=1001",
            "numberOfSamples=-1",
            "offset=-1",
            "offset=99999999999",
            "filterBy=" + ",".join(["subject==a"] * 40),
        )
    ),
]


@pytest.mark.parametrize("query", REFUSED)
def test_bad_questions_are_refused(module_server, query):
    for path in ("/api/v1/audit/log", "/api/v1/audit/log/file"):
        if "sortBy" in query and path.endswith("file") or "offset" in query and path.endswith("file"):
            continue
        answer = module_server.request("GET", f"{path}?{query}")
        assert answer.status == 400, (path, answer)


HOSTILE = [
    "' OR 1=1 --",
    '"',
    "%",
    "_",
    "\\",
    "a%00b",
    "%27%29%3B",
    "x" * 2000,
    "%F0%9F%92%A9",
    "*",
    ")(",
    "==",
    "=@=@",
]


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_values_of_filters_find_nothing(module_server, value):
    quoted = value if "%0" in value or "%2" in value or "%F" in value else urllib.parse.quote(value, safe="")
    for field in ("subject", "url", "entity_name", "cluster_name", "result"):
        for op in ("==", "=@", "=^", "=$"):
            path = f"/api/v1/audit/log?start=2020-01-01T00:00:00Z&end=2100-01-01T00:00:00Z&filterBy={field}{op}{quoted}"
            answer = module_server.request("GET", path)
            assert answer.status in (200, 400), answer
            assert answer.status == 400 or answer.json["audit_logs"] == [], answer


def test_a_caller_sees_records_of_his_scopes_only(server):
    lab = server.post(
        "/api/v1/org-unit/departments", {"name": "lab", "clusterId": server.cluster_id(), "resources": []}
    ).json["id"]
    far = {"name": "lab-p", "clusterId": server.cluster_id(), "parentId": lab, "resources": []}
    far = server.post("/api/v1/org-unit/projects", far).json["id"]
    for name, project in (("mine", "team-b"), ("theirs", "team-a"), ("far", "lab-p")):
        server.submit(name, project)
    scopes = {
        "project": ("project", server.project_id("team-b")),
        "others": ("project", server.project_id("team-a")),
        "department": ("department", department_id(server)),
        "lab": ("department", lab),
        "tenant": ("tenant", "1"),
    }
    for held, seen in (
        (["project"], {"mine"}),
        (["project", "others"], {"mine", "theirs"}),
        (["department"], {"mine", "theirs"}),
        (["department", "project"], {"mine", "theirs"}),
        (["lab", "project"], {"mine", "far"}),
        (["department", "lab"], {"mine", "theirs", "far"}),
        (["tenant"], {"mine", "theirs", "far"}),
    ):
        token = make_caller(server, "-".join(held), *[("Viewer", *scopes[name]) for name in held])[1]
        for query in ({}, {"filterBy": "entity_type==workload"}, {"sortBy": "subject"}, {"sortBy": "timestamp"}):
            found = [r["entity_name"] for r in records(server, token, **query)]
            own = [name for name in found if name in ("mine", "theirs", "far")]
            assert sorted(own) == sorted(seen), (held, query)
        times = [r["timestamp"] for r in records(server, token)]
        assert times == sorted(times, reverse=True)
        pages = [records(server, token, numberOfSamples=1, offset=n)[0]["id"] for n in range(len(times))]
        assert len(set(pages)) == len(times), "each record once"
    nobody = make_caller(server, "nobody")[1]
    path = "/api/v1/audit/log?" + "&".join(f"{k}={v}" for k, v in ALL.items())
    assert server.request("GET", path, token=nobody).status == 403


def test_what_was_answered_has_its_record_after_kill(server):
    made = [server.post("/api/v1/users", {"email": f"u{n}@example.org"}).json["id"] for n in range(20)]
    server.kill()
    server.start()
    server.token = None
    assert {r["entity_id"] for r in records(server, filterBy="entity_type==user")} == set(made)
    server.stop()
    answer = verify(server)
    assert answer.returncode == 0, answer.stdout


def test_many_writers_make_one_chain(server):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: server.post("/api/v1/users", {"email": f"u{n}@example.org"}), range(60)))
    assert {a.status for a in answers} == {201}
    assert len(records(server, filterBy="action==create,entity_type==user")) == 60
    server.stop()
    answer = verify(server)
    assert answer.returncode == 0 and "are whole" in answer.stdout, answer.stdout
