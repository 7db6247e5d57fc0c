"""Who waits, grouped by node pool and reason; and what a caller may not learn of others."""

from contract import check_answer
from test_access import make_caller

WAITING = "/api/v1/scheduler/waiting"


def ask(server, token="admin"):
    answer = server.request("GET", WAITING, token=token)
    assert answer.status == 200, answer
    check_answer("get_scheduler_waiting", answer)
    return answer


def submit_waiting(server, name, project, gpus, **spec):
    workload = server.submit(name, project, gpus, spec=spec)
    server.wait_for("its explanation", lambda: (server.workload(workload).get("explanation") or {}).get("sentence"))
    return workload


def test_who_waits_for_the_same_reason_is_one_group(server):
    nothing = ask(server).json
    assert {**nothing, "scheduler": None} == {"groups": [], "count": 0, "gpus": 0, "scheduler": None}
    for name in ("b1", "b2"):
        server.wait_phase(server.submit(name, "team-b", gpus=2, spec={"preemptibility": "preemptible"}), "Running")
    first = submit_waiting(server, "b3", "team-b", 2)
    submit_waiting(server, "b4", "team-b", 1)
    submit_waiting(server, "never", "team-a", 3, preemptibility="non-preemptible")
    seen = ask(server).json
    assert (seen["count"], seen["gpus"]) == (3, 6)
    groups = {g["code"]: g for g in seen["groups"]}
    assert len(groups) == 2 and {g["nodePool"] for g in seen["groups"]} == {"default"}
    short = groups.pop("NotEnoughGpus")
    assert (short["count"], short["gpus"], short["longest"]["id"]) == (2, 3, first)
    assert short["projects"] == [{"id": server.project_id("team-b"), "name": "team-b", "count": 2, "gpus": 3}]
    explanation = server.get(f"/api/v1/workloads/{first}/explanation").json
    assert short["sentence"] == explanation["sentence"] and short["why"] == explanation["why"]
    assert short["holders"] == explanation["findings"][0].get("reclaim", [])
    (never,) = groups.values()
    assert (never["count"], never["gpus"], never["projects"][0]["name"]) == (1, 3, "team-a")
    narrowed = server.get(WAITING, projectId=server.project_id("team-a")).json
    assert (narrowed["count"], narrowed["groups"][0]["code"]) == (1, never["code"])
    assert server.get(WAITING, nodePool="nowhere").json["count"] == 0


def test_a_researcher_sees_groups_of_his_own_project_without_strangers_names(server):
    _, token = make_caller(server, "ann", ("L1 researcher", "project", server.project_id("team-a")))
    for name in ("secret-1", "secret-2"):
        server.wait_phase(server.submit(name, "team-b", gpus=2, spec={"preemptibility": "preemptible"}), "Running")
    submit_waiting(server, "secret-3", "team-b", 2)
    assert ask(server, token=token).json["count"] == 0
    submit_waiting(server, "mine", "team-a", 4, preemptibility="preemptible")
    answer = ask(server, token=token)
    (group,) = answer.json["groups"]
    assert (group["count"], group["longest"]["name"]) == (1, "mine")
    assert b"team-b" not in answer.body and b"secret" not in answer.body, answer.body
    assert ask(server).json["count"] == 2


def test_the_first_expected_start_is_the_explanations(server):
    body = {"name": "timed", "clusterId": server.cluster_id(), "schedulingRules": {"trainingJobTimeLimitSeconds": 3600}}
    made = server.post("/api/v1/org-unit/projects", {**body, "parentId": "1", "resources": []})
    assert made.status == 201, made
    for name in ("t1", "t2"):
        server.wait_phase(server.submit(name, "timed", gpus=2, spec={"preemptibility": "preemptible"}), "Running")
    waits = submit_waiting(server, "t3", "timed", 2)
    server.wait_for(
        "a time", lambda: (server.get(f"/api/v1/workloads/{waits}/explanation").json["forecast"] or {}).get("at")
    )
    (group,) = ask(server).json["groups"]
    forecast = server.get(f"/api/v1/workloads/{waits}/explanation").json["forecast"]
    assert group["expectedAt"] == forecast["at"], (group, forecast)


def test_who_is_owed_is_counted_and_stands_first(server):
    """team-a has all four GPUs and wants four more; team-b, owed two, waits for one that is promised to nobody."""
    for name in ("b1", "b2"):
        server.wait_phase(server.submit(name, "team-b", gpus=1, spec={"preemptibility": "non-preemptible"}), "Running")
    server.wait_phase(server.submit("a1", "team-a", gpus=2, spec={"preemptibility": "non-preemptible"}), "Running")
    submit_waiting(server, "more", "team-a", 4)
    submit_waiting(server, "never", "team-b", 1, preemptibility="non-preemptible")
    groups = ask(server).json["groups"]
    assert [(g["code"], g["countOwed"]) for g in groups] == [("NotEnoughGpus", 0), ("NonPreemptibleOverQuota", 0)]
    found = {
        g["code"]: [
            w["name"]
            for w in server.get(
                "/api/v1/workloads", filterBy=f"phase==Pending,waitsFor=={g['code']},waitsIn=={g['nodePool']}"
            ).json["workloads"]
        ]
        for g in groups
    }
    assert found == {"NotEnoughGpus": ["more"], "NonPreemptibleOverQuota": ["never"]}, "a filter opens a group's rows"
    quota = [{"nodePool": {"id": "1"}, "gpu": {"deserved": 8, "limit": -1, "overQuotaWeight": 2}}]
    department = server.get("/api/v1/org-unit/departments", filterBy="name==research").json["departments"][0]["id"]
    for path in (f"departments/{department}", f"projects/{server.project_id('team-a')}"):
        answer = server.request("PATCH", f"/api/v1/org-unit/{path}/resources", quota)
        assert answer.status == 200, answer

    def owed():
        first = ask(server).json["groups"][0]
        return first["projects"][0]["name"] == "team-a" and first["countOwed"] == 1

    server.wait_for("team-a to be owed", owed)
