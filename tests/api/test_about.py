"""Which server this is, how its parts are, and what it keeps: the last for its administrators alone."""

import os

from contract import check_answer
from servers import PRORATA
from test_access import make_caller

ABOUT = "/api/v1/about"
KEPT = {"cycles", "lastCycleUs", "storage", "disk", "backups"}


def ask(server, token="admin"):
    answer = server.request("GET", ABOUT, token=token)
    assert answer.status == 200, answer
    check_answer("get_about", answer)
    return answer.json


def test_administrators_see_parts_and_what_is_kept(server):
    about = ask(server)
    assert (about["backend"], about["backups"]) == ("simulated", {"count": 0, "newestAt": None})
    assert os.popen(f"{PRORATA} --version").read().strip().endswith(about["version"])
    assert {p["name"] for p in about["parts"]} == {"Database", "Scheduler", "Backend", "Journal of decisions", "Audit"}
    assert all((p["state"], p["problem"]) == ("ok", None) for p in about["parts"]), about["parts"]
    sizes = {kept["name"]: kept["sizeBytes"] for kept in about["storage"]}
    assert sizes["Backups"] == 0 and 0 < about["disk"]["freeBytes"] <= about["disk"]["sizeBytes"]
    made = server.post("/api/v1/admin/backup", {}).json
    about = ask(server)
    assert about["backups"] == {"count": 1, "newestAt": about["backups"]["newestAt"]}
    assert {k["name"]: k["sizeBytes"] for k in about["storage"]}["Backups"] == made["sizeBytes"]


def test_everybody_hears_how_recent_decisions_are(server):
    def decided():
        return ask(server)["scheduler"]["decidedAt"]

    server.wait_for("the first cycle", decided)
    first = decided()
    server.wait_phase(server.submit("late", "team-a"), "Running")
    server.wait_for("a later one", lambda: decided() > first)
    server.wait_for("rest", lambda: ask(server)["scheduler"]["planningSince"] is None)
    _, token = make_caller(server, "viewer", ("Viewer", "project", server.project_id("team-a")))
    assert ask(server, token=token)["scheduler"]["decidedAt"] > first
    waiting = server.request("GET", "/api/v1/scheduler/waiting", token=token)
    check_answer("get_scheduler_waiting", waiting)
    assert waiting.json["scheduler"]["decidedAt"] > first


def test_the_database_has_a_size_soon(server):
    def size():
        return {kept["name"]: kept["sizeBytes"] for kept in ask(server)["storage"]}["Database"]

    server.wait_for("the size of the database", size)
    assert size() <= sum(path.stat().st_size for path in server.data.glob("prorata.db*"))


def test_others_see_parts_alone(server):
    for role in ("L1 researcher", "Viewer"):
        _, token = make_caller(server, role.split()[0].lower(), (role, "project", server.project_id("team-a")))
        about = ask(server, token=token)
        assert not KEPT & set(about) and len(about["parts"]) == 5, about
