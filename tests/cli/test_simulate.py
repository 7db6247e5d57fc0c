"""`prorata simulate`: arguments, exit status, what goes where, and the form of the output."""

import json
import random
import subprocess

import pytest
from servers import PRORATA, ROOT

CASES = ROOT / "tests" / "conformance" / "cases"
NOW = "2026-01-01T12:00:00Z"


def snapshot(**more):
    """One node of two GPUs; team-a holds both, team-b (which deserves one) wants one."""
    queue = [{"nodePool": "default", "gpu": {"deserved": 1}}]

    def workload(name, project, **pod):
        return {
            "name": name,
            "project": project,
            "createdAt": NOW,
            "pods": [{"name": name + "-0", "gpuDevices": 1, **pod}],
        }

    running = {"status": "Running", "node": "node0", "startedAt": NOW}
    return {
        "version": 1,
        "now": NOW,
        "nodePools": [{"name": "default"}],
        "nodes": [{"name": "node0", "nodePool": "default", "gpus": 2, "cpuCores": 8, "memoryBytes": 10**9}],
        "departments": [{"name": "research", "resources": [{"nodePool": "default", "gpu": {"deserved": 2}}]}],
        "projects": [
            {"name": "team-b", "department": "research", "resources": queue},
            {"name": "team-a", "department": "research", "resources": queue},
        ],
        "workloads": [
            workload("b1", "team-b"),
            workload("a2", "team-a", **running),
            workload("a1", "team-a", **running),
        ],
        **more,
    }


def run(*arguments, text=None):
    return subprocess.run(
        [PRORATA, "simulate", *map(str, arguments)], input=text, capture_output=True, text=True, timeout=60
    )


def simulate(document, *arguments):
    done = run("-", *arguments, text=json.dumps(document))
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_reads_a_file_and_standard_input_alike(tmp_path):
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(snapshot()))
    from_file, from_stdin = run(path), run("-", text=path.read_text())
    assert from_file.returncode == 0
    assert from_file.stdout == from_stdin.stdout
    assert from_file.stdout.endswith("}\n") and from_file.stdout.count("\n") == 1


def test_the_owner_takes_back_what_was_lent():
    result = simulate(snapshot(), "--cycles", 2)
    first, second = result["cycles"]
    assert [cycle["cycle"] for cycle in result["cycles"]] == [1, 2]
    evict, pipeline = first["decisions"]
    assert (evict["action"], evict["verb"], evict["pod"], evict["node"], evict["for"]) == (
        "reclaim",
        "evict",
        "a2-0",
        "node0",
        "b1",
    )
    assert (pipeline["action"], pipeline["verb"], pipeline["pod"], pipeline["node"]) == (
        "reclaim",
        "pipeline",
        "b1-0",
        "node0",
    )
    assert "gpuGroups" in pipeline and "gpuGroups" not in evict
    assert all(decision["why"] for decision in first["decisions"])
    assert [(pod["name"], pod["status"], pod["node"]) for pod in first["pods"]] == [
        ("a1-0", "Running", "node0"),
        ("a2-0", "Releasing", "node0"),
        ("b1-0", "Pipelined", "node0"),
    ]
    assert [(pod["name"], pod["status"]) for pod in second["pods"]] == [
        ("a1-0", "Running"),
        ("a2-0", "Pending"),
        ("b1-0", "Binding"),
    ]
    assert [(pod["name"], pod["status"], pod["node"]) for pod in result["final"]["pods"]] == [
        ("a1-0", "Running", "node0"),
        ("a2-0", "Pending", None),
        ("b1-0", "Running", "node0"),
    ]
    assert result["final"]["nodes"] == [{"name": "node0", "idleGpus": 0, "releasingGpus": 0}]


def test_lists_are_sorted_and_queues_have_their_numbers():
    cycle = simulate(snapshot())["cycles"][0]
    assert [workload["name"] for workload in cycle["workloads"]] == ["a1", "a2", "b1"]
    assert [(queue["kind"], queue["name"], queue["nodePool"]) for queue in cycle["queues"]] == [
        ("department", "research", "default"),
        ("project", "team-a", "default"),
        ("project", "team-b", "default"),
    ]
    for queue in cycle["queues"]:
        for resource in ("gpu", "cpu", "memory"):
            assert list(queue[resource]) == [
                "deserved",
                "limit",
                "fairShare",
                "allocated",
                "allocatedNonPreemptible",
                "requested",
            ]
    team_a = cycle["queues"][1]["gpu"]
    assert (team_a["deserved"], team_a["limit"], team_a["fairShare"], team_a["requested"]) == (1, None, 1, 2)


def test_a_pending_workload_says_why():
    document = snapshot()
    document["workloads"][0]["pods"][0]["gpuDevices"] = 3
    workloads = {workload["name"]: workload for workload in simulate(document)["cycles"][0]["workloads"]}
    assert workloads["b1"]["status"] == "Pending"
    assert workloads["b1"]["explanation"] and all(e["code"] and e["message"] for e in workloads["b1"]["explanation"])
    assert workloads["a1"]["explanation"] == []


def test_a_deleted_workload_stays_releasing():
    document = snapshot()
    document["workloads"][1].update(deleting=True)
    document["workloads"][1]["pods"][0]["status"] = "Releasing"
    result = simulate(document, "--cycles", 3)
    assert [(pod["name"], pod["status"], pod["node"]) for pod in result["final"]["pods"]][1] == (
        "a2-0",
        "Releasing",
        "node0",
    )


def test_what_ended_is_shown_as_it_was_read():
    document = snapshot()
    document["workloads"][1]["pods"][0].update(status="Succeeded")
    document["workloads"][2]["pods"] = [{"name": "a1-0", "status": "Failed"}]
    result = simulate(document)
    for pods in (result["cycles"][0]["pods"], result["final"]["pods"]):
        shown = {pod["name"]: (pod["status"], pod["node"]) for pod in pods}
        assert shown["a2-0"] == ("Succeeded", "node0")
        assert shown["a1-0"] == ("Failed", None)


def test_pretty_says_the_same():
    text = json.dumps(snapshot())
    plain, pretty = run("-", text=text), run("--pretty", "-", text=text)
    assert pretty.stdout.startswith('{\n  "cycles": [\n')
    assert json.loads(plain.stdout) == json.loads(pretty.stdout)


def test_one_cycle_where_no_number_is_given():
    assert len(simulate(snapshot())["cycles"]) == 1
    assert len(simulate(snapshot(), "-n", "3")["cycles"]) == 3


def shuffle(value, dice, key=""):
    if isinstance(value, dict):
        items = [(k, shuffle(v, dice, k)) for k, v in value.items()]
        dice.shuffle(items)
        return dict(items)
    if isinstance(value, list):
        items = [shuffle(item, dice, key) for item in value]
        if key not in ("actions", "levels") and not (key == "nodePools" and items and isinstance(items[0], str)):
            dice.shuffle(items)
        return items
    return value


@pytest.mark.parametrize("path", sorted(CASES.glob("*.json"))[::9], ids=lambda path: path.stem)
def test_the_order_of_the_document_leaves_no_trace(path):
    document = json.loads(path.read_text())["snapshot"]
    wanted = run("-", "--cycles", 3, text=json.dumps(document))
    assert wanted.returncode == 0
    for seed in range(3):
        shuffled = run("-", "--cycles", 3, text=json.dumps(shuffle(document, random.Random(seed))))
        assert shuffled.stdout == wanted.stdout, f"seed {seed}"


BAD_DOCUMENTS = [
    ('{"version": 1', "line 1 column"),
    ("", "line 1 column 0"),
    ("[]", "an object, got a list"),
    ('{"version": 1, "version": 1}', "duplicate object key"),
    ('{"version": 1, "now": NaN}', "line 1 column"),
    ("[" * 100000, "more than 32 levels of nesting"),
    ("\0\0\0\0", "line 1 column"),
    ('{"version": 1, "now": "\\ud800"}', "line 1 column"),
    (json.dumps(snapshot(colour=1)), "colour: unknown key"),
    (json.dumps(snapshot(version=2)), "version: at most 1, got 2"),
    (
        json.dumps(snapshot(nodes=[{"name": "n", "nodePool": "default", "gpus": -1}])),
        "nodes[0].gpus: at least 0, got -1",
    ),
    (json.dumps(snapshot(nodes=[])), 'workloads[1].pods[0].node: no node "node0"'),
]


@pytest.mark.parametrize("text,message", BAD_DOCUMENTS, ids=[message for _, message in BAD_DOCUMENTS])
def test_a_bad_snapshot_prints_nothing_and_says_where(text, message):
    done = run("-", text=text)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.startswith("prorata simulate: standard input: ") and done.stderr.count("\n") == 1


BAD_ARGUMENTS = [
    ([], "one FILE or - is needed"),
    (["-", "-"], "one FILE or - is needed"),
    (["-", "--cycles"], "--cycles: needs a value"),
    (["-", "--cycles", "0"], '--cycles: a whole number from 1 to 1000000, got "0"'),
    (["-", "--cycles", "-1"], '--cycles: a whole number from 1 to 1000000, got "-1"'),
    (["-", "--cycles", "1.5"], '--cycles: a whole number from 1 to 1000000, got "1.5"'),
    (["-", "--cycles", "1e3"], '--cycles: a whole number from 1 to 1000000, got "1e3"'),
    (["-", "--cycles", ""], '--cycles: a whole number from 1 to 1000000, got ""'),
    (["-", "--cycles", "99999999999999999999"], "--cycles: a whole number from 1 to 1000000"),
    (["-", "--color"], "--color: unknown option"),
    (["-", "-x"], "-x: unknown option"),
    (["/no/such/file.json"], "/no/such/file.json: No such file or directory"),
    (["/"], "/: Is a directory"),
]


@pytest.mark.parametrize("arguments,message", BAD_ARGUMENTS, ids=[" ".join(a) or "none" for a, _ in BAD_ARGUMENTS])
def test_bad_arguments_are_said_in_one_line(arguments, message):
    done = run(*arguments, text=json.dumps(snapshot()))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_output_that_cannot_be_written_is_an_error(tmp_path):
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(snapshot()))
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [PRORATA, "simulate", str(path)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert done.returncode == 1
    assert "No space left on device" in done.stderr


def test_help():
    done = run("--help")
    assert done.returncode == 0 and done.stderr == ""
    for word in ("FILE", "--cycles", "--pretty", "Exit status"):
        assert word in done.stdout


def test_commands_of_the_binary():
    lists = subprocess.run([PRORATA, "--help"], capture_output=True, text=True, timeout=60)
    assert lists.returncode == 0 and "simulate" in lists.stdout
    version = subprocess.run([PRORATA, "version"], capture_output=True, text=True, timeout=60)
    assert version.returncode == 0 and version.stdout.startswith("prorata ")
