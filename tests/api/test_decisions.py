"""The journal's cycles as a list."""

from contract import check_answer
from test_access import make_caller

DECISIONS = "/api/v1/scheduler/decisions"


def test_before_the_first_cycle_there_are_none(server):
    server.wait_for("a cycle", lambda: server.get(DECISIONS).json["cycles"])
    for segment in (server.data / "journal").iterdir():
        segment.unlink()
    answer = server.get(DECISIONS)
    check_answer("get_scheduler_decisions", answer)
    assert (answer.status, answer.json["cycles"]) == (200, [])


def test_a_decision_is_in_the_journal(server):
    server.wait_phase(server.submit("a1", "team-a", gpus=1), "Running")

    def decided():
        answer = server.get(DECISIONS, limit=500)
        check_answer("get_scheduler_decisions", answer)
        return [c for c in answer.json["cycles"] if c["decisions"] > 0]

    (cycle,) = server.wait_for("the cycle that placed it", decided)
    assert cycle["decisions"] == 1 and cycle["planMicroseconds"] > 0
    times = [c["time"] for c in server.get(DECISIONS, limit=500).json["cycles"]]
    assert times == sorted(times, reverse=True)
    first = server.get(DECISIONS, limit=1).json
    assert len(first["cycles"]) == 1 and (len(times) == 1 or first["next"] == 1)
    at = server.get(DECISIONS, since=cycle["time"], until=cycle["time"]).json["cycles"]
    assert cycle["cycle"] in [c["cycle"] for c in at]
    assert server.get(DECISIONS, since="2020-01-01T00:00:00Z", until="2020-01-01T12:00:00Z").json["cycles"] == []


def test_what_is_refused(server):
    for query, field in (
        ({"since": "yesterday"}, "since"),
        ({"until": "12"}, "until"),
        ({"since": "2020-01-01T00:00:00Z"}, "24 hours"),
        ({"limit": 501}, "limit"),
    ):
        answer = server.get(DECISIONS, **query)
        assert answer.status == 400 and field in answer.json["message"], answer
    _, token = make_caller(server, "no-rules")
    assert server.request("GET", DECISIONS, token=token).status == 403


def test_without_a_journal_there_is_nothing(make_server):
    answer = make_server("--quick-start", "--journal-bytes", "0").get(DECISIONS)
    assert answer.status == 404 and answer.json["message"] == "journal: none is kept"
