"""prorata replay TRACE: small traces by hand with exact results, bad input, and a slice of a real one, checked
apart."""

import base64
import csv
import hashlib
import os
import pathlib
import pty
import re
import subprocess

import pytest
from shells import read_to_the_end

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRORATA = os.environ.get("PRORATA", str(ROOT / "build/prorata"))
SLICE = ROOT / "tests/replay/philly_slice.csv"
HEAD = "id,submit_s,duration_s,project,gpus_per_pod\n"


def replay(*args):
    return subprocess.run([PRORATA, "replay", *map(str, args)], capture_output=True, text=True, timeout=300)


@pytest.fixture
def run(tmp_path):
    """Runs a trace given as text; the rows of jobs.csv by job, without the policy."""

    def run_trace(trace, nodes, *args, policy=None):
        path = tmp_path / "trace.csv"
        path.write_bytes(trace.encode())
        if policy is not None:
            (tmp_path / "p.yaml").write_text(policy)
            args = (*args, "--policy", tmp_path / "p.yaml")
        if "\n" in nodes:
            (tmp_path / "nodes.csv").write_text(nodes)
            nodes = tmp_path / "nodes.csv"
        result = replay(path, "--nodes", nodes, "--out", tmp_path / "out", *args)
        assert result.returncode == 0, result.stderr
        rows = list(csv.DictReader((tmp_path / "out/jobs.csv").open()))
        return {r["job"]: (r["first_start_s"], r["end_s"], int(r["evictions"]), r["lost_s"]) for r in rows}

    return run_trace


BORROWED = HEAD + "a1,0,100,a,1\na2,0,100,a,1\nb1,10,50,b,1\n"


# On two nodes of 2: a gang of both waits for l1, and jobs of one node come behind it.
GANG = (
    "id,submit_s,duration_s,project,pods,gpus_per_pod\nl1,0,10,a,1,2\ng1,1,10,a,2,2\n"
    "s1,2,20,a,1,2\ns2,3,15,a,1,2\ns3,4,6,a,1,2\n"
)


# name, trace, nodes, policy, {job: (first start, end, evictions, lost)}
CASES = [
    ("who is alone starts at once", HEAD + "a1,5,10,a,2\n", "1x2", None, {"a1": ("5", "15", 0, "0")}),
    (
        "who does not fit waits for who ends",
        HEAD + "a1,0,10,a,2\na2,1,10,a,2\n",
        "1x2",
        None,
        {"a1": ("0", "10", 0, "0"), "a2": ("10", "20", 0, "0")},
    ),
    (
        "parts of a second count",
        HEAD + "a1,0.5,1.25,a,2\na2,1,0.001,a,2\n",
        "1x2",
        None,
        {"a1": ("0.5", "1.75", 0, "0"), "a2": ("1.75", "1.751", 0, "0")},
    ),
    ("a job that takes no time", HEAD + "a1,0,0,a,1\n", "1x1", None, {"a1": ("0", "0", 0, "0")}),
    (
        "the owner takes back what was lent, and the borrower starts over",
        BORROWED,
        "1x2",
        "quota: equal\n",
        {"a1": ("0", "100", 0, "0"), "a2": ("0", "160", 1, "10"), "b1": ("10", "60", 0, "0")},
    ),
    (
        "the borrower goes on where it was",
        BORROWED,
        "1x2",
        "quota: equal\nprogress: kept\n",
        {"a1": ("0", "100", 0, "0"), "a2": ("0", "150", 1, "0"), "b1": ("10", "60", 0, "0")},
    ),
    (
        "a minimum run time ends without any event",
        BORROWED,
        "1x2",
        "quota: equal\nnodePool: {reclaimMinRuntimeSeconds: 30}\n",
        {"a1": ("0", "100", 0, "0"), "a2": ("0", "180", 1, "30"), "b1": ("30", "80", 0, "0")},
    ),
    (
        "without quotas nobody gives way",
        BORROWED,
        "1x2",
        "quota: unlimited\n",
        {"a1": ("0", "100", 0, "0"), "a2": ("0", "100", 0, "0"), "b1": ("100", "150", 0, "0")},
    ),
    (
        "one project for all: by age",
        BORROWED,
        "1x2",
        "projects: one\nquota: unlimited\n",
        {"a1": ("0", "100", 0, "0"), "a2": ("0", "100", 0, "0"), "b1": ("100", "150", 0, "0")},
    ),
    (
        "without reclaim nobody gives way",
        BORROWED,
        "1x2",
        "quota: equal\nactions: [allocate]\n",
        {"a1": ("0", "100", 0, "0"), "a2": ("0", "100", 0, "0"), "b1": ("100", "150", 0, "0")},
    ),
    (
        "cycles at whole periods",
        HEAD + "a1,1,10,a,1\na2,2,10,a,1\n",
        "1x1",
        "periodSeconds: 5\n",
        {"a1": ("5", "15", 0, "0"), "a2": ("15", "25", 0, "0")},
    ),
    (
        "a gang starts whole or not at all",
        "id,submit_s,duration_s,project,pods,gpus_per_pod\nl1,0,10,a,1,8\ng1,1,10,a,2,8\n",
        "2x8",
        None,
        {"l1": ("0", "10", 0, "0"), "g1": ("10", "20", 0, "0")},
    ),
    (
        "two halves share a device, a third half waits",
        "id,submit_s,duration_s,project,gpus_per_pod,gpu_milli\nh1,0,10,a,1,500\nh2,0,20,a,1,500\nh3,0,10,a,1,500\n",
        "1x1",
        None,
        {"h1": ("0", "10", 0, "0"), "h2": ("0", "20", 0, "0"), "h3": ("10", "20", 0, "0")},
    ),
    (
        "a job waits for the model that it names",
        "id,submit_s,duration_s,project,gpus_per_pod,gpu_models\nm1,0,10,a,1,H100\nm2,0,10,a,1,A100|H100\nm3,0,5,a,1,H100\n",
        "node,gpu_model,gpus,cpu_milli,mem_mib\nn1,A100,1,1000,1000\nn2,H100,1,1000,1000\n",
        None,
        {"m1": ("0", "10", 0, "0"), "m2": ("0", "10", 0, "0"), "m3": ("10", "15", 0, "0")},
    ),
    (
        "small jobs overtake a gang that waits",
        GANG,
        "2x2",
        None,
        {
            "l1": ("0", "10", 0, "0"),
            "g1": ("28", "38", 0, "0"),
            "s1": ("2", "22", 0, "0"),
            "s2": ("10", "25", 0, "0"),
            "s3": ("22", "28", 0, "0"),
        },
    ),
    (
        "a reservation keeps the room of the gang, and who is known to end in time uses it",
        GANG,
        "2x2",
        "nodePool: {reservation: true}\nrunTimes: known\n",
        {
            "l1": ("0", "10", 0, "0"),
            "g1": ("10", "20", 0, "0"),
            "s1": ("20", "40", 0, "0"),
            "s2": ("20", "35", 0, "0"),
            "s3": ("4", "10", 0, "0"),
        },
    ),
    (
        "nobody uses the reserved room where nobody knows when it will be free",
        GANG,
        "2x2",
        "nodePool: {reservation: true}\n",
        {
            "l1": ("0", "10", 0, "0"),
            "g1": ("10", "20", 0, "0"),
            "s1": ("20", "40", 0, "0"),
            "s2": ("20", "35", 0, "0"),
            "s3": ("35", "41", 0, "0"),
        },
    ),
    (
        "CPU binds too",
        "id,submit_s,duration_s,project,gpus_per_pod,cpu_milli\nc1,0,10,a,1,600\nc2,0,10,a,1,600\n",
        "node,gpus,cpu_milli,mem_mib\nn1,2,1000,1000\n",
        None,
        {"c1": ("0", "10", 0, "0"), "c2": ("10", "20", 0, "0")},
    ),
    (
        "higher priority first, and it preempts",
        "id,submit_s,duration_s,project,gpus_per_pod,priority\np1,0,10,a,1,low\np2,5,10,a,1,medium\n",
        "1x1",
        None,
        {"p1": ("0", "25", 1, "5"), "p2": ("5", "15", 0, "0")},
    ),
    (
        "what is larger than the cluster never starts",
        HEAD + "x1,0,10,a,9\nx2,0,10,a,8\n",
        "1x8",
        None,
        {"x1": ("", "", 0, "0"), "x2": ("0", "10", 0, "0")},
    ),
    ("the mark of the encoding in front", "\ufeff" + HEAD + "a1,0,10,a,1\n", "1x1", None, {"a1": ("0", "10", 0, "0")}),
    ("empty lines, and none at the end", "\n" + HEAD + "\r\n\na1,0,10,a,1", "1x1", None, {"a1": ("0", "10", 0, "0")}),
    (
        "columns in any order",
        "project,gpus_per_pod,duration_s,id,submit_s\na,1,10,a1,5\n",
        "1x1",
        None,
        {"a1": ("5", "15", 0, "0")},
    ),
    (
        "quotes and CRLF",
        'id,submit_s,duration_s,project,gpus_per_pod\r\n"a,""1""",0,10,"team a",1\r\n',
        "1x1",
        None,
        {'a,"1"': ("0", "10", 0, "0")},
    ),
]


@pytest.mark.parametrize("name,trace,nodes,policy,want", CASES, ids=[c[0] for c in CASES])
def test_jobs_start_and_end(run, name, trace, nodes, policy, want):
    assert run(trace, nodes, policy=policy) == want


def test_until_stops_there(run):
    jobs = run(HEAD + "a1,0,100,a,1\na2,20,5,a,1\na3,40,5,a,1\n", "1x2", "--until", "30")
    assert jobs == {"a1": ("0", "", 0, "0"), "a2": ("20", "25", 0, "0")}


def test_summary_of_a_small_trace(run, tmp_path):
    run(BORROWED, "1x2", policy="name: fair\nquota: equal\n")
    (row,) = csv.DictReader((tmp_path / "out/summary.csv").open())
    # The window is 0 to 10 s: both devices are held all the time, and a2's ten seconds are thrown away.
    assert (row["policy"], row["allocated"], row["utilised"]) == ("fair", "1.000000", "0.500000")
    assert (row["evictions"], row["reclaimed"], row["lost_gpu_s"], row["finished"]) == ("1", "1", "10", "3")
    projects = {r["project"]: r for r in csv.DictReader((tmp_path / "out/projects.csv").open())}
    assert (projects["a"]["quota_gpus"], projects["a"]["evicted"], projects["b"]["caused"]) == ("1", "1", "1")


def test_waits_and_stranded(run, tmp_path):
    # Two nodes of 2: one device of each is held, so a job for 2 waits though 2 are free.
    trace = (
        "id,submit_s,duration_s,project,gpus_per_pod,cpu_milli\na1,0,100,a,1,1000\na2,0,100,a,1,1000\na3,50,10,a,2,0\n"
        "a4,100,1,a,1,0\n"
    )
    nodes = "node,gpus,cpu_milli,mem_mib\nn1,2,1000,1000\nn2,2,1000,1000\n"
    jobs = run(trace, nodes, policy="actions: [allocate]\n")
    assert jobs["a3"][0] == "100"
    (row,) = csv.DictReader((tmp_path / "out/summary.csv").open())
    assert (row["allocated"], row["stranded"]) == ("0.500000", "0.250000")
    assert (row["wait_p50_s"], row["wait_p90_s"], row["wait_longest_s"], row["wait_mean_s"]) == (
        "0",
        "50",
        "50",
        "12.5",
    )


def test_fragmentation_is_as_the_paper_defines_it(run, tmp_path):
    # Of 2 pods one asks for 0.6 of a device. With it there, 0.4 is of no use to either; the empty device to none of
    # them.
    run(
        "id,submit_s,duration_s,project,gpus_per_pod,gpu_milli\na1,0,10,a,1,600\na2,5,10,a,1,600\n",
        "1x2",
        policy="nodePool: {placementStrategy: {gpu: spread}}\n",
    )
    rows = list(csv.DictReader((tmp_path / "out/series.csv").open()))
    assert [(r["from_s"], r["fragmented_gpus"]) for r in rows if r["from_s"] in ("0", "6")] == [
        ("0", "0.4"),
        ("6", "0.8"),
    ]


def test_quota_files(run, tmp_path):
    (tmp_path / "q.csv").write_text("kind,name,gpus,limit,weight,rank\nproject,a,2,,,\nproject,b,0,unlimited,1,100\n")
    (tmp_path / "q.yaml").write_text("projects:\n- name: a\n  resources: [{gpu: {deserved: 2}}]\n")
    for name in ("q.csv", "q.yaml"):
        assert run(BORROWED, "1x2", "--quota", tmp_path / name)["b1"][0] == "100"


def read_out(folder):
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def slice_out(tmp_path_factory):
    """A busy slice of a real trace on a cluster that is too small for it, under three policies."""
    folder = tmp_path_factory.mktemp("slice")
    policies = []
    for name, text in (
        ("fair", ""),
        ("spread", "nodePool: {placementStrategy: {gpu: spread}}\n"),
        ("queue", "projects: one\nquota: unlimited\nprogress: kept\n"),
    ):
        (folder / f"{name}.yaml").write_text(
            f"name: {name}\n{text}settings: {{scenariosPerWorkload: 8, scenariosPerAction: 32}}\n"
        )
        policies += ["--policy", folder / f"{name}.yaml"]
    result = replay(SLICE, "--nodes", "30x8", *policies, "--out", folder / "out")
    assert result.returncode == 0, result.stderr
    return folder, policies, result.stdout


def test_the_same_input_gives_the_same_bytes(slice_out):
    folder, policies, printed = slice_out
    again = replay(SLICE, "--nodes", "30x8", *policies, "--out", folder / "again")
    assert again.stdout == printed
    assert read_out(folder / "again") == read_out(folder / "out")


def test_every_decision_is_lawful(slice_out):
    """Decisions and ends of jobs, gone through apart: no device twice, gangs whole, evictions of what runs."""
    folder, _, _ = slice_out
    trace = {r["id"]: r for r in csv.DictReader(SLICE.open())}
    jobs = {(r["policy"], r["job"]): r for r in csv.DictReader((folder / "out/jobs.csv").open())}
    held, due = {}, {}
    evictions = 0
    for row in csv.DictReader((folder / "out/decisions.csv").open()):
        policy, now = row["policy"], float(row["time_s"])
        for key, (ends, job) in list(due.items()):
            if key[0] == policy and ends <= now:
                for place in [p for p, owner in held.items() if p[0] == policy and owner[0] == job]:
                    del held[place]
                del due[key]
        key = (policy, row["pod"])
        if row["verb"] == "bind":
            end = jobs[policy, row["job"]]["end_s"]
            assert len(row["gpus"].split()) == int(trace[row["job"]]["gpus_per_pod"])
            for gpu in row["gpus"].split():
                place = (policy, row["node"], gpu)
                assert place not in held, f"{place} given to {row['pod']}, held by {held[place]}"
                held[place] = (row["job"], row["pod"])
            due[key] = (float(end) if end else float("inf"), row["job"])
        elif row["verb"] == "evict" and key in due:
            evictions += 1
            del due[key]
            for place in [p for p, owner in held.items() if p[0] == policy and owner[1] == row["pod"]]:
                del held[place]
            assert trace[row["job"]]["preemptible"] == "1"
            assert row["for"] or row["action"] == "stalegangeviction"
    assert evictions > 0
    for (policy, name), job in jobs.items():
        assert job["end_s"], f"{policy}: {name} never ended"
        if job["evictions"] == "0":
            assert float(job["end_s"]) == float(job["first_start_s"]) + float(trace[name]["duration_s"])


def test_the_page_needs_nothing_else(slice_out):
    page = (slice_out[0] / "out/report.html").read_text()
    style = re.search(r"<style>(.*?)</style>", page, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in page and "default-src 'none'" in page
    assert not re.search(r"<script|https?://|\sstyle=|url\(|\son\w+=", page)


def test_names_are_escaped_on_the_page(run, tmp_path):
    run(HEAD + 'a,0,1,"<b>&""x""",1\n', "1x1", policy='name: "<i>"\n')
    page = (tmp_path / "out/report.html").read_text()
    assert "&lt;b&gt;&amp;&quot;x&quot;" in page and "&lt;i&gt;" in page
    assert '<b>&"' not in page and "<i>" not in page


def test_demand_is_drawn_by_its_seed(tmp_path):
    def draw(seed, folder):
        result = replay(SLICE, "--nodes", "4x8", "--demand", 130, "--seed", seed, "--out", tmp_path / folder)
        assert result.returncode == 0, result.stderr
        return list(csv.DictReader((tmp_path / folder / "jobs.csv").open()))

    first = draw(1, "one")
    assert first == draw(1, "again") and first != draw(2, "other")
    gpus = [float(r["gpus"]) for r in first]
    assert sum(gpus) >= 32 * 1.3 > sum(gpus[:-1])
    assert [r["submit_s"] for r in first] == [str(i) for i in range(len(first))]
    assert not any(r["end_s"] for r in first)


def test_batches_place_as_one_by_one(run, tmp_path):
    """One project of one priority is served by age: cycles every 100 s leave the same as one for each arrival."""
    for strategy in ("binpack", "spread"):
        ends = []
        for period in (0, 100):
            (tmp_path / "p.yaml").write_text(
                f"actions: [allocate]\nprojects: one\nquota: unlimited\npriority: same\nperiodSeconds: {period}\n"
                f"nodePool: {{placementStrategy: {{gpu: {strategy}}}}}\n"
            )
            result = replay(
                SLICE,
                "--nodes",
                "8x8",
                "--demand",
                130,
                "--policy",
                tmp_path / "p.yaml",
                "--out",
                tmp_path / str(period),
            )
            assert result.returncode == 0, result.stderr
            rows = csv.DictReader((tmp_path / str(period) / "decisions.csv").open())
            ends.append([(r["pod"], r["node"], r["gpus"]) for r in rows])
        assert ends[0] == ends[1]


def test_a_terminal_sees_a_progress_bar_and_a_file_does_not(tmp_path):
    command = [PRORATA, "replay", SLICE, "--nodes", "30x8"]
    quiet = subprocess.run(command, capture_output=True, timeout=300)
    assert quiet.stderr == b""
    leader, follower = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower) as process:
        os.close(follower)
        shown = read_to_the_end(leader)
        printed = process.stdout.read()
    os.close(leader)
    assert (process.returncode, printed) == (0, quiet.stdout)
    assert re.search(rb"\rdefault +\[\.{30}\]   0 %  [01] cycles  0 s", shown), shown
    assert shown.endswith(b"\r" + b" " * 100 + b"\r"), "the line is empty again when the replay is over"


def test_no_output_folder_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "t.csv").write_text(HEAD + "a,0,1,p,1\n")
    result = replay(tmp_path / "t.csv", "--nodes", "1x1", "--out", tmp_path / "file")
    assert result.returncode == 1 and "file" in result.stderr
