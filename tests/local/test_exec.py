"""Commands and shells in pods that run: over HTTP, by the command line, with a terminal, and who may."""

import concurrent.futures
import os
import pathlib
import re
import signal

import pytest
from people import make_person
from pods import events_of, pods_of, processes_of, read_quietly, submit, supervisors_of, wait_log
from servers import ADMIN, Client
from shells import Terminal, call, give_input, open_session, read_session
from test_images import IMAGE, Runtime

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
RESEARCHER, VIEWER = 5, 7
USER = "2000000001" if os.geteuid() == 0 else str(os.geteuid())  # of team-a, the second project
SLEEPS = "echo up; while true; do sleep 0.05; done"


@pytest.fixture
def machine(start):
    return start()


@pytest.fixture
def runs(machine):
    """A workload that runs."""
    workload = submit(
        machine,
        "job",
        SLEEPS,
        gpus=1,
        spec={"workingDir": "/usr", "environmentVariables": [{"name": "GREETING", "value": "good day"}]},
    )
    wait_log(machine, workload, "up")
    machine.wait_phase(workload, "Running")
    return workload


@pytest.fixture
def client(machine, folder):
    client = Client(machine, folder / "home").sign_in()
    client.run("config", "project", "team-a", program=client.runai)
    return client


@needs_root
def test_a_pod_of_a_mapped_person_is_entered_by_that_person_alone(start, folder):
    """By who is mapped to the same user, and by the submitter; an administrator and others of the project are not."""
    map_file = folder / "users"
    bob, eve = "bob@example.org", "eve@example.org"
    map_file.write_text(f"subject {bob} daemon\nsubject {eve} daemon\n")
    map_file.chmod(0o600)
    server = start("--local-user-map", str(map_file))
    place = ("L1 researcher", "project", server.project_id("team-a"))
    tokens = {mail: make_person(server, mail, place) for mail in (bob, eve, "carl@example.org")}

    def submitted(name, token):
        body = {"name": name, "projectId": server.project_id("team-a"), "clusterId": server.cluster_id(),
                "spec": {"image": "i", "command": "sleep 600", "compute": {"gpuDevicesRequest": 0}}}  # fmt: skip
        answer = server.request("POST", "/api/v1/workloads/trainings", body, token=token)
        assert answer.status == 202, answer
        server.wait_phase(answer.json["workloadId"], "Running")
        return answer.json["workloadId"]

    def enter(workload, token):
        return server.request("POST", f"/api/v1/workloads/{workload}/exec", {"command": ["id"]}, token=token)

    his, shared = submitted("his", tokens[bob]), submitted("shared", tokens["carl@example.org"])
    for token in (tokens["carl@example.org"], "admin"):
        answer = enter(his, token)
        assert answer.status == 403 and "who alone may say what runs in it" in answer.json["message"], answer
    assert enter(his, tokens[bob]).status == 201 and enter(his, tokens[eve]).status == 201
    for token in tokens.values():
        assert enter(shared, token).status == 201, "what runs as the project's user is the project's"
    map_file.write_text("# nobody is mapped any more\n")
    assert enter(his, tokens["carl@example.org"]).status == 403, "its processes are that person's all the same"
    assert enter(his, "admin").status == 403


def named(uuid, word):
    """The pod's processes with a word on their command line."""
    return [pid for pid in processes_of(uuid) if word in read_quietly(pathlib.Path(f"/proc/{pid}/cmdline"))]


def test_a_command_has_the_pods_rights_environment_and_folder(machine, runs, client):
    lines = call(
        client,
        "exec",
        "job",
        "--",
        "/bin/sh",
        "-c",
        "id -u; pwd; echo $GREETING $CUDA_VISIBLE_DEVICES; grep NoNewPrivs /proc/self/status",
    ).stdout.splitlines()
    assert lines == [USER, "/usr", "good day 0", "NoNewPrivs:\t1"]


def test_output_errors_and_status_are_the_commands(machine, runs, client):
    done = call(client, "exec", "job", "--", "/bin/sh", "-c", "echo out; echo err >&2; exit 7", status=7)
    assert (done.stdout, done.stderr) == ("out\n", "err\n")
    assert call(client, "exec", "job", "--", "/bin/sh", "-c", "kill -9 $$", status=137)


def test_what_cannot_be_started_says_why(machine, runs, client):
    assert "No such file" in call(client, "exec", "job", "--", "/no/such/program", status=1).stderr


def test_input_is_passed_on_where_it_is_asked_for(machine, runs, client):
    text = "".join(f"line {i}\n" for i in range(5000))
    assert call(client, "exec", "job", "-i", "--", "cat", input=text).stdout == text
    assert call(client, "exec", "job", "--", "/bin/sh", "-c", "echo no input", input=text).stdout == "no input\n"


def test_bash_without_a_terminal_runs_a_script(machine, runs, client):
    assert call(client, "bash", "job", input="echo $GREETING\nexit 3\n", status=3).stdout == "good day\n"


@pytest.mark.parametrize(
    "words", [["exec"], ["workload", "exec"], ["training", "exec"], ["training", "standard", "exec"]]
)
def test_spellings(machine, runs, client, words):
    assert call(client, *words, "job", "--", "echo", "here").stdout == "here\n"


def test_the_first_generations_spelling(machine, runs, client):
    assert call(client, "exec", "job", "echo", "here").stdout == "here\n"


def test_much_output_comes_whole(machine, runs, client):
    assert len(call(client, "exec", "job", "--", "/bin/sh", "-c", "head -c 20000000 /dev/zero").stdout) == 20_000_000


def test_a_shell_with_a_terminal(machine, runs, client):
    shell = Terminal(client, "bash", "job")
    shell.write("echo $((40 + 2)) $TERM $GREETING; id -u; pwd\r")
    shell.wait(f"42 vt100 good day\\s+{USER}\\s+/usr")
    shell.resize(33, 99)
    shell.write('until [ "$(stty size)" = "33 99" ]; do sleep 0.05; done; stty size; tty\r')
    shell.wait("[\r\n]33 99\\s+/dev/pts/")  # not what was typed
    shell.write("sh -c 'echo it $((60 + 1)); exec sleep 1000'\r")
    shell.wait("it 61")
    shell.write("\x03")  # ^C ends the sleep, not the shell
    shell.write("echo still $((1 + 1)); exit 5\r")
    shell.wait("still 2")
    assert shell.status() == 5


def test_exec_with_a_terminal(machine, runs, client):
    shell = Terminal(
        client,
        "exec",
        "job",
        "-t",
        "--",
        "/bin/sh",
        "-c",
        "test -t 0 && test -t 2 && echo a terminal; read x; echo got $x",
    )
    shell.wait("a terminal")
    shell.write("this\r")
    shell.wait("got this")
    assert shell.status() == 0


def test_a_shell_ends_with_its_pod(machine, runs, client):
    shell = Terminal(client, "bash", "job")
    shell.write("echo in$((1 + 1))\r")
    shell.wait("in2")
    uuid = next(iter(supervisors_of(machine)))
    machine.post(f"/api/v1/workloads/trainings/{runs}/suspend")
    assert shell.status() != 0
    machine.wait_phase(runs, "Stopped")
    assert processes_of(uuid) == []


def test_a_client_that_goes_away_hangs_the_shell_up(machine, runs, client):
    uuid = next(iter(supervisors_of(machine)))
    shell = Terminal(client, "bash", "job")
    shell.write("echo in$((1 + 1))\r")
    shell.wait("in2")
    assert named(uuid, b"bash")
    os.kill(shell.pid, 9)
    shell.status()
    machine.wait_for("the shell gone", lambda: not named(uuid, b"bash"))


def test_the_servers_end_hangs_up_and_the_pod_runs_on(machine, runs, client):
    shell = Terminal(client, "bash", "job")
    shell.write("echo in$((1 + 1))\r")
    shell.wait("in2")
    machine.kill()
    assert shell.status() != 0
    machine.start()
    machine.wait_phase(runs, "Running")
    assert call(client, "exec", "job", "--", "echo", "again").stdout == "again\n"


def test_what_a_session_leaves_behind_goes_with_the_pod(machine, runs, client):
    call(client, "exec", "job", "--", "/bin/sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo")
    uuid = next(iter(supervisors_of(machine)))
    machine.post(f"/api/v1/workloads/trainings/{runs}/suspend")
    machine.wait_phase(runs, "Stopped")
    assert processes_of(uuid) == []


def test_attach_follows(machine, client, folder):
    folder.chmod(0o755)
    script = "echo first; until test -e go; do sleep 0.05; done; echo last"
    workload = submit(machine, "talks", script, gpus=0, spec={"workingDir": str(folder)})
    wait_log(machine, workload, "first")
    with concurrent.futures.ThreadPoolExecutor() as threads:
        following = threads.submit(call, client, "attach", "talks")
        try:
            told = f"{ADMIN} follows talks"
            machine.wait_for("it follows", lambda: any(told in event for event in events_of(machine, workload)))
        finally:
            (folder / "go").touch()
        assert "last\n" in following.result().stdout


# Over HTTP.


def test_a_session_by_its_operations(machine, runs):
    session = open_session(machine, runs, "cat")
    give_input(machine, runs, session, b"one ")
    give_input(machine, runs, session, b"two", close=True)
    assert read_session(machine, runs, session) == ("one two", "", "0 ")
    give_input(machine, runs, session, b"late", expect=404)
    assert machine.get(f"/api/v1/workloads/{runs}/exec/{session}").status == 404


def test_a_session_is_hung_up_by_its_deletion(machine, runs):
    uuid = next(iter(supervisors_of(machine)))
    session = open_session(machine, runs, "sleep", "98765")
    machine.wait_for("its start", lambda: named(uuid, b"98765"))
    assert machine.delete(f"/api/v1/workloads/{runs}/exec/{session}").status == 204
    machine.wait_for("its end", lambda: not named(uuid, b"98765"))


def test_a_pod_full_of_sessions_says_so_and_holds_up_no_other(machine, runs):
    for _ in range(16):
        open_session(machine, runs, "sleep", "1000")
    message = open_session(machine, runs, "sleep", "1000", expect=429)
    assert message == "job-0-0: the pod has 16 sessions already: end one first"
    other = submit(machine, "other", SLEEPS, gpus=1)
    wait_log(machine, other, "up")
    machine.wait_phase(other, "Running")
    open_session(machine, other, "true")


@pytest.mark.parametrize(
    "body, status, message",
    [
        ({"command": []}, 400, "command: at least one word"),
        ({"command": [""]}, 400, "command: at least one word"),
        ({}, 400, "command"),
        ({"command": ["true"], "pod": "none"}, 404, "no such pod"),
        ({"command": ["true"], "rows": 0}, 400, "rows"),
        ({"command": ["x" * 30000] * 3}, 400, "at most 256 words"),
        ({"command": "true"}, 400, "command"),
    ],
)
def test_bad_requests(machine, runs, body, status, message):
    answer = machine.post(f"/api/v1/workloads/{runs}/exec", body)
    assert answer.status == status and message in answer.json["message"], answer


def test_bad_input(machine, runs):
    session = open_session(machine, runs, "cat")
    assert machine.post(f"/api/v1/workloads/{runs}/exec/{session}/input", {"data": "not base64!"}).status == 400
    give_input(machine, runs, session, b"x", close=True)
    give_input(machine, runs, session, b"y", expect=409)
    assert read_session(machine, runs, session)[0] == "x"


def test_a_pod_that_does_not_run(machine):
    done = submit(machine, "done", "true", gpus=0)
    machine.wait_phase(done, "Completed")
    assert "does not run" in open_session(machine, done, "true", expect=409)


def test_the_simulated_backend_has_nothing_to_run_it_in(make_server):
    server = make_server("--quick-start")
    workload = server.submit("job", "team-a")
    server.wait_phase(workload, "Running")
    assert "simulated" in open_session(server, workload, "true", expect=409)


def token_of(server, name, role, project):
    """A service account with a role in a project."""
    account = server.post("/api/v1/service-accounts", {"name": name}).json
    body = {
        "subjectId": account["clientId"],
        "subjectType": "service-account",
        "roleId": role,
        "scopeId": str(server.project_id(project)),
        "scopeType": "project",
    }
    assert server.post("/api/v1/authorization/access-rules", body).status == 201
    grant = {
        "grantType": "client_credentials",
        "clientId": account["clientId"],
        "clientSecret": account["clientSecret"],
    }
    return server.request("POST", "/api/v1/token", grant, token=None).json["accessToken"]


def test_who_may(machine, runs):
    path = f"/api/v1/workloads/{runs}/exec"
    body = {"command": ["echo", "here"]}
    assert machine.request("POST", path, body, token=None).status == 401
    viewer = token_of(machine, "viewer", VIEWER, "team-a")
    assert machine.request("POST", path, body, token=viewer).status == 403
    other = token_of(machine, "other", RESEARCHER, "team-b")
    assert machine.request("POST", path, body, token=other).status == 404
    own = token_of(machine, "own", RESEARCHER, "team-a")
    answer = machine.request("POST", path, body, token=own)
    assert answer.status == 201, answer
    session = answer.json["sessionId"]
    assert machine.get(f"{path}/{session}").status == 404, "another caller's session"
    assert b"here" in machine.request("GET", f"{path}/{session}", token=own).body
    events = machine.get(f"/api/v1/workloads/{runs}/events").json["events"]
    assert [event["message"] for event in events if event["reason"] == "Exec"] == ["own runs echo in a pod of job"]


def test_a_session_ends_with_the_rights_of_its_owner(machine, runs):
    path = f"/api/v1/workloads/{runs}/exec"
    token = token_of(machine, "own", RESEARCHER, "team-a")
    uuid = next(iter(supervisors_of(machine)))
    session = machine.request("POST", path, {"command": ["sleep", "600.25"]}, token=token).json["sessionId"]
    machine.wait_for("it runs", lambda: named(uuid, b"600.25"))
    rules = machine.get("/api/v1/authorization/access-rules", scopeType="project").json["accessRules"]
    with concurrent.futures.ThreadPoolExecutor() as threads:
        reading = threads.submit(machine.request, "GET", f"{path}/{session}", token=token, timeout=60)
        machine.wait_for("it is read", lambda: b"prorata_http_streams 1" in machine.get("/metrics").body)
        for rule in rules:
            assert machine.delete(f"/api/v1/authorization/access-rules/{rule['id']}").status == 204
        assert reading.result(60).status == 200, "its command would hold it for ten minutes"
    machine.wait_for("the command is gone", lambda: not named(uuid, b"600.25"))


def test_a_shell_in_a_container(start, folder):
    runtime = Runtime(folder)
    server = start(**runtime.install("docker"))
    workload = submit(server, "job", SLEEPS, gpus=0, spec={"image": IMAGE})
    wait_log(server, workload, "up")
    server.wait_phase(workload, "Running")
    uuid = next(iter(supervisors_of(server)))
    session = open_session(server, workload, "/bin/echo", "inside")
    assert read_session(server, workload, session) == ("inside\n", "", "0 ")
    assert [call["words"] for call in runtime.calls("exec")] == [
        ["exec", "-i", f"prorata-{uuid}", "/bin/echo", "inside"]
    ]


def test_a_pod_that_is_put_away_says_at_once_that_it_does_not_run(start, folder):
    """Its container is not gone yet, and so it counts as running."""
    runtime = Runtime(folder)
    (runtime.folder / "kept").touch()
    server = start(**runtime.install("docker"))
    workload = submit(server, "job", "echo up", gpus=0, spec={"image": IMAGE, "backoffLimit": 0})
    server.wait_for("its container's removal", lambda: runtime.calls("rm"))
    message = open_session(server, workload, "true", expect=409)
    (runtime.folder / "kept").unlink()
    assert message == "job-0-0: the pod does not run"


def test_a_pod_that_does_not_answer_holds_up_no_other(machine, runs):
    """Whoever asks for the silent one is still waiting when another pod's shell is open."""
    silent = submit(machine, "silent", SLEEPS, gpus=0)
    wait_log(machine, silent, "up")
    machine.wait_phase(silent, "Running")
    (uuid,) = [pod["id"] for pod in pods_of(machine, silent)]
    supervisor = supervisors_of(machine)[uuid]

    def is_called():
        status = pathlib.Path(f"/proc/{supervisor}/status").read_text()
        return int(re.search(r"^ShdPnd:\s*(\w+)", status, re.M)[1], 16) >> (signal.SIGUSR1 - 1) & 1

    def ask(_):
        return machine.post(f"/api/v1/workloads/{silent}/exec", {"command": ["true"]}).status

    def opens_meanwhile():
        with concurrent.futures.ThreadPoolExecutor(6) as threads:
            asked = [threads.submit(ask, i) for i in range(6)]
            machine.wait_for("one is asked for", is_called)
            session = open_session(machine, runs, "true")
            was_open = not any(answer.done() for answer in asked)
            assert {answer.result() for answer in asked} == {503}
            assert read_session(machine, runs, session)[2] == "0 "
        os.kill(supervisor, signal.SIGCONT)
        machine.wait_for("the call is taken", lambda: not is_called())
        os.kill(supervisor, signal.SIGSTOP)
        return was_open

    os.kill(supervisor, signal.SIGSTOP)
    try:
        machine.wait_for("a shell while others wait", opens_meanwhile)
    finally:
        os.kill(supervisor, signal.SIGCONT)
    machine.wait_for("the shell", lambda: ask(0) == 201)
