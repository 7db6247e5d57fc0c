"""Streams end with the rights of who opened them, and show only what he may see: tried with every way of losing
them."""

import pytest
from people import ROLES, make_person
from test_access import make_caller, rule_for
from test_events_stream import Stream

SLEEPS = {"annotations": [{"name": "prorata.io/sim-duration", "value": "1h"}]}


def renew_its_secret(server, account, token):
    answer = server.post(f"/api/v1/service-accounts/{account['id']}/secret")
    assert answer.status < 300, answer


def delete_the_account(server, account, token):
    assert server.delete(f"/api/v1/service-accounts/{account['id']}").status == 204


def switch_the_account_off(server, account, token):
    answer = server.request("PATCH", f"/api/v1/service-accounts/{account['id']}", {"enabled": False})
    assert answer.status == 200, answer


def take_its_rules(server, account, token):
    for rule in server.get("/api/v1/authorization/access-rules", subjectIdFilter=account["clientId"]).json[
        "accessRules"
    ]:
        assert server.delete(f"/api/v1/authorization/access-rules/{rule['id']}").status == 204


WAYS = [renew_its_secret, delete_the_account, switch_the_account_off, take_its_rules]


@pytest.mark.parametrize("way", WAYS)
def test_streams_end_with_the_rights_of_their_owner(server, way):
    project = server.project_id("team-a")
    running = server.submit("runs", "team-a", spec=SLEEPS)
    server.wait_phase(running, "Running")
    account, token = make_caller(server, "ann", ("L1 researcher", "project", project))
    with (
        Stream(server, token=token) as events,
        Stream(server, f"/api/v1/workloads/{running}/logs?follow=true", token=token) as logs,
    ):
        assert (events.status, logs.status) == (200, 200)
        events.block()
        way(server, account, token)
        later = server.submit("later", "team-a", gpus=0)
        told = []
        while (event := events.event()) is not None:
            told.append(event[2]["id"])
        logs.read_to_the_end()
        assert later not in told
    if way is not take_its_rules:
        assert Stream(server, token=token).status == 401


def test_a_stream_ends_with_the_logout_of_its_user(server):
    user = server.get("/api/v1/session").json["subjectId"]
    with Stream(server) as stream:
        stream.block()
        assert server.post(f"/api/v1/users/{user}/logout").status == 200
        server.sign_in()
        later = server.submit("later", "team-a", gpus=0)
        while (event := stream.event()) is not None:
            assert event[2]["id"] != later


def test_streams_of_others_go_on(server):
    project = server.project_id("team-a")
    account, token = make_caller(server, "ann", ("L1 researcher", "project", project))
    _, other = make_caller(server, "bob", ("L1 researcher", "project", project))
    with Stream(server, token=token) as ended, Stream(server, token=other) as stays:
        delete_the_account(server, account, token)
        while ended.event() is not None:
            pass
        later = server.submit("later", "team-a", gpus=0)
        stays.until("workload", later)


def test_more_rights_begin_a_new_stream(server):
    account, token = make_caller(server, "ann", ("L1 researcher", "project", server.project_id("team-a")))
    with Stream(server, token=token) as stream:
        rule = rule_for(account, "L1 researcher", "project", server.project_id("team-b"))
        assert server.post("/api/v1/authorization/access-rules", rule).status == 201
        while stream.event() is not None:
            pass
    with Stream(server, token=token) as stream:
        stream.block()
        stream.until("workload", server.submit("theirs", "team-b", gpus=0))


def test_assets_and_rules_are_told_to_who_may_see_them(server):
    mine, other = server.project_id("team-a"), server.project_id("team-b")
    _, token = make_caller(server, "ann", ("Project administrator", "project", mine))

    def environment(name, project):
        answer = server.post(
            "/api/v1/asset/environment",
            {"meta": {"name": name, "scope": "project", "projectId": project}, "spec": {"image": "x"}},
        )
        assert answer.status < 300, answer
        return answer.json["meta"]["id"]

    account, _ = make_caller(server, "bob")

    def rule(project):
        answer = server.post(
            "/api/v1/authorization/access-rules", rule_for(account, "L1 researcher", "project", project)
        )
        return str(answer.json["id"])

    with Stream(server, token=token) as stream:
        stream.block()
        foreign = {environment("theirs", other), rule(other)}
        own = {environment("ours", mine), rule(mine)}
        last = server.submit("last", "team-a", gpus=0)
        seen = set()
        while last not in seen:
            seen.add(stream.event()[2]["id"])
        assert not foreign & seen and own <= seen


def test_what_is_gone_is_told_to_who_saw_it(server):
    """A page of a department's administrator loses the row of a project that somebody else deletes."""
    cluster = server.cluster_id()

    def make(what, name, **more):
        answer = server.post(f"/api/v1/org-unit/{what}", {"name": name, "clusterId": cluster, "resources": [], **more})
        assert answer.status == 201, answer
        return str(answer.json["id"])

    own, other = make("departments", "own"), make("departments", "other")
    ours, theirs = (make("projects", f"p-{parent}", parentId=parent) for parent in (own, other))
    _, token = make_caller(server, "dora", ("Department administrator", "department", own))
    with Stream(server, token=token) as stream:
        stream.block()
        for what, number in (("projects", theirs), ("departments", other), ("projects", ours)):
            assert server.delete(f"/api/v1/org-unit/{what}/{number}").status < 300
        server.wait_for("it is gone", lambda: server.get(f"/api/v1/org-unit/projects/{ours}").status == 404)
        with_name = make("projects", "last", parentId=own)
        seen = []
        while ("project", with_name) not in seen:
            change = stream.event()[2]
            seen.append((change["kind"], change["id"]))
    assert ("project", ours) in seen and not {theirs, other} & {number for _, number in seen}


def test_who_only_reads_leaves_no_trace(server):
    project = server.project_id("team-a")
    running = server.submit("runs", "team-a", spec=SLEEPS)
    server.wait_phase(running, "Running")
    path = f"/api/v1/workloads/{running}"
    _, viewer = make_caller(server, "eve", ("Viewer", "project", project))
    _, researcher = make_caller(server, "ann", ("L1 researcher", "project", project))

    def reasons():
        return [event["reason"] for event in server.get(f"{path}/events").json["events"]]

    assert server.request("GET", f"{path}/logs?attach=true", token=viewer).status == 403
    assert server.request("GET", f"{path}/logs", token=viewer).status == 200
    assert "Attached" not in reasons()
    assert server.request("GET", f"{path}/logs?attach=true", token=researcher).status == 200
    assert "Attached" in reasons()


def give_a_rule(server, ann, token):
    body = {"subjectId": "ann@example.org", "subjectType": "user", "roleId": ROLES["Viewer"]}
    body |= {"scopeType": "project", "scopeId": server.project_id("team-b")}
    return str(server.post("/api/v1/authorization/access-rules", body).json["id"])


def make_a_key(server, ann, token):
    assert server.request("POST", "/api/v1/access-keys", {"name": "mine"}, token=token).status < 300
    return ann


def make_a_role(server, ann, token):
    role = {"name": "looks", "description": "x", "enabled": True, "permissionSets": [], "permissions": []}
    role["permissions"] = [{"resourceType": "workloads", "actions": ["read"]}]
    answer = server.post("/api/v2/authorization/roles", role)
    assert answer.status < 300, answer
    return f"role-{answer.json['id']}"


def make_another(server, ann, token):
    return server.post("/api/v1/users", {"email": "cleo@example.org"}).json["id"]


def make_an_account(server, ann, token):
    return make_caller(server, "bot")[0]["id"]


CHANGES = [make_a_role, make_another, make_an_account, make_a_key]


def test_what_changes_of_people_is_told_to_who_may_read_it(server):
    """And to whom it is about: never to others."""
    token = make_person(server, "ann@example.org", ("L1 researcher", "project", server.project_id("team-a")))
    ann = server.request("GET", "/api/v1/session", token=token).json["subjectId"]
    with Stream(server) as all_told, Stream(server, token=token) as own_told:
        for change in CHANGES:
            thing = change(server, ann, token)
            all_told.until("access", thing)
        told = []
        while ann not in told:
            event, _, data = own_told.event()
            told.append(data["id"])
        assert [t for t in told if not t.startswith("role-")] == [ann]  # she may read roles, and the key is hers
        rule = give_a_rule(server, ann, token)
        all_told.until("access", rule)
        assert server.delete(f"/api/v1/authorization/access-rules/{rule}").status == 204
        all_told.until("access", rule)
        assert server.post(f"/api/v1/users/{ann}/password").status == 200
        all_told.until("access", ann)
        another = server.get("/api/v1/users", filterBy="username==cleo@example.org").json[0]["id"]
        assert server.delete(f"/api/v1/users/{another}").status == 204
        all_told.until("access", another)
