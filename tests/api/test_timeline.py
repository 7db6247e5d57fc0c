"""Who held which devices from when to when, merged to the width asked; and what a caller may not learn of others."""

import datetime

import pytest
from contract import check_answer
from test_access import department_id, make_caller

TIMELINE = "/api/v1/scheduler/timeline"
OF_TEAM_B = {"preemptibility": "preemptible"}


def ask(server, token="admin", **query):
    text = "&".join(f"{name}={value}" for name, value in query.items())
    answer = server.request("GET", f"{TIMELINE}?{text}", token=token)
    assert answer.status == 200, answer
    check_answer("get_scheduler_timeline", answer)
    return answer


def ago(**of):
    return (datetime.datetime.now(datetime.UTC) - datetime.timedelta(**of)).strftime("%Y-%m-%dT%H:%M:%SZ")


def named(timeline, name):
    """The blocks of a workload, with the node's and the project's names in place of numbers."""
    return [
        {
            **block,
            "lane": timeline["lanes"][block["lane"]]["node"],
            "project": timeline["projects"][block["project"]]["name"],
        }
        for block in timeline["blocks"]
        if "workload" in block and timeline["workloads"][block["workload"]]["name"] == name
    ]


def test_blocks_say_who_held_what_and_how_it_ended(server):
    assert ask(server).json["blocks"] == []
    done = server.submit(
        "done", "team-a", 1, spec={"annotations": [{"name": "prorata.io/sim-duration", "value": "1s"}]}
    )
    server.wait_phase(done, "Completed")
    stays = server.submit("stays", "team-b", 2, spec=OF_TEAM_B)
    server.wait_phase(stays, "Running")
    seen = ask(server, start=ago(minutes=2), width=2000).json
    assert seen["detail"] == "devices" and seen["heldSince"] is None
    assert [(lane["node"], lane["gpus"]) for lane in seen["lanes"]] == [("node-0", 2), ("node-1", 2)]
    (block,) = named(seen, "done")
    assert (block["end"], block["gpus"], block["project"], len(block["devices"])) == ("finished", 1, "team-a", 1)
    (block,) = named(seen, "stays")
    assert "end" not in block and block["devices"] == [0, 1] and block["gpus"] == 2 and block["to"] >= block["from"]
    assert {w["id"] for w in seen["workloads"]} == {done, stays}
    narrowed = ask(server, start=ago(minutes=2), width=2000, node=block["lane"]).json
    assert [lane["node"] for lane in narrowed["lanes"]] == [block["lane"]] and named(narrowed, "stays")
    assert ask(server, nodePool="nowhere").json["lanes"] == []
    assert ask(server, end=ago(hours=1)).json["blocks"] == []


def test_an_eviction_says_who_gave_way_to_whom(server):
    start = ago(seconds=0)
    for name in ("b1", "b2"):
        server.wait_phase(server.submit(name, "team-b", 2, spec=OF_TEAM_B), "Running")
    owner = server.submit("owner", "team-a", 2, spec={"preemptibility": "non-preemptible"})
    server.wait_phase(owner, "Running")
    seen = ask(server, start=start, width=2000).json
    (eviction,) = seen["evictions"]
    assert eviction["victim"]["project"] == "team-b" and eviction["beneficiary"]["name"] == "owner"
    assert (eviction["gpus"], eviction["devices"], eviction["action"]) == (2, [0, 1], "reclaim")
    ends = [block.get("end") for name in ("b1", "b2") for block in named(seen, name)]
    assert sorted(map(str, ends)) == ["None", "preempted"]


def run_short(server, name, project):
    spec = {"annotations": [{"name": "prorata.io/sim-duration", "value": "1s"}]}
    server.wait_phase(server.submit(name, project, 2, spec=spec), "Completed")
    server.wait_phase(server.submit(name + "-next", project, 2, spec=spec), "Completed")


def test_short_neighbours_are_one_block_and_keep_what_they_have_in_common(server):
    run_short(server, "one", "team-a")
    (block,) = ask(server, start=ago(days=30)).json["blocks"]
    assert (block["count"], block["devices"], block["gpus"]) == (2, [0, 1], 2)
    assert block["project"] == 0 and "workload" not in block and "end" not in block
    run_short(server, "two", "team-b")
    (block,) = ask(server, start=ago(days=30)).json["blocks"]
    assert block["count"] == 4 and "project" not in block


def test_short_places_that_share_a_device_are_one_block(server):
    half = {"compute": {"gpuRequestType": "portion", "gpuPortionRequest": 0.5}}
    spec = {"annotations": [{"name": "prorata.io/sim-duration", "value": "1s"}], **half}
    shared = [server.submit(f"half-{i}", "team-a", spec=spec) for i in range(2)]
    for workload in shared:
        server.wait_phase(workload, "Completed")
    (block,) = ask(server, start=ago(days=30)).json["blocks"]
    assert (block["count"], len(block["devices"])) == (2, 1)


def test_strangers_have_neither_name_nor_project(server):
    _, token = make_caller(server, "ann", ("Viewer", "project", server.project_id("team-a")))
    server.wait_phase(server.submit("secret", "team-b", 2, spec=OF_TEAM_B), "Running")
    server.wait_phase(server.submit("mine", "team-a", 1), "Running")
    answer = ask(server, token=token, start=ago(minutes=2), width=2000)
    assert b"secret" not in answer.body and b"team-b" not in answer.body, answer.body
    hidden, shown = sorted(answer.json["blocks"], key=lambda block: "project" in block)
    assert "workload" not in hidden and hidden["gpus"] == 2 and shown["gpus"] == 1


def test_many_nodes_are_told_as_shares(server):
    for i in range(15):
        answer = server.post("/api/v1/simulation/nodes", {"name": f"more-{i}", "gpus": 2})
        assert answer.status == 201, answer
    server.wait_phase(server.submit("wide", "team-b", 2, spec=OF_TEAM_B), "Running")
    server.wait_for("17 lanes", lambda: len(ask(server).json["lanes"]) == 17)
    seen = ask(server, start=ago(seconds=2), width=1).json
    assert seen["detail"] == "shares" and named(seen, "wide")
    assert all("devices" not in block for block in seen["blocks"])


def held_by(timeline, lane):
    """GPUs by project of the blocks that end last in a lane."""
    blocks = [block for block in timeline["blocks"] if block["lane"] == lane]
    last = max(block["to"] for block in blocks)
    names = [project["name"] for project in timeline["projects"]]
    return {
        names[block["project"]] if "project" in block else None: block["gpus"]
        for block in blocks
        if block["to"] == last
    }


def test_pools_and_projects_are_lanes_of_what_each_project_held(server):
    """Also of nodes that several share, and of parts of a GPU."""
    half = {"compute": {"gpuRequestType": "portion", "gpuPortionRequest": 0.5}}
    for name, project, gpus, spec in (("a", "team-a", 1, {}), ("half", "team-a", None, half), ("b", "team-b", 2, {})):
        workload = server.submit(name, project, *([gpus] if gpus else []), spec={**spec, **OF_TEAM_B})
        server.wait_phase(workload, "Running")

    def seen(**query):
        return ask(server, start=ago(seconds=1), width=1, **query).json

    server.wait_for(
        "a second in which all three ran", lambda: held_by(seen(by="pools"), 0) == {"team-a": 1.5, "team-b": 2}
    )
    pools, projects = seen(by="pools"), seen(by="projects")
    assert (pools["by"], pools["detail"]) == ("pools", "shares")
    assert pools["lanes"] == [{"nodePool": "default", "nodes": 2, "gpus": 4}]
    assert (projects["by"], [lane["gpus"] for lane in projects["lanes"]]) == ("projects", [2, 2])
    assert [projects["projects"][lane["project"]]["name"] for lane in projects["lanes"]] == ["team-a", "team-b"]
    assert [held_by(projects, lane) for lane in (0, 1)] == [{"team-a": 1.5}, {"team-b": 2}]
    assert seen(by="pools", nodePool="nowhere")["lanes"] == []
    assert seen(by="auto")["by"] == seen()["by"] == "nodes"
    refused = server.request("GET", f"{TIMELINE}?by=racks")
    assert refused.status == 400 and "by" in refused.json["message"], refused


def test_a_pool_tells_of_strangers_only_what_they_hold_together(server):
    _, token = make_caller(server, "ann", ("Viewer", "project", server.project_id("team-a")))
    for name, project in (("mine", "team-a"), ("secret", "team-b")):
        server.wait_phase(server.submit(name, project, 1, spec=OF_TEAM_B), "Running")

    def seen(by):
        answer = ask(server, token=token, start=ago(seconds=1), width=1, by=by)
        assert b"secret" not in answer.body and b"team-b" not in answer.body, answer.body
        return answer.json

    server.wait_for("a second of both", lambda: held_by(seen("pools"), 0) == {"team-a": 1, None: 1})
    lanes = seen("projects")["lanes"]
    assert sorted("project" in lane for lane in lanes) == [False, True], lanes


def test_a_pool_of_many_projects_names_those_that_held_most(server):
    """24 of them; what the others held is one block."""
    answer = server.post("/api/v1/simulation/nodes", {"name": "wide", "gpus": 26})
    assert answer.status == 201, answer
    body = {"clusterId": server.cluster_id(), "parentId": department_id(server), "resources": []}
    for i in range(26):
        answer = server.post("/api/v1/org-unit/projects", {"name": f"of-many-{i}", **body})
        assert answer.status < 300, answer
        server.wait_phase(server.submit("one", f"of-many-{i}", 1, spec=OF_TEAM_B), "Running")

    def held():
        return held_by(ask(server, start=ago(seconds=1), width=1, by="pools").json, 0)

    server.wait_for("a second of all", lambda: sum(held().values()) == 26)
    assert len(held()) == 25 and held()[None] == 2
    assert len(ask(server, start=ago(seconds=1), width=1, by="projects").json["lanes"]) == 26


def test_more_than_24_nodes_are_shown_by_pool_where_the_server_chooses(server):
    for i in range(23):
        answer = server.post("/api/v1/simulation/nodes", {"name": f"more-{i}", "gpus": 2})
        assert answer.status == 201, answer
    server.wait_for("25 nodes", lambda: len(ask(server).json["lanes"]) == 25)
    chosen = ask(server, by="auto").json
    assert chosen["by"] == "pools" and chosen["lanes"] == [{"nodePool": "default", "nodes": 25, "gpus": 50}]


def test_figures_tell_ready_and_waiting(server):
    server.submit("never", "team-a", 3, spec={"preemptibility": "non-preemptible"})

    def figures():
        return ask(server, start=ago(seconds=1), width=1).json["figures"]

    server.wait_for("a sample of both", lambda: (figures()["ready"], figures()["waiting"]) == ([4], [1]), seconds=90)


def test_who_may_read_a_part_is_told_how_many_of_it_waited(server):
    """Also where he may read a project by two rules; and a start makes nobody wait who does no more."""
    team_b = ("Viewer", "project", server.project_id("team-b"))
    research = ("Viewer", "department", department_id(server))
    _, of_b = make_caller(server, "ann", team_b)
    _, of_department = make_caller(server, "bob", team_b, research)
    waits = {"preemptibility": "non-preemptible"}
    made = [server.submit(name, name[:6], 3, spec=waits) for name in ("team-b-1", "team-b-2", "team-a-1")]

    def waited(token, **query):
        return ask(server, token=token, start=ago(seconds=1), width=1, **query).json["figures"]["waiting"]

    for token, want in (("admin", 3), (of_b, 2), (of_department, 3)):
        server.wait_for(f"{want} waited", lambda t=token, w=want: waited(t) == [w], seconds=90)
        assert waited(token, nodePool="default") == [want]
        assert ask(server, token=token, start=ago(days=1), width=2).json["figures"]["waiting"][0] is None
    server.stop()
    server.start()
    for workload in made[:2]:
        assert server.post(f"/api/v1/workloads/trainings/{workload}/suspend").status == 202
    server.wait_for(
        "one waits", lambda: [waited(t) for t in ("admin", of_b, of_department)] == [[1], [0], [1]], seconds=90
    )


@pytest.mark.parametrize(
    "query,words",
    [
        ({"start": "2026-01-02T00:00:00Z", "end": "2026-01-01T00:00:00Z"}, "before end"),
        ({"start": "2026-01-01T00:00:00Z", "end": "2026-03-01T00:00:00Z"}, "35 days"),
        ({"start": "yesterday"}, "start"),
        ({"width": 0}, "width"),
    ],
)
def test_a_period_that_makes_no_sense_is_refused(server, query, words):
    answer = server.get(TIMELINE, **query)
    assert answer.status == 400 and words in str(answer.json), answer
