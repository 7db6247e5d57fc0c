"""Projects and departments by the command line: made, changed, deleted."""


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
    assert "department vision has 1 project" in client.run("department", "delete", "vision", status=1)
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
