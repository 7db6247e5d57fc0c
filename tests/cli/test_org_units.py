"""Projects and departments by the command line: made, changed, deleted."""

import json
import re

from servers import Client


def quota_of(client, kind, name):
    found = client.server.get(f"/api/v1/org-unit/{kind}", filterBy=f"name=={name}").json[kind]
    return found[0]["resources"][0]["gpu"]["deserved"] if found else None


def test_a_project_and_its_department_come_change_and_go(client):
    assert (
        client.run("department", "create", "vision", "--gpu-quota", "2") == "department vision created successfully\n"
    )
    assert (
        client.run("project", "create", "seg", "--department", "vision", "--gpu-quota", "1.5", "--description", "maps")
        == "project seg created successfully\n"
    )
    (project,) = client.server.get("/api/v1/org-unit/projects", filterBy="name==seg").json["projects"]
    assert (project["description"], project["parent"]["name"], quota_of(client, "projects", "seg")) == (
        "maps",
        "vision",
        1.5,
    )
    assert "seg" in client.run("project", "list") and "vision" in client.run("department", "list")
    client.run("project", "update", "seg", "--gpu-quota", "2")
    client.run("department", "update", "vision", "--gpu-quota", "3", "--node-pool", "default")
    assert (quota_of(client, "projects", "seg"), quota_of(client, "departments", "vision")) == (2, 3)
    assert "department vision has 1 project: seg" in client.run("department", "delete", "vision", status=1)
    assert client.run("project", "delete", "seg") == "project seg deleted successfully\n"
    client.server.wait_for("the project gone", lambda: quota_of(client, "projects", "seg") is None)
    assert client.run("department", "delete", "vision") == "department vision deleted successfully\n"
    assert quota_of(client, "departments", "vision") is None


def test_what_is_wrong_is_named(client):
    assert "not a number of GPUs" in client.run("project", "create", "x1", "--gpu-quota", "many", status=1)
    assert "no department was found with the name nowhere" in client.run(
        "project", "create", "x1", "--department", "nowhere", status=1
    )
    assert "no node pool was found with the name nowhere" in client.run(
        "project", "create", "x1", "--gpu-quota", "1", "--node-pool", "nowhere", status=1
    )
    assert "Error:" in client.run("project", "create", "team-a", status=1), "the name is taken"
    assert "nothing to change" in client.run("project", "update", "team-a", status=1)
    assert "no project was found with the name nowhere" in client.run("project", "delete", "nowhere", status=1)
    assert quota_of(client, "projects", "x1") is None


def test_what_a_quota_leads_to_is_asked_before_it_is_changed(client):
    server = client.server
    server.wait_phase(server.submit("b1", "team-b", gpus=2), "Running")
    server.wait_phase(server.submit("b2", "team-b", gpus=1), "Running")
    server.wait_phase(server.submit("a1", "team-a", gpus=1), "Running")
    server.wait_phase(server.submit("a2", "team-a", gpus=2), "Pending")
    said = client.run("project", "update", "team-a", "--gpu-quota", "3", "--what-if")
    assert "Project team-b loses 2 GPUs: 1 workload gives way; project team-a gains 2 GPUs: 1 workload starts" in said
    assert "default: its projects are promised 5.00 GPUs, and department research has 4.00" in said
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert "project team-a default 2.00 -> 3.00 unlimited 2.00 -> 3.00 1.00 -> 3.00" in lines, said
    assert "b1 team-b 2.00 1 stops, and waits again team-a" in lines and "a2 team-a 2.00 1 starts -" in lines, said
    assert said.endswith("Nothing was changed.\n") and quota_of(client, "projects", "team-a") == 2
    answer = json.loads(client.run("department", "update", "research", "--gpu-quota", "4", "--what-if", "--json"))
    assert (answer["verdict"], answer["atRest"]) == ("NoEffect", True)
    assert "not a number of GPUs" in client.run(
        "project", "update", "team-a", "--gpu-quota", "-1", "--what-if", status=1
    )


def test_a_department_goes_with_its_projects_where_that_is_asked_for(client):
    client.server.wait_phase(client.server.submit("a1", "team-a"), "Running")
    refused = client.run("department", "delete", "research", status=1)
    assert "department research has 2 projects: team-a, team-b" in refused and "--with-projects" in refused
    assert client.run("department", "delete", "research", "--with-projects") == (
        "department research deleted successfully\nwith it team-a (1 workload), team-b\n"
    )


def test_a_list_of_a_project_that_is_not_there_says_so(client):
    for words in (("workload", "list"), ("training", "list"), ("workload", "list", "--json")):
        refused = client.run(*words, "-p", "nosuch", status=1)
        assert "no project was found with the name nosuch" in refused and "project list" in refused
    assert "nosuch" in client.run("list", "jobs", "-p", "nosuch", program=client.runai, status=1)
    client.run("workload", "list", "-p", "team-a")  # nothing is in it: that is no mistake
    client.run("workload", "list", "-A")


def test_a_first_quota_in_a_pool_says_what_its_department_lacks(make_server, folder):
    """What non-preemptible work comes to, and the way out, which works as it stands; or both quotas in one step."""
    (folder / "pools.yaml").write_text(
        "nodePools: [{name: default}, {name: big}]\nnodes: [{name: n0, gpus: 2}, {name: n1, gpus: 8, nodePool: big}]\n"
    )
    client = Client(make_server("--cluster", str(folder / "pools.yaml")), folder / "home").sign_in()
    client.run("department", "create", "lab", "--gpu-quota", "2")

    def said(*words):
        done = client.finish("project", *words, "--node-pool", "big")
        assert done.returncode == 0, done
        return done

    def quota(kind, name):
        resources = client.server.get(f"/api/v1/org-unit/{kind}", filterBy=f"name=={name}").json[kind][0]["resources"]
        return next(r["gpu"]["deserved"] for r in resources if r["nodePool"]["name"] == "big")

    note = said("create", "a", "--department", "lab", "--gpu-quota", "4").stderr
    assert note == (
        "Note: department lab has 0 GPUs of quota in node pool big, and its projects 4. Non-preemptible work must fit "
        "both quotas: that of a never starts there.\n"
        "Raise it: runai department update lab --gpu-quota 4 --node-pool big\n"
    )
    assert client.finish(*note.splitlines()[1].removeprefix("Raise it: runai ").split()).returncode == 0
    assert (quota("departments", "lab"), said("update", "a", "--gpu-quota", "4").stderr) == (4, "")
    note = said("update", "a", "--gpu-quota", "6").stderr
    assert "has 4 GPUs of quota in node pool big, and its projects 6" in note and "may wait for other projects" in note
    assert said("update", "a", "--gpu-quota", "3").stderr == "", "what is lowered lacks nothing"
    done = said("create", "b", "--department", "lab", "--gpu-quota", "5", "--raise-department")
    assert done.stdout == (
        "department lab has 8 GPUs of quota in node pool big now, 4 before\nproject b created successfully\n"
    )
    assert (done.stderr, quota("departments", "lab"), quota("projects", "b")) == ("", 8, 5)
    assert "9 GPUs" in said("update", "b", "--gpu-quota", "6", "--raise-department").stdout
    assert quota("departments", "lab") == 9
    client.server.request("PUT", "/v1/k8s/setting", {"key": "departments", "value": False})
    assert said("update", "b", "--gpu-quota", "8").stderr == "", "departments play no role"


def rules_of(client, kind, name):
    return client.server.get(f"/api/v1/org-unit/{kind}", filterBy=f"name=={name}").json[kind][0]["schedulingRules"]


def test_what_each_person_may_have_is_set_and_taken_away(client):
    client.run("project", "create", "seg", "--max-gpus-per-person", "1.5", "--description", "maps")
    client.run("project", "update", "seg", "--max-workloads-per-person", "3", "--gpu-quota", "2")
    assert rules_of(client, "projects", "seg") == {"maxGpusPerPerson": 1.5, "maxWorkloadsPerPerson": 3}
    assert quota_of(client, "projects", "seg") == 2
    (project,) = client.server.get("/api/v1/org-unit/projects", filterBy="name==seg").json["projects"]
    assert project["description"] == "maps", "what is not named stays"
    client.run("department", "update", "default", "--max-waiting-gpus-per-person", "8")
    said = client.run("describe", "project", "seg")
    assert "GPUs Of Each Person: at most 1.5\nRunning Workloads Of Each Person: at most 3\n" in said, said
    assert "Waiting GPUs Of Each Person: at most 8\n" in said, "the department's"
    client.run("project", "update", "seg", "--fair-among-people", "on")
    assert "Fair Among People: who has used least goes first\n" in client.run("describe", "project", "seg")
    client.run("project", "update", "seg", "--fair-among-people", "none")
    client.run("project", "update", "seg", "--max-gpus-per-person", "none", "--max-workloads-per-person", "none")
    assert not rules_of(client, "projects", "seg")


def test_a_budget_is_set_looked_at_and_taken_away(client):
    client.run("project", "set", "team-a")
    assert client.run("budget") == (
        "Project team-a has no budget of GPU hours; one is set by: prorata project update team-a --gpu-hours N\n"
    )
    budget = ["--gpu-hours", "100", "--gpu-hours-per-person", "0", "--budget-enforcement", "refuse"]
    client.run("project", "update", "team-a", *budget, "--budget-period", "week")
    assert rules_of(client, "projects", "team-a") == {
        "gpuHourBudget": 100,
        "gpuHourBudgetPerPerson": 0,
        "budgetPeriod": "week",
        "budgetEnforcement": "refuse",
    }
    said = client.run("describe", "project", "team-a")
    assert "Budget: 100 GPU hours of each week\nBudget Of Each Person: 0 GPU hours of each week\n" in said, said
    client.server.wait_for("it is known", lambda: "Of each week" in client.run("budget"))
    said = client.run("budget", "team-a")
    assert "Once it is used up, work beyond the quota waits, and new work is refused.\n" in said
    assert re.search(r"project team-a +0\.00 +100\.00 +0\.00 +-\n", said), said
    answer = json.loads(client.run("budget", "team-a", "--json"))
    assert (answer["gpuHours"], answer["gpuHoursPerPerson"], answer["period"]) == (100, 0, "week")
    refused = client.run("submit", "x", "-g", "1", "-i", "x", status=1)
    assert "Its submitter has used up the budget of 0 GPU hours for the week from " in refused, refused
    client.run("project", "update", "team-a", *[word for flag in budget[::2] for word in (flag, "none")])
    client.run("project", "update", "team-a", "--budget-period", "none")
    assert not rules_of(client, "projects", "team-a")


def test_a_bound_that_is_no_number_is_named(client):
    for words, named in [
        (["--max-gpus-per-person", "few"], "few is neither a number nor none"),
        (["--max-gpus-per-person", "inf"], "inf is neither a number nor none"),
        (["--max-workloads-per-person", "0.5"], "maxWorkloadsPerPerson"),
        (["--fair-among-people", "yes"], "yes is neither on, off nor none"),
        (["--budget-period", "year"], "--budget-period: year is neither week, month, quarter nor none"),
        (["--gpu-hours", "many"], "many is neither a number nor none"),
        (["--max-gpus-per-person", "1", "--what-if"], "--what-if answers for --gpu-quota alone"),
    ]:
        assert named in client.run("project", "update", "team-a", *words, status=1)
