"""A row of a list of workloads is brief, whatever was submitted and whenever; one of them is whole."""

import json
import sqlite3

from contract import check_answer

PARTS = ("images", "urls", "externalConnections", "environmentVariables", "command", "arguments")
TEXT = 'a "quoted" \\ text,}]{[ \n \x1f \u00e4\U0001f600'


def row_of(server, workload):
    answer = server.get("/api/v1/workloads", limit=500)
    check_answer("get_workloads", answer)
    return next(row for row in answer.json["workloads"] if row["id"] == workload)


def size(row):
    return sum(
        len(json.dumps(row[part], ensure_ascii=False, separators=(",", ":")).encode()) for part in PARTS if part in row
    )


def check_brief(server, workload):
    row, whole = row_of(server, workload), server.workload(workload)
    assert row.pop("truncated") is True and "truncated" not in whole
    # what ends a cut part, and how json.dumps writes a control character, may take some bytes more
    assert size(row) <= 4096 + 64 and size(whole) > 4096
    for part in PARTS:
        if part not in whole:
            assert part not in row
        elif isinstance(whole[part], dict):
            assert list(row[part].items()) == list(whole[part].items())[: len(row[part])], part
        else:
            assert whole[part][: len(row[part])] == row[part], part
    assert {key for key in whole if key not in PARTS} - set(row) == {"pendingSchedulingMessages", "podMessage"}
    assert all(
        row[key] == whole[key]
        for key in ("name", "projectId", "requestedPods", "requestedNodePools", "podsRequestedResources")
    )
    return row, whole


def variables(count, value):
    return [{"name": f"V{i}", "value": value} for i in range(count)]


def test_a_small_row_is_whole(server):
    spec = {"command": "python", "args": TEXT, "environmentVariables": variables(3, TEXT)}
    workload = server.submit("small", "team-a", spec=spec)
    row, whole = row_of(server, workload), server.workload(workload)
    assert "truncated" not in row and all(row.get(part) == whole.get(part) for part in PARTS)
    assert row["arguments"] == TEXT


def test_environment_is_cut_between_variables(server):
    row, whole = check_brief(
        server, server.submit("env", "team-a", spec={"command": "x", "environmentVariables": variables(200, TEXT * 5)})
    )
    assert 5 < len(row["environmentVariables"]) < 60 and len(whole["environmentVariables"]) == 200


def test_a_large_text_is_cut_between_characters(server):
    for i in range(8):
        row, _ = check_brief(server, server.submit(f"args-{i}", "team-a", spec={"args": "x" * i + TEXT * 400}))
        assert len(row["arguments"].encode()) > 2000


def test_one_large_variable_leaves_none(server):
    row, _ = check_brief(
        server, server.submit("one", "team-a", spec={"environmentVariables": variables(1, "v" * 6000), "args": "kept"})
    )
    assert row["environmentVariables"] == {} and row["arguments"] == "kept"


def test_where_no_byte_is_left_nothing_more_is_kept(server):
    room = 4096 - size(row_of(server, server.submit("first", "team-a")))
    variable = {"name": "V", "value": "v" * (room - len('"V":""'))}
    spec = {"environmentVariables": [variable], "command": "c" * 100, "args": "a" * 6000}
    row, _ = check_brief(server, server.submit("full", "team-a", spec=spec))
    assert row["environmentVariables"] == {"V": variable["value"]} and row["command"] == row["arguments"] == ""


def test_addresses_are_cut(server):
    urls = [{"container": 1000 + i, "url": f"https://{'a' * 60}.example.com/{i}", "name": f"u{i}"} for i in range(60)]
    row, whole = check_brief(server, server.submit("urls", "team-a", spec={"exposedUrls": urls}, kind="workspaces"))
    assert len(whole["urls"]) == 60 and len(row["externalConnections"]) < 60


def test_rows_from_before_are_cut_too(server):
    workload = server.submit("before", "team-a", gpus=0)
    assert server.stop() == 0
    with sqlite3.connect(server.data / "prorata.db") as database:
        (listing,) = database.execute("SELECT listing_json FROM workloads WHERE uuid = ?", (workload,)).fetchone()
        environment = json.dumps({f"V{i}": "v" * 3500 for i in range(256)}, separators=(",", ":"))
        large = listing.replace('"environmentVariables":{}', '"environmentVariables":' + environment)
        assert len(large) > 890_000
        database.execute("UPDATE workloads SET listing_json = ? WHERE uuid = ?", (large, workload))
    server.port = None
    server.start()
    row, whole = check_brief(server, workload)
    assert len(row["environmentVariables"]) == 1 and len(whole["environmentVariables"]) == 256
