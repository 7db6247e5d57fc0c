"""`after`: what is submitted joins the queue when other workloads of its project have ended, and so as it says."""

import pytest
from test_what_if import ask, body

TRAININGS = "/api/v1/workloads/trainings"
SECOND = {"annotations": [{"name": "prorata.io/sim-duration", "value": "1s"}]}
FAILS = {
    "annotations": [*SECOND["annotations"], {"name": "prorata.io/sim-exit-code", "value": "3"}],
    "backoffLimit": 0,
}

NEVER = "Was to start after first completed, which did not come: submit it again without that."


def after(*ends):
    return {"after": [dict(zip(("name", "when"), end.split(":"), strict=False)) for end in ends]}


def wait_sentence(server, workload, sentence):
    path = f"/api/v1/workloads/{workload}/explanation"
    server.wait_for(sentence, lambda: server.get(path).json.get("sentence") == sentence)


def names(server):
    return [w["name"] for w in server.get("/api/v1/workloads").json["workloads"]]


def refused(server, **spec):
    answer = server.post(TRAININGS, body(server, "next", "team-a", **spec))
    assert answer.status == 400, answer
    return answer.json["message"]


@pytest.mark.parametrize(
    "when, end, starts",
    [
        ("ok", "completed", True),
        ("ok", "failed", False),
        ("ok", "deleted", False),
        ("any", "completed", True),
        ("any", "failed", True),
        ("any", "deleted", True),
        ("failed", "failed", True),
        ("failed", "completed", False),
        ("failed", "deleted", False),
    ],
)
def test_an_end_opens_or_closes(server, when, end, starts):
    first = server.submit("first", "team-a", spec={"completed": SECOND, "failed": FAILS, "deleted": {}}[end])
    then = server.submit("then", "team-a", spec=after(f"first:{when}"))
    if end == "deleted":
        verb = {"ok": "complete", "any": "end", "failed": "fail"}[when]
        said = server.explanation(then)
        assert (said["code"], said["sentence"]) == ("NotReady", f"Waits for first to {verb}.")
        assert said["forecast"] == {"kind": "unknown", "at": None, "sentence": "Joins the queue then"}
        assert server.delete(f"{TRAININGS}/{first}").status == 202
    else:
        server.wait_phase(first, end.capitalize())
    if starts:
        server.wait_phase(then, "Running")
    else:
        wait_sentence(server, then, NEVER if when == "ok" else NEVER.replace("completed", "failed"))
        assert server.explanation(then)["forecast"]["kind"] == "never"
        assert server.workload(then)["phase"] == "Pending"


def test_all_of_them_must_end(server):
    server.wait_phase(server.submit("done", "team-a", spec=SECOND), "Completed")
    long = server.submit("long", "team-a")
    then = server.submit("then", "team-a", spec=after("done", "long:any"))
    assert server.explanation(then)["sentence"] == "Waits for long to end."
    server.stop()
    server.start()
    assert server.explanation(then)["sentence"] == "Waits for long to end."
    server.delete(f"{TRAININGS}/{long}")
    server.wait_phase(then, "Running")
    spec = server.get(f"{TRAININGS}/{then}").json["spec"]
    assert spec["after"] == [{"name": "done"}, {"name": "long", "when": "any"}]


def test_a_chain_goes_one_by_one(server):
    chain = ["one", "two", "three"]
    ids = [
        server.submit(name, "team-a", spec={**SECOND, **(after(chain[i - 1]) if i else {})})
        for i, name in enumerate(chain)
    ]
    rows = [server.wait_phase(id, "Completed") for id in ids]
    assert [row["name"] for row in sorted(rows, key=lambda row: row["phaseUpdatedAt"])] == chain


def test_it_is_the_one_that_had_the_name_then(server):
    first = server.submit("first", "team-a")
    then = server.submit("then", "team-a", spec=after("first"))
    server.explanation(then)
    server.delete(f"{TRAININGS}/{first}")
    server.wait_for("first is gone", lambda: names(server) == ["then"])
    server.wait_phase(server.submit("first", "team-a", spec=SECOND), "Completed")
    wait_sentence(server, then, NEVER)
    assert server.explanation(then)["forecast"]["kind"] == "never"


def test_what_it_cannot_wait_for_is_refused_by_field(server):
    server.submit("theirs", "team-b")
    assert refused(server, **after("theirs")) == "spec.after[0].name: the project has no workload theirs"
    assert refused(server, **after("next")) == "spec.after[0].name: the project has no workload next"
    mine = server.submit("mine", "team-a")
    assert "spec.after[0].when" in refused(server, **after("mine:soon"))
    assert refused(server, **after("mine", "mine:any")) == "spec.after[1].name: duplicate: mine"
    assert "after" in refused(server, after="mine")
    assert "name" in refused(server, after=[{}])
    server.delete(f"{TRAININGS}/{mine}")
    server.wait_for("mine is gone", lambda: names(server) == ["theirs"])
    assert refused(server, **after("mine")) == "spec.after[0].name: the project has no workload mine"


def test_what_if_knows_it(server):
    server.submit("first", "team-a")
    answer = ask(server, "then", "team-a", **after("first"))
    assert (answer.json["verdict"], answer.json["sentence"]) == ("Waits", "Waits for first to complete")
    assert answer.json["forecast"] == {"kind": "unknown", "at": None, "sentence": "Joins the queue then"}
