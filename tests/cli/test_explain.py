"""--what-if, explain, fairshare, queue, waiting, receipts: what the scheduler would do, and why."""

import datetime
import json
import os
import re

from servers import Client
from shells import read_to_the_end

SUBMIT = ("-i", "runai.jfrog.io/demo/quickstart", "-p")


def submit(client, name, project, gpus, *flags):
    client.run("training", "submit", name, *SUBMIT, project, "-g", str(gpus), *flags)


def wait_phase(client, phase, *names):
    def phases():
        return {w["name"]: w["phase"] for w in client.server.get("/api/v1/workloads").json["workloads"]}

    client.server.wait_for(phase, lambda: all(phases().get(n) == phase for n in names))


def test_what_if_says_who_gives_way_and_submits_nothing(client):
    submit(client, "b1", "team-b", 2)
    submit(client, "b2", "team-b", 2)
    wait_phase(client, "Running", "b1", "b2")
    shown = client.run("training", "submit", "a1", *SUBMIT, "team-a", "-g", "2", "--what-if")
    assert "Starts, and others give way" in shown and "Who gives way" in shown and "Nothing was submitted." in shown
    assert re.search(r"b2 +team-b +2\.00 +1 +stops, and waits again", shown), shown
    assert "a1" not in client.run("workload", "list", "-A")
    submit(client, "a1", "team-a", 2)
    wait_phase(client, "Running", "a1", "b1")
    wait_phase(client, "Pending", "b2")
    shown = client.run("receipts", "-p", "team-b")
    assert re.search(r"reclaim +b2 +team-b +2\.00 +node-\d +a1 ", shown), shown
    (receipt,) = json.loads(client.run("receipts", "--workload", "b2", "-p", "team-b", "--json"))
    assert receipt["beneficiary"] == "a1" and receipt["gpus"] == 2 and not receipt["moved"]
    assert client.run("receipts", "-p", "team-a") == "Nothing gave way.\n"


def test_what_if_that_waits_ends_with_status_3(client):
    shown = client.run("training", "submit", "big", *SUBMIT, "team-a", "-g", "9", "--what-if", status=3)
    assert re.search(r"Verdict: +Waits\n", shown) and "Needs 9 GPUs" in shown
    answer = json.loads(
        client.run("training", "submit", "big", *SUBMIT, "team-a", "-g", "9", "--what-if", "--json", status=3)
    )
    assert answer["verdict"] == "Waits" and answer["explanation"]


def test_every_way_of_submitting_can_ask(client):
    for words in (
        ("workspace", "submit"),
        ("training", "pytorch", "submit"),
        ("distributed", "submit"),
        ("mpi", "submit"),
        ("submit",),
        ("submit-mpi",),
    ):
        gpus = "-g"
        shown = client.run(*words, "w1", *SUBMIT, "team-a", gpus, "1", "--what-if")
        assert "Starts at once" in shown, (words, shown)
    assert client.server.get("/api/v1/workloads").json["workloads"] == []


def test_what_if_refuses_what_submitting_refuses(client):
    shown = client.run("training", "submit", "Bad_Name", *SUBMIT, "team-a", "-g", "1", "--what-if", status=1)
    assert "workload.name" in shown
    shown = client.run(
        "training", "submit", "x", *SUBMIT, "team-a", "-g", "1", "--node-pools", "nowhere", "--what-if", status=1
    )
    assert "workload.spec.nodePools[0]" in shown


def test_explain_says_why_and_who_holds_what(client):
    for name in ("b1", "b2", "b3"):
        submit(client, name, "team-b", 2)
    wait_phase(client, "Running", "b1", "b2")
    client.server.wait_for("an explanation", lambda: "Needs 2 GPUs" in client.run("explain", "b3", "-p", "team-b"))
    shown = client.run("workload", "explain", "b3", "-p", "team-b")
    assert shown.startswith("b3 (Pending): Needs 2 GPUs in default; 0 of its 4 GPUs are free.")
    assert "What the scheduler found" in shown and "Numbers in node pool default (it asks for 2.00 GPUs)" in shown
    assert re.search(r"Project +team-b +2\.00 +unlimited +4\.00 +4\.00", shown), shown
    both = json.loads(client.run("training", "explain", "b3", "-p", "team-b", "--json"))
    assert both["explanation"]["code"] == "NotEnoughGpus" and both["whatIf"]["verdict"] == "Waits"
    both = json.loads(client.run("explain", "b1", "-p", "team-b", "--json"))
    assert both["whatIf"] is None and both["explanation"]["phase"] == "Running"
    assert "no workload was found" in client.run("explain", "nobody", "-p", "team-b", status=1)


def test_explain_says_what_can_never_start(client):
    submit(client, "big", "team-b", 3)
    wait_phase(client, "Pending", "big")
    client.server.wait_for("an explanation", lambda: "Needs 3 GPUs" in client.run("explain", "big", "-p", "team-b"))
    shown = client.run("explain", "big", "-p", "team-b")
    assert "When: Cannot start as asked, even with all other work gone: needs 3 GPUs on one node" in shown, shown
    assert "1. Ask for 2 GPUs" in shown, shown
    submit(client, "b1", "team-b", 2)
    submit(client, "b2", "team-b", 2)
    wait_phase(client, "Running", "b1", "b2")
    client.server.wait_for(
        "no way", lambda: "No change was found that would start it" in client.run("explain", "big", "-p", "team-b")
    )


def said_to_a_person(client, *words):
    """What the command writes to a terminal besides its table."""
    leader, terminal = os.openpty()
    try:
        client.finish(*words, stderr=terminal)
        os.close(terminal)
        return read_to_the_end(leader).decode().replace("\r\n", "\n")
    finally:
        os.close(leader)


def test_the_way_out_stands_where_a_person_looks(make_server, folder):
    """What waits in the wrong node pool: in `describe` of both generations, and beside the table of `list`."""
    (folder / "pools.yaml").write_text(
        "nodePools: [{name: default}, {name: big}]\nnodes: [{name: n0, gpus: 2}, {name: n1, gpus: 8, nodePool: big}]\n"
    )
    client = Client(make_server("--cluster", str(folder / "pools.yaml")), folder / "home").sign_in()
    submit(client, "lost", "default", 8)
    client.server.wait_for("an explanation", lambda: "Needs 8 GPUs" in client.run("explain", "lost", "-p", "default"))
    want = "Use node pool big; or ask for 2 GPUs instead of 8."
    assert f"WOULD START IT: {want}\n" in client.run("describe", "lost", "-p", "default")
    assert f"  Would start it:  {want}\n" in client.run("training", "describe", "lost", "-p", "default")
    assert "whatIf" not in json.loads(client.run("training", "describe", "lost", "-p", "default", "--json"))
    for words in (("list", "-A"), ("workload", "list", "-A"), ("list", "jobs", "-A")):
        done = client.finish(*words)
        assert "lost" in done.stdout and "big" not in done.stdout and done.stderr == "", done
        assert said_to_a_person(client, *words) == (
            "lost waits: Needs 8 GPUs on one node; the largest of default has 2.\n"
            f"What would start it: {want}\nMore: runai explain lost -p default\n"
        ), words
    assert said_to_a_person(client, "list", "-A", "--json") == ""
    submit(client, "second", "default", 8)
    client.server.wait_for(
        "both", lambda: "of all that wait: runai waiting\n" in said_to_a_person(client, "list", "-A")
    )
    client.run("training", "delete", "lost", "-p", "default", "--yes")
    client.run("training", "delete", "second", "-p", "default", "--yes")
    submit(client, "runs", "default", 1)
    wait_phase(client, "Running", "runs")
    client.server.wait_for("nothing waits", lambda: said_to_a_person(client, "list", "-A") == "")


def test_fairshare_is_a_tree(client):
    submit(client, "b1", "team-b", 3)
    client.server.wait_for(
        "the share of team-b", lambda: re.search(r"└─ team-b +3\.00 +2\.00 +unlimited +3\.00", client.run("fairshare"))
    )
    lines = client.run("fairshare").splitlines()
    assert lines[0].split() == [
        "Name",
        "Fair",
        "Share",
        "Deserved",
        "Limit",
        "Requested",
        "Allocated",
        "Rank",
        "Weight",
    ]
    assert lines[2].startswith(" default") and any(
        line.startswith(" └─ research") or line.startswith(" ├─ research") for line in lines
    )
    assert "Deserves 2 GPUs and asks for 3" in client.run("fairshare", "--terms", "--pool", "default")
    tree = json.loads(client.run("fairshare", "--resource", "memory", "--json"))
    assert tree["resource"] == "memory" and tree["root"]["kind"] == "pool"
    assert "GiB" in client.run("fairshare", "--resource", "memory")
    assert "not found" in client.run("fairshare", "--pool", "nowhere", status=1)


def test_queue_is_in_the_order_of_the_scheduler(client):
    client.server.wait_for("a cycle", lambda: client.server.get("/api/v1/about").json["scheduler"]["decidedAt"])
    assert re.fullmatch(r"Nothing waits\.\n\nThe scheduler decided \d+[smh] ago\.\n", client.run("queue"))
    for name, project in (("b1", "team-b"), ("b2", "team-b"), ("b3", "team-b"), ("a9", "team-a")):
        submit(client, name, project, 9 if name == "a9" else 2)
    wait_phase(client, "Running", "b1", "b2")
    client.server.wait_for("both wait", lambda: len(json.loads(client.run("queue", "--json"))) == 2)
    rows = client.run("queue", "--pool", "default", "--no-headers").splitlines()
    assert [row.split()[:3] for row in rows] == [["1", "b3", "team-b"], ["2", "a9", "team-a"]]
    entries = json.loads(client.run("queue", "--json", "--max-items", "1"))
    assert [e["workload"] for e in entries] == ["b3"] and entries[0]["rule"] and entries[0]["sentence"]


def test_waiting_groups_by_reason(client):
    assert client.run("waiting") == "Nothing waits.\n"
    for name, project in (("b1", "team-b"), ("b2", "team-b"), ("b3", "team-b"), ("b4", "team-b")):
        submit(client, name, project, 2)
    wait_phase(client, "Running", "b1", "b2")
    row = r"2 +4\.00 +default +\S+ +team-b .*Needs 2 GPUs"
    client.server.wait_for("both in one group", lambda: re.search(row, client.run("waiting", "--no-headers")))
    assert "Held By" in client.run("waiting", "--pool", "default").splitlines()[0]
    answer = json.loads(client.run("waiting", "--json"))
    assert answer["count"] == 2 and [g["code"] for g in answer["groups"]] == ["NotEnoughGpus"]
    assert client.run("waiting", "--pool", "nowhere") == "Nothing waits.\n"


def test_idle_names_who_holds_gpus_that_do_nothing(client):
    assert client.run("idle") == "No GPU that somebody holds is idle.\n"
    lazy = ("--annotation", "prorata.io/sim-gpu-utilization=0")
    submit(client, "lazy", "team-a", 2, *lazy)
    submit(client, "busy", "team-b", 1)
    wait_phase(client, "Running", "lazy", "busy")
    row = r"lazy +Training +team-a +admin@prorata\.local +default +2\.00 +2\.00 +0\.0 % +\d+s +0\.00"
    client.server.wait_for("its row", lambda: re.search(row, client.run("idle", "--for", "0", "--no-headers")))
    assert client.run("idle").startswith("No GPU"), "not for five minutes yet"
    assert client.run("idle", "--for", "0", "-p", "team-b").startswith("No GPU")
    (entry,) = json.loads(client.run("idle", "--for", "0", "--pool", "default", "--json"))
    assert (entry["name"], entry["gpusIdle"]) == ("lazy", 2)


def test_timeline_says_who_held_what_and_who_gave_way(client):
    assert client.run("timeline") == "Nobody held a GPU.\n"
    submit(client, "b1", "team-b", 2)
    submit(client, "b2", "team-b", 2)
    wait_phase(client, "Running", "b1", "b2")
    row = r"node-\d +0-1 +2\.00 +\S+Z +\S+Z +team-b +b\d"
    assert len(re.findall(row, client.run("timeline", "--width", "2000"))) == 2
    submit(client, "a1", "team-a", 2)
    wait_phase(client, "Running", "a1")
    assert re.search(r"reclaim +node-\d +2\.00 +b\d +team-b +a1", client.run("timeline"))
    answer = json.loads(client.run("timeline", "--node", "node-0", "--json"))
    assert [lane["node"] for lane in answer["lanes"]] == ["node-0"]
    assert re.search(r"default +\d\.\d\d +\S+Z +\S+Z +team-b ", client.run("timeline", "--by", "pools"))
    by_project = client.run("timeline", "--by", "projects")
    assert re.match(r" *GPUs +From +To +Project ", by_project) and re.search(
        r"^ *\d\.\d\d .* team-a ", by_project, re.M
    )


def test_explain_says_why_it_waited_then(client):
    client.run("training", "submit", "past", "-i", "x", "-g", "3", "-p", "team-a")
    client.server.wait_for("an explanation", lambda: "Needs 3 GPUs" in client.run("explain", "past", "-p", "team-a"))

    def told():
        time = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        return client.run("training", "explain", "past", "-p", "team-a", "--at", time)

    said = client.server.wait_for("a cycle of it", lambda: (lambda t: t if "Needs 3 GPUs" in t else None)(told()))
    assert said.startswith("Cycle ") and "past (Pending): Needs 3 GPUs" in said
    assert "cycle" in client.run("explain", "past", "-p", "team-a", "--at", "2020-01-01T00:00:00Z", status=1)
