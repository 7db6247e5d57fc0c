"""prorata replay: what it refuses of traces, nodes, options, policies and quotas, each with its place."""

import pytest
from test_replay import HEAD, replay

BAD_TRACES = [
    ("no such file", None, "No such file"),
    ("empty", "", ":1:1: the file is empty"),
    ("no jobs", HEAD, ":1:1: no jobs"),
    ("a column is missing", "id,submit_s,duration_s,project\na,0,1,p\n", ':1:1: the column "gpus_per_pod" is missing'),
    ("an unknown column", "id,colour\n", ':1:4: no column is called "colour"'),
    ("a column twice", "id,id\n", ':1:4: a second column "id"'),
    ("too few values", HEAD + "a,0,1,p\n", ":2:7: 4 values, but there are 5 columns"),
    ("too many values", HEAD + "a,0,1,p,1,1\n", ":2:11: 6 values, but there are 5 columns"),
    ("no id", HEAD + ",0,1,p,1\n", ":2:1: id: empty"),
    ("an id twice", HEAD + "a,0,1,p,1\nb,0,1,p,1\na,0,1,p,1\n", ":4:1: id: a stands in line 2 already"),
    (
        "a time that is none",
        HEAD + "a,soon,1,p,1\n",
        ':2:3: submit_s: a number from 0 to 10000000000 with at most 3 decimals, got "soon"',
    ),
    ("a negative time", HEAD + "a,-1,1,p,1\n", ":2:3: submit_s: a number from 0"),
    ("a time too fine", HEAD + "a,0.0001,1,p,1\n", ":2:3: submit_s: a number from 0"),
    ("a time too large", HEAD + "a,99999999999,1,p,1\n", ":2:3: submit_s: a number from 0"),
    ("no duration", HEAD + "a,0,,p,1\n", ":2:5: duration_s: empty"),
    ("no project", HEAD + "a,0,1,,1\n", ":2:7: project: empty"),
    ("GPUs that are none", HEAD + "a,0,1,p,one\n", ':2:9: gpus_per_pod: a whole number from 0 to 1024, got "one"'),
    ("too many GPUs", HEAD + "a,0,1,p,1025\n", ":2:9: gpus_per_pod: a whole number from 0 to 1024"),
    ("GPUs left empty", HEAD + "a,0,1,p,\n", ":2:9: gpus_per_pod: empty"),
    ("half a GPU as devices", HEAD + "a,0,1,p,0.5\n", ":2:9: gpus_per_pod: a whole number"),
    (
        "a part that is too fine",
        HEAD.replace("\n", ",gpu_milli\n") + "a,0,1,p,1,455\n",
        ":2:11: gpu_milli: 10 to 1000 in steps of 10",
    ),
    ("no pods", HEAD.replace("\n", ",pods\n") + "a,0,1,p,1,0\n", ":2:11: pods: a whole number from 1 to 10000"),
    (
        "a priority that is none",
        HEAD.replace("\n", ",priority\n") + "a,0,1,p,1,urgent\n",
        ":2:11: priority: a name like low",
    ),
    (
        "preemptible or what",
        HEAD.replace("\n", ",preemptible\n") + "a,0,1,p,1,maybe\n",
        ':2:11: preemptible: 0 or 1, got "maybe"',
    ),
    (
        "models with a gap",
        HEAD.replace("\n", ",gpu_models\n") + "a,0,1,p,1,A||B\n",
        ":2:11: gpu_models: names with | between them",
    ),
    (
        "models that no node has",
        HEAD.replace("\n", ",gpu_models\n") + "a,0,1,p,1,\nb,0,1,p,1,A1OO|H1OO\n",
        ":3:11: gpu_models: no node has A1OO|H1OO",
    ),
    (
        "a number beyond 64 bits",
        HEAD + "a,0,1,p,99999999999999999999\n",
        ":2:9: gpus_per_pod: a whole number from 0 to 1024",
    ),
    (
        "pods beyond 64 bits",
        HEAD.replace("\n", ",pods\n") + "a,0,1,p,1,99999999999999999999\n",
        ":2:11: pods: a whole number from 1 to 10000",
    ),
    ("negative GPUs", HEAD + "a,0,1,p,-1\n", ":2:9: gpus_per_pod: a whole number from 0"),
    ("a negative duration", HEAD + "a,0,-0.5,p,1\n", ":2:5: duration_s: a number from 0"),
    ("not finite", HEAD + "a,nan,1,p,1\n", ":2:3: submit_s: a number from 0"),
    ("in hexadecimal", HEAD + "a,0x10,1,p,1\n", ":2:3: submit_s: a number from 0"),
    ("blanks around a number", HEAD + "a,0,1,p, 1\n", ':2:9: gpus_per_pod: a whole number from 0 to 1024, got " 1"'),
    ("a name too long", HEAD + "a" * 201 + ",0,1,p,1\n", ":2:1: id: longer than 200 bytes"),
    ("too many columns", ",".join(["id"] + ["x"] * 70) + "\n", ":1:130: more than 64 columns"),
    ("a name that is not UTF-8", HEAD + "a,0,1,p\udcbe,1\n", ":2:7: project: not UTF-8"),
    ("only the mark of the encoding", "\ufeff", ":1:1: the file is empty"),
    ("line ends of another age", HEAD.replace("\n", "\r") + "a,0,1,p,1\r", ":1:32: no column is called"),
    (
        "a project in two departments",
        HEAD.replace("\n", ",department\n") + "a,0,1,p,1,x\nb,0,1,p,1,y\n",
        ":3:11: project p is in department x in line 2",
    ),
    ("a quote that is not closed", HEAD + 'a,0,1,"p,1\n', ":2:7: a quote that is not closed"),
    ("text behind a quote", HEAD + '"a"b,0,1,p,1\n', ":2:4: text behind the closing quote"),
    ("the line counts quoted line ends", HEAD + '"a",0,1,"p\nq",1\n', ":2:9: project: a control character"),
    ("a zero byte", HEAD + "a\0b,0,1,p,1\n", ":2:1: a zero byte"),
]


@pytest.mark.parametrize("name,trace,want", BAD_TRACES, ids=[c[0] for c in BAD_TRACES])
def test_bad_traces_are_refused_with_their_place(tmp_path, name, trace, want):
    path = tmp_path / "trace.csv"
    if trace is not None:
        path.write_bytes(trace.encode(errors="surrogateescape"))
    result = replay(path, "--nodes", "1x1")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"prorata replay: {path}") and want in result.stderr, result.stderr
    assert result.stderr.count("\n") == 1


NODES = "node,gpu_model,gpus,cpu_milli,mem_mib\n"
BAD_NODES = [
    ("empty", "", ":1:1: the file is empty"),
    ("no nodes", NODES, ":1:1: no nodes"),
    ("no GPU at all", NODES + "n1,,0,1000,1000\n", ":1:1: no node has a GPU"),
    ("a column is missing", "node,gpus\nn1,8\n", ':1:1: the column "cpu_milli" is missing'),
    ("an unknown column", "node,colour\n", ':1:6: no column is called "colour"'),
    ("a node twice", NODES + "n2,A,8,1,1\nn1,A,8,1,1\nn2,A,4,1,1\n", ":4:1: node: n2 stands in line 2 already"),
    ("no name", NODES + ",A,8,1,1\n", ":2:1: node: empty"),
    ("no number of GPUs", NODES + "n1,A,,1,1\n", ":2:6: gpus: empty"),
    ("negative GPUs", NODES + "n1,A,-8,1,1\n", ":2:6: gpus: a whole number from 0 to 1024"),
    ("half a GPU", NODES + "n1,A,0.5,1,1\n", ":2:6: gpus: a whole number from 0 to 1024"),
    (
        "CPU beyond 64 bits",
        NODES + "n1,A,8,99999999999999999999,1\n",
        ":2:8: cpu_milli: a whole number from 0 to 1000000000",
    ),
    ("memory that is none", NODES + "n1,A,8,1,much\n", ":2:10: mem_mib: a whole number from 0 to 1000000000"),
    ("too few values", NODES + "n1,A,8\n", ":2:6: 3 values, but there are 5 columns"),
]


@pytest.mark.parametrize("name,nodes,want", BAD_NODES, ids=[c[0] for c in BAD_NODES])
def test_bad_nodes_are_refused_with_their_place(tmp_path, name, nodes, want):
    (tmp_path / "t.csv").write_text(HEAD + "a,0,1,p,1\n")
    path = tmp_path / "nodes.csv"
    path.write_text(nodes)
    result = replay(tmp_path / "t.csv", "--nodes", path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"prorata replay: {path}") and want in result.stderr, result.stderr
    assert result.stderr.count("\n") == 1


BAD_OPTIONS = [
    ("no trace", [], "one TRACE is needed"),
    ("no nodes", ["T"], "--nodes is needed"),
    ("nodes that are none", ["T", "--nodes", "0x8"], "--nodes: COUNTxGPUS"),
    ("a nodes file that is not there", ["T", "--nodes", "missing.csv"], "missing.csv: No such file"),
    ("an unknown option", ["T", "--frobnicate"], "unknown option"),
    ("a value is missing", ["T", "--nodes"], "needs a value"),
    ("a time that is none", ["T", "--nodes", "1x1", "--until", "later"], "--until: later: not a duration"),
    ("until before the first job", ["T2", "--nodes", "1x1", "--until", "1"], "the first job arrives after it"),
    ("until and demand", ["T", "--nodes", "1x1", "--until", "1", "--demand", "10"], "only one of them"),
    ("a demand that is none", ["T", "--nodes", "1x1", "--demand", "much"], "--demand: a whole number"),
]


@pytest.mark.parametrize("name,args,want", BAD_OPTIONS, ids=[c[0] for c in BAD_OPTIONS])
def test_bad_options(tmp_path, name, args, want):
    (tmp_path / "t.csv").write_text(HEAD + "a,0,1,p,1\n")
    (tmp_path / "t2.csv").write_text(HEAD + "a,100,1,p,1\n")
    args = [{"T": tmp_path / "t.csv", "T2": tmp_path / "t2.csv"}.get(a, a) for a in args]
    result = replay(*args)
    assert (result.returncode, result.stdout) == (2, "")
    assert want in result.stderr


BAD_POLICIES = [
    ("an unknown key", "colour: red\n", "colour: unknown key"),
    ("an unknown setting", "settings: {speed: 1}\n", "settings.speed: unknown key"),
    ("an unknown action", "actions: [dance]\n", "actions[0]:"),
    ("an unknown strategy", "nodePool: {placementStrategy: {gpu: best}}\n", "nodePool.placementStrategy.gpu:"),
    ("an unknown word", "progress: doubled\n", "progress: lost or kept, got doubled"),
    ("run times that nobody knows", "runTimes: guessed\n", "runTimes: unknown or known, got guessed"),
    ("a quota file that is not there", "quota: file\n", "there is no --quota file"),
    ("a period that is none", "periodSeconds: often\n", "periodSeconds: a number of seconds"),
    ("not an object", "- 1\n", "an object"),
]


@pytest.mark.parametrize("name,policy,want", BAD_POLICIES, ids=[c[0] for c in BAD_POLICIES])
def test_bad_policies(tmp_path, name, policy, want):
    (tmp_path / "t.csv").write_text(HEAD + "a,0,1,p,1\n")
    (tmp_path / "p.yaml").write_text(policy)
    result = replay(tmp_path / "t.csv", "--nodes", "1x1", "--policy", tmp_path / "p.yaml", "--out", tmp_path / "out")
    assert (result.returncode, result.stdout) == (2, "")
    assert want in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "name,text,want",
    [
        ("q.csv", "kind,name,gpus\nteam,a,1\n", ":2:1: kind: project or department"),
        ("q.csv", "kind,name,gpus\nproject,z,1\n", 'projects[0].name: no project "z" in the trace'),
        ("q.csv", "kind,name,gpus\nproject,p,1\nproject,p,1\n", 'projects[1].name: duplicate: "p"'),
        (
            "q.yaml",
            "projects: [{name: p, resources: [{gpu: {deserved: -1}}]}]\n",
            "projects[0].resources[0].gpu.deserved",
        ),
        ("q.yaml", "teams: []\n", "not teams"),
    ],
)
def test_bad_quotas(tmp_path, name, text, want):
    (tmp_path / "t.csv").write_text(HEAD + "a,0,1,p,1\n")
    (tmp_path / name).write_text(text)
    result = replay(tmp_path / "t.csv", "--nodes", "1x1", "--quota", tmp_path / name)
    assert (result.returncode, result.stdout) == (2, "")
    assert want in result.stderr
