"""prorata cluster status: whether each part of the server is well, and what the disk holds."""

import http.server
import json
import re
import threading

import pytest


def test_cluster_status_shows_parts_and_sizes(client):
    said = client.run("cluster", "status")
    assert said.startswith("prorata ") and "backend simulated, since " in said
    rows = [[word for word in line.split() if word.isalnum()] for line in said.splitlines()]
    assert all([part, "ok"] in rows for part in ("Database", "Scheduler", "Backend", "Audit")), said
    assert "On the disk:" in said and "The newest backup: none" in said
    made = client.server.post("/api/v1/admin/backup", {}).json
    assert f"The newest backup: {made['createdAt'][:10]}" in client.run("cluster", "status")
    assert json.loads(client.run("cluster", "status", "--json"))["backups"]["count"] == 1


PACES = [  # what a server says, and what a person reads
    ({"decidedAt": "2026-01-01T12:00:00Z", "planningSince": None}, r"The scheduler decided \d+d ago\."),
    (
        {"decidedAt": "2026-01-01T12:00:00Z", "planningSince": "2026-01-02T12:00:00Z"},
        r"The scheduler has been planning for \d+d; it last decided \d+d ago\.",
    ),
    ({"decidedAt": None, "planningSince": None}, r"The scheduler has not decided since the server's start\."),
    (
        {"decidedAt": None, "planningSince": "2026-01-02T12:00:00Z"},
        r"The scheduler has been planning for \d+d; it has not decided since the server's start\.",
    ),
]


@pytest.mark.parametrize("pace,words", PACES)
def test_cluster_status_says_how_recent_decisions_are(client, pace, words):
    about = {**client.server.get("/api/v1/about").json, "scheduler": pace}

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(about).encode())

        def log_message(self, *_):
            pass

    stub = http.server.HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=stub.serve_forever, daemon=True).start()
    try:
        client.run("config", "set", "--cp-url", f"http://127.0.0.1:{stub.server_port}")
        assert re.search(f"^{words}$", client.run("cluster", "status"), re.MULTILINE)
    finally:
        stub.shutdown()
        stub.server_close()


def test_a_cluster_gets_another_name_and_keeps_it(client):
    server = client.server
    uuid = server.cluster_id()
    (old,) = [c["name"] for c in server.get("/api/v1/clusters").json]
    assert client.run("cluster", "rename", old, "lab-1") == f"cluster {old} renamed to lab-1\n"
    assert "lab-1" in client.run("cluster", "list") and server.cluster_id() == uuid
    assert "the new name is missing" in client.run("cluster", "rename", "lab-1", status=1)
    assert "no cluster was found with the name nowhere" in client.run("cluster", "rename", "nowhere", "x", status=1)
    records = server.get("/api/v1/audit/log", start="2026-01-01T00:00:00Z", end="2036-01-01T00:00:00Z").json
    changed = [r for r in records["audit_logs"] if r["action"] == "update" and "cluster" in str(r).lower()]
    assert changed, records
    server.kill()
    server.start()
    assert [c["name"] for c in server.get("/api/v1/clusters").json] == ["lab-1"]
