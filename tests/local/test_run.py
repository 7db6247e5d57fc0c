"""`run`: a training in the foreground. Its output, its signals, its exit status; the folder and variables of here."""

import os
import signal
import subprocess

import pytest
from servers import PRORATA, Client
from shells import Terminal

LASTS = "echo up; while true; do sleep 0.05; done"


@pytest.fixture
def machine(start):
    return start()


@pytest.fixture
def client(machine, folder):
    folder.chmod(0o755)
    client = Client(machine, folder / "home").sign_in()
    client.run("project", "set", "team-a")
    return client


def run(client, *words, status=0, cwd="/usr", **variables):
    done = subprocess.run(
        [PRORATA, "run", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **variables, "HOME": str(client.home)},
        timeout=120,
    )
    assert done.returncode == status, done
    return done


def begin(client, *words):
    """One without a terminal, when its program has said "up"."""
    process = subprocess.Popen(
        [PRORATA, "run", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/usr",
        env={**os.environ, "HOME": str(client.home)},
    )
    assert process.stdout.readline() == "up\n"
    return process


def the_workload(machine):
    (workload,) = machine.get("/api/v1/workloads").json["workloads"]
    return workload


def test_output_and_status_are_the_programs(client):
    done = run(client, "-g", "1", "--", "/bin/sh", "-c", "echo out; pwd; echo $CUDA_VISIBLE_DEVICES; exit 7", status=7)
    assert done.stdout.splitlines() == ["out", "/usr", "0"]
    assert run(client, "-g", "0", "--", "true").stdout == ""
    assert run(client, "-g", "0", "--", "/bin/sh", "-c", "kill -9 $$", status=137)


@pytest.mark.parametrize(
    "words, name",
    [
        (["python3", "-u", "My_Train.py", "--lr", "0.1"], "my-train"),
        (["/bin/sh", "-c", "x.y z"], "sh"),
        (["./4x4"], "run"),
    ],
)
def test_the_name_is_made_up_from_the_program(client, words, name):
    body = client.run("run", "-g", "0", "--dry-run", "--", *words)
    assert f'"name": "{name}"' in body and '"useGivenNameAsPrefix": true' in body
    assert '"name": "mine"' in client.run("run", "--name", "mine", "--dry-run", "--", *words)


def test_a_command_is_asked_for(client):
    assert "run -g 1 -- python train.py" in client.run("run", "-g", "1", "train.py", status=1)


def test_help_has_examples(client):
    assert client.run("run", "--help").count("prorata run -g ") == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_without_a_terminal_a_signal_stops_it(machine, client, number):
    process = begin(client, "-g", "0", "--", "/bin/sh", "-c", LASTS)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 128 + number
    machine.wait_phase(the_workload(machine)["id"], "Stopped")


def test_it_waits_with_the_reason_and_is_stopped_while_it_does(machine, client, follow):
    client.run("training", "submit", "first", "-i", "none", "-g", "4", "--command", "--", "sleep", "1000")
    machine.wait_phase(the_workload(machine)["id"], "Running")
    waits = follow(machine, "run", "--name", "second", "-g", "4", "--", "true")
    machine.wait_for("the reason", lambda: "second: Pending: " in waits.errors.read_text())
    waits.process.send_signal(signal.SIGTERM)
    assert waits.end()[0] == 143


def test_it_goes_on_where_the_server_was_away(machine, client, follow, folder):
    counts = "i=0; until test -e end; do i=$((i+1)); echo $i; sleep 0.01; done; exit 3"
    runs = follow(machine, "run", "-g", "0", "--working-dir", str(folder), "--", "/bin/sh", "-c", counts)
    machine.wait_for("lines", lambda: len(runs.lines()) > 5)
    machine.kill()
    machine.start()
    seen = len(runs.lines())
    machine.wait_for("more lines", lambda: len(runs.lines()) > seen)
    (folder / "end").touch()
    status, lines, _ = runs.end()
    assert status == 3 and lines == [str(number + 1) for number in range(len(lines))]


def ask(client):
    screen = Terminal(client, "run", "--name", "job", "-g", "0", "--", "/bin/sh", "-c", LASTS)
    screen.wait("up")
    screen.write("\x03")
    screen.wait(r"Stop job\? y: stop it; n: leave it running")
    return screen


@pytest.mark.parametrize("answer", ["y\r", "what?\ry\r", "\x03"])
def test_ctrl_c_asks_and_stops_it(machine, client, answer):
    screen = ask(client)
    screen.write(answer)
    screen.wait("Stopping job")
    assert screen.status() == 130
    machine.wait_phase(the_workload(machine)["id"], "Stopped")


def test_ctrl_c_asks_and_leaves_it_running(machine, client):
    screen = ask(client)
    screen.write("n\r")
    screen.wait("Follow it: prorata workload logs job -p team-a --follow")
    assert screen.status() == 130
    assert the_workload(machine)["phase"] == "Running"


def environment_of(client, folder):
    """A folder that looks like a Python environment; its python says where it is from."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python").write_text("#!/bin/sh\necho from $0 $VIRTUAL_ENV $CONDA_PREFIX\n")
    (folder / "bin/python").chmod(0o755)
    return folder


def test_a_virtual_environment_comes_first(client, folder):
    made = environment_of(client, folder / "venv")
    assert run(client, "-g", "0", "--venv", "venv", "--", "python", cwd=folder).stdout == (
        f"from {made}/bin/python {made}\n"
    )
    assert "--venv: none: no such environment" in run(client, "--venv", "none", "--", "python", status=1).stderr


def test_a_conda_environment_is_found_by_its_name(client, folder):
    made = environment_of(client, folder / "conda/envs/torch")
    words = ["-g", "0", "--conda", "torch", "--", "python"]
    exe = str(folder / "conda/bin/conda")
    assert run(client, *words, cwd=folder, CONDA_EXE=exe).stdout == f"from {made}/bin/python {made}\n"
    (client.home / ".conda").mkdir()
    (client.home / ".conda/environments.txt").write_text(f"/none\n{made}\n")
    assert run(client, *words, cwd=folder).stdout == f"from {made}/bin/python {made}\n"
    assert "--conda: none: no such environment" in run(client, "--conda", "none", "--", "x", status=1).stderr


def test_the_shells_variables_come_along_but_for_its_own_and_secrets(client):
    done = run(
        client, "-g", "0", "--env-from-shell", "-e", "GIVEN=flag", "--", "env",
        GREETING="good day", GIVEN="shell", SSH_AUTH_SOCK="/x", HF_TOKEN="hidden", DISPLAY=":0",
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert "GREETING=good day" in lines and "GIVEN=flag" in lines
    assert not [line for line in lines if line.startswith(("SSH_", "HF_TOKEN", "DISPLAY", f"HOME={client.home}"))]
    assert "HF_TOKEN" in done.stderr and "hidden" not in done.stderr
    assert "GREETING=good day" not in run(client, "-g", "0", "--", "env", GREETING="good day").stdout


def test_what_only_this_machine_has_is_refused_elsewhere(make_server, folder):
    server = make_server("--quick-start")
    other = Client(server, folder / "other").sign_in()
    for words in (["--venv", "."], ["--conda", "x"], ["--env-from-shell"]):
        told = run(other, *words, "-p", "team-a", "--", "x", status=1).stderr
        assert f"Error: {words[0]}: it needs the local backend; this one is simulated" in told
    assert "workingDir" not in run(other, "-p", "team-a", "--dry-run", "-i", "x", "--", "x").stdout
