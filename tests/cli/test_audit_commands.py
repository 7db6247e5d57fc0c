"""Who did what by the command line: a table, JSON, a file of the caller's own."""

import json


def test_records_are_listed_and_filtered(client):
    client.run("project", "create", "team-new")
    listed = client.run("audit", "list")
    assert "admin@prorata.local" in listed and "team-new" in listed and "Succeeded (201)" in listed
    found = json.loads(client.run("audit", "list", "--json", "--filter", "entity_type==project", "--max-items", "1"))
    assert [r["entity_name"] for r in found] == ["team-new"]
    both = ("--filter", "entity_type==project", "--filter", "action==delete")
    assert json.loads(client.run("audit", "list", "--json", *both)) == []
    assert json.loads(client.run("audit", "list", "--json", "--end", "2020-01-01", "--start", "2019-01-01")) == []


def test_records_are_taken_as_a_file(client, tmp_path):
    file = tmp_path / "audit.csv"
    client.run("audit", "download", "-o", str(file))
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text().startswith("timestamp,id,subject,")
    assert json.loads(client.run("audit", "download", "--format", "json"))[0]["action"] == "read"


def test_what_is_wrong_is_named(client, tmp_path):
    assert "--format: expected csv or json, got xml" in client.run("audit", "download", "--format", "xml", status=1)
    assert "--start: expected a time" in client.run("audit", "list", "--start", "yesterday", status=1)
    assert "--max-items: expected 1 to 1000, got 0" in client.run("audit", "list", "--max-items", "0", status=1)
    assert "filterBy" in client.run("audit", "list", "--filter", "mac==x", status=1)
    assert "No such file" in client.run("audit", "download", "-o", str(tmp_path / "a/b"), status=1)
