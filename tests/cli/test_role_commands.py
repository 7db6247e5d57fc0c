"""Roles and access rules by the command line."""

import re


def test_a_role_is_made_shown_changed_given_and_deleted(client):
    made = client.run(
        "role", "create", "Night operator", "--permission-set", "Basics", "--permission", "workloads=read,update"
    )
    assert made == "role Night operator created successfully\n"
    listed = client.run("role", "list")
    assert re.search(r"^ 1001 +Night operator +own ", listed, re.M) and re.search(
        r"^ 7 +Viewer +predefined ", listed, re.M
    )
    shown = client.run("role", "describe", "night OPERATOR")
    assert re.search(r"^ workloads +yes +yes +- +- *$", shown, re.M), shown
    client.run("role", "update", "Night operator", "--description", "watches", "--off")
    assert re.search(r"Night operator +own, off +watches ", client.run("role", "list"))
    assert client.run("role", "describe", "Night operator").splitlines()[1:] == shown.splitlines()[1:], (
        "its rights stay"
    )
    client.run("role", "update", "Night operator", "--on", "--name", "Watcher", "--permission", "project=read")
    assert "workloads" not in client.run("role", "describe", "Watcher")
    for name in ("ann", "bob"):
        client.server.post("/api/v1/users", {"email": f"{name}@lab.example"})
    words = [
        "--user",
        "ann@lab.example",
        "--user",
        "bob@lab.example",
        "--project",
        "team-a",
        "--department",
        "research",
    ]
    given = client.run("access-rule", "create", "--role", "watcher", *words, "--expires", "2099-01-01T00:00:00Z")
    assert (
        len(
            re.findall(
                r"^access rule \d+ created: \w+@lab.example is Watcher in (?:project team-a|department research)$",
                given,
                re.M,
            )
        )
        == 4
    )
    assert re.search(r"user +ann@lab.example +Watcher +project team-a +2099-01-01", client.run("access-rule", "list"))
    assert "4 access rules give it" in client.run("role", "delete", "Watcher", status=1)
    for rule in re.findall(r"^access rule (\d+)", given, re.M):
        assert client.run("access-rule", "delete", rule) == f"access rule {rule} deleted successfully\n"
    assert client.run("role", "delete", "Watcher") == "role Watcher deleted successfully\n"


def test_what_is_wrong_is_named(client):
    def error(*words):
        return client.run(*words, status=1)

    assert "no role was found with the name Nobody" in error("role", "describe", "Nobody")
    assert "permissionSets[0]: there is no such permission set" in error(
        "role", "create", "x", "--permission-set", "All"
    )
    assert "--permission: expected TYPE=ACTION,..., got nodes" in error("role", "create", "x", "--permission", "nodes")
    assert "a role must allow something" in error("role", "create", "x")
    assert "a predefined role stays as it is" in error("role", "delete", "Viewer")
    assert "--role is missing" in error("access-rule", "create", "--user", "a@b.example", "--tenant")
    assert "nobody is named" in error("access-rule", "create", "--role", "Viewer", "--tenant")
    assert "no scope is named" in error("access-rule", "create", "--role", "Viewer", "--user", "a@b.example")
    refused = error("access-rule", "create", "--role", "Viewer", "--user", "nobody@lab.example", "--tenant")
    assert "1 of 1 access rules were refused: subjectId: there is no user nobody@lab.example" in refused
    assert "expiresAt" in error(
        "access-rule", "create", "--role", "Viewer", "--user", "a@b.c", "--tenant", "--expires", "soon"
    )
    assert "not found" in error("access-rule", "delete", "99999")
