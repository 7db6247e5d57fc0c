"""`batch SCRIPT`: what the #SBATCH lines of a script say becomes a training that runs its text."""

import json
import shlex

import pytest


@pytest.fixture
def script(tmp_path):
    def write(text, name="train.sh"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def dry(client, *words):
    done = client.finish("batch", "-p", "team-a", "-i", "image", "--dry-run", *words)
    assert done.returncode == 0, done
    return json.loads(done.stdout), done.stderr.splitlines()


def of_lines(client, script, *lines, command="true"):
    text = "\n".join(["#!/bin/bash", *(f"#SBATCH {line}" for line in lines), command, ""])
    return dry(client, script(text))


def test_the_text_is_what_runs(client, script):
    text = '#!/bin/bash -l\n#SBATCH -G 2\n\necho "it\'s $1"\n#SBATCH --gres=gpu:8\n'
    path = script(text)
    body, said = dry(client, path, "a b", "c", "--", "--epochs", "3")
    assert shlex.split(body["spec"]["command"]) == ["/bin/bash", "-l", "-c", text, path, "a b", "c", "--epochs", "3"]
    assert body["spec"]["compute"] == {"gpuDevicesRequest": 2}  # options end at the first command
    assert (body["name"], body["useGivenNameAsPrefix"], body["spec"]["backoffLimit"], said) == ("train", True, 0, [])


def test_python_scripts_run_too(client, script):
    text = "#!/usr/bin/env python3\n#SBATCH --job-name=p1\nprint(1)\n"
    body, _ = dry(client, script(text, "train.py"), "x")
    assert shlex.split(body["spec"]["command"]) == ["python3", "-c", text, "x"]
    assert body["name"] == "p1" and "useGivenNameAsPrefix" not in body


# lines, the specification's member, its value
MEANT = [
    (["--gpus=2"], "compute", {"gpuDevicesRequest": 2}),
    (["--gpus a100:2"], "compute", {"gpuDevicesRequest": 2}),
    (["--gres=gpu"], "compute", {"gpuDevicesRequest": 1}),
    (["--gres=gpu:a100"], "compute", {"gpuDevicesRequest": 1}),
    (["--gres gpu:a100:4"], "compute", {"gpuDevicesRequest": 4}),
    (["--gpus-per-node=1 -N 1 --ntasks=1 -c 8"], "compute", {"gpuDevicesRequest": 1, "cpuCoreRequest": 8.0}),
    (["-c8", "--mem=16G"], "compute", {"cpuCoreRequest": 8.0, "cpuMemoryRequest": "16Gi"}),
    (["--mem=4096   # of all"], "compute", {"cpuMemoryRequest": "4096Mi"}),
    (["--mem=2TB"], "compute", {"cpuMemoryRequest": "2Ti"}),
    (["-p h100"], "nodePools", ["h100"]),
    (["-D '/data/my runs'"], "workingDir", "/data/my runs"),
    (["--container-image=nvcr.io#nvidia/pytorch:24.01"], "image", "image"),  # the command line comes first
    (
        ["-d afterok:a:b,afterany:c", "--dependency=afternotok:d"],
        "after",
        [{"name": n, "when": w} for n, w in (("a", "ok"), ("b", "ok"), ("c", "any"), ("d", "failed"))],
    ),
    (["--begin=2099-01-31T22:00:00Z"], "startAt", "2099-01-31T22:00:00.000Z"),
    (["--export=A=1,B=two"], "environmentVariables", [{"name": "A", "value": "1"}, {"name": "B", "value": "two"}]),
    (["--no-requeue"], "terminateAfterPreemption", True),
]


@pytest.mark.parametrize("lines, member, value", MEANT, ids=[row[0][0] for row in MEANT])
def test_what_has_a_meaning(client, script, lines, member, value):
    body, _ = of_lines(client, script, *lines)
    assert body["spec"][member] == value


@pytest.mark.parametrize(
    "line, named",
    [
        ("--time=1:00:00", "#SBATCH --time: left out; its project says how long work may run"),
        ("-o run-%j.log", "#SBATCH --output: left out; its output is kept: `workload logs NAME`"),
        ("--mail-user=ann@example.org", "#SBATCH --mail-user: left out"),
        ("--gpus=a100:2", "#SBATCH --gpus: the type a100 is left out"),
        ("--exclusive", "#SBATCH --exclusive: left out"),
        ("--export=ALL", "#SBATCH --export=ALL: left out"),
        ("--mem=0", "#SBATCH --mem=0: left out"),
    ],
)
def test_what_has_none_is_named(client, script, line, named):
    body, said = of_lines(client, script, line, "-J x")
    assert len(said) == 1 and said[0].startswith(named)
    assert body["name"] == "x"


@pytest.mark.parametrize(
    "line, named",
    [
        ("-N 2", "#SBATCH --nodes: one script is one pod"),
        ("--ntasks=8", "#SBATCH --ntasks: one script is one pod"),
        ("--gpu=2", "#SBATCH --gpu=2: no option of sbatch that is known here"),
        ("gpus", "#SBATCH gpus: no option"),
        ("-", "#SBATCH -: no option"),
        ("--mem", "#SBATCH --mem: its value is missing"),
        ("--mem=much", "#SBATCH --mem: much is no amount such as 16G"),
        ("--gres=fpga:1", "#SBATCH --gres: fpga:1: gpu:N is known"),
        ("--gpus=some", "not a number: some"),
        ("-d singleton", "#SBATCH --dependency: singleton: afterok:NAME"),
        ("-d afterok:a?afterok:b", "afterok:NAME"),
        ("--export=NOWHERE_TO_BE_SEEN", "this shell has no variable NOWHERE_TO_BE_SEEN"),
        ("--begin=soon", "--begin: soon is no time"),
    ],
)
def test_what_would_be_something_else_is_refused(client, script, line, named):
    path = script(f"#!/bin/sh\n#SBATCH {line}\ntrue\n")
    said = client.run("batch", "-p", "team-a", "-i", "image", "--dry-run", path, status=1)
    assert named in said


@pytest.mark.parametrize(
    "text, named",
    [
        ("", "no script"),
        ("echo 1\n", "no script: its first line names its interpreter"),
        ("#!/usr/bin/perl\nprint 1;\n", "its first line names /usr/bin/perl; scripts of shells and Python are known"),
        ("#!\ntrue\n", "its first line names no interpreter"),
        ("#!/bin/sh\n" + "#" * 70000, "a script has at most 64 KiB"),
        ("#!/bin/sh\n\0", "there is a zero byte in it"),
    ],
    ids=["empty", "no first line", "perl", "no interpreter", "large", "zero byte"],
)
def test_what_is_no_script_is_refused(client, script, text, named):
    assert named in client.run("batch", "-p", "team-a", "-i", "x", script(text), status=1)


def test_there_must_be_one(client, tmp_path):
    assert "which script?" in client.run("batch", status=1)
    assert "No such file" in client.run("batch", "-p", "team-a", str(tmp_path / "none.sh"), status=1)


def test_the_command_line_comes_first(client, script):
    path = script("#!/bin/sh\n#SBATCH -J a -G 4 -A nowhere --export=A=1\ntrue\n")
    body, _ = dry(client, "-g", "1", "--name", "b", "-e", "B=2", path)
    assert (body["name"], body["spec"]["compute"]["gpuDevicesRequest"]) == ("b", 1)
    assert body["spec"]["environmentVariables"] == [{"name": "B", "value": "2"}]


def test_it_is_submitted_to_the_account_and_runs(client, script):
    path = script("#!/bin/sh\n#SBATCH -J batch1 -A team-b --gpus=1\n#SBATCH --container-image=x\ntrue\n")
    assert "Creating training batch1 in project team-b" in client.run("batch", path)
    server = client.server
    row = server.get("/api/v1/workloads", filterBy="name==batch1").json["workloads"][0]
    server.wait_phase(row["id"], "Running")
    # As a file of a submission it is the same.
    said = client.run("workload", "submit", "batch2", "-f", path)
    assert "Creating training batch2 in project team-b" in said
