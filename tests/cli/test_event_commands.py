"""What happened by the command line: narrowed as the operation narrows it."""

import json

ADMIN = "admin@prorata.local"


def test_events_are_listed_and_narrowed(client, server):
    client.run("department", "create", "biology")
    client.run("project", "create", "genomes", "--department", "biology")
    client.run("project", "update", "genomes", "--gpu-quota", "1")
    client.run("node", "cordon", "node-0", "--reason", "a new fan")
    client.run("training", "submit", "a1", "-i", "x", "-g", "0", "-p", "team-a")
    server.wait_phase(server.get("/api/v1/workloads").json["workloads"][0]["id"], "Running")

    def listed(*flags):
        return [
            (e["reason"], e["involvedObject"]["name"])
            for e in json.loads(client.run("event", "list", "--json", *flags))
        ]

    table = client.run("event", "list", "--kind", "organisation")
    assert f"{ADMIN} changed project genomes: GPU quota from 0 to 1 GPU" in table and "DepartmentCreated" in table
    assert "genomes" in table and "a1" not in table
    of_project = [("ProjectChanged", "genomes"), ("ProjectCreated", "genomes")]
    assert listed("--project", "genomes") == of_project
    assert listed("--department", "biology") == [*of_project, ("DepartmentCreated", "biology")]
    assert listed("--node", "node-0", "--kind", "nodes") == [("NodeNotSchedulable", "node-0")]
    assert listed("--search", "a new fan") == [("NodeNotSchedulable", "node-0")]
    assert ("Submitted", "a1") in listed("--workload", "a1") and not set(of_project) & set(listed("--workload", "a1"))
    assert listed("--kind", "people", "--max-items", "1") == [("Submitted", "a1")]
    assert listed("--type", "Warning") == [] and listed("--until", "1h") == []
    assert listed("--since", "1h") == listed() == listed("--since", "2020-01-01T00:00:00Z", "--page-size", "2")


def test_what_is_wrong_is_named(client):
    assert "--since: expected 2h or a time" in client.run("event", "list", "--since", "yesterday", status=1)
    assert "no department was found" in client.run("event", "list", "--department", "alchemy", status=1)
    assert "no project was found" in client.run("event", "list", "--project", "alchemy", status=1)
    assert "kind" in client.run("event", "list", "--kind", "miracles", status=1)
    assert "--max-items" in client.run("event", "list", "--max-items", "x", status=1)
