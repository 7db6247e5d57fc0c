"""Ports of pods, reached over the API and by the command line: what comes through, and whose ports nobody reaches."""

import concurrent.futures
import contextlib
import os
import re
import signal
import socket
import struct
import subprocess

import pytest
from people import PEOPLES_PASSWORD, make_person
from pods import pods_of, quoted, submit, supervisors_of, wait_log
from servers import PRORATA, Client
from shells import give_input, read_session
from test_exec import RESEARCHER, VIEWER, token_of
from test_images import IMAGE, Runtime

# A server at a port that the kernel chooses, which it prints. FAMILY, ADDRESS, OPTIONS and TALK are replaced.
SERVER = """
import socket, threading
s = socket.socket(socket.FAMILY)
for option in OPTIONS:
    s.setsockopt(*option, 1)
s.bind(("ADDRESS", PORT))
s.listen(200)
print("port", s.getsockname()[1], flush=True)
def echo(c):
    while block := c.recv(65536):
        c.sendall(block)
    c.close()
def greet(c):
    c.sendall(b"ME")
    c.close()
kept = []
def sleep(c):
    kept.append(c)
while True:
    threading.Thread(target=TALK, args=(s.accept()[0],), daemon=True).start()
"""
# One that takes no connection.
SILENT = SERVER.partition("while True")[0] + "threading.Event().wait()"


def code_of(code=SERVER, family="AF_INET", address="127.0.0.1", port=0, talk="echo", options=()):
    values = {"FAMILY": family, "ADDRESS": address, "PORT": str(port), "TALK": talk}
    for name, value in values.items():
        code = code.replace(name, value)
    return code.replace("OPTIONS", "[" + ", ".join(f"({option})" for option in options) + "]")


def python(code):
    return f"exec /usr/bin/python3 -c {quoted(code)}"


def listen(server, name, code=None, **more):
    """A workload that listens: it, its pod and its port."""
    workload = submit(server, name, python(code or code_of()), gpus=0, **more)
    port = int(re.search(r"port (\d+)", wait_log(server, workload, "port "))[1])
    server.wait_phase(workload, "Running")
    return workload, pods_of(server, workload)[0]["id"], port


def path_of(workload, pod):
    return f"/api/v1/workloads/{workload}/pods/{pod}/port-forward"


def forward(server, workload, pod, port, expect=201, **more):
    answer = server.request("POST", path_of(workload, pod), {"port": port}, **more)
    assert answer.status == expect, answer
    return answer.json["sessionId"] if expect == 201 else answer.json["message"]


def events_of(server, workload, reason):
    events = server.get(f"/api/v1/workloads/{workload}/events").json["events"]
    return [event["message"] for event in events if event["reason"] == reason]


@pytest.fixture
def machine(start):
    return start()


@pytest.fixture
def echoes(machine):
    return listen(machine, "job")


@pytest.fixture
def client(machine, folder):
    client = Client(machine, folder / "home").sign_in()
    client.run("config", "project", "team-a", program=client.runai)
    return client


class Forward:
    """`prorata port-forward` with these words, and where it listens, by the port it leads to."""

    def __init__(self, client, *words):
        self.process = subprocess.Popen(
            [PRORATA, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOME": str(client.home)},
        )

    def ports(self, count):
        """[(address, local, remote)] as printed."""
        lines = [self.process.stdout.readline() for _ in range(count)]
        found = [re.fullmatch(r"Forwarding from (\S+):(\d+) -> (\d+)\n", line) for line in lines]
        assert all(found), (lines, self.process.poll() is not None and self.process.stderr.read())
        return [(match[1], int(match[2]), int(match[3])) for match in found]

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        self.process.wait(60)
        return self.process.stderr.read()


@pytest.fixture
def run(client):
    with contextlib.ExitStack() as stack:

        def begin(*words):
            made = Forward(client, *words)
            stack.callback(made.process.wait)
            stack.callback(made.process.kill)
            return made

        yield begin


def talk(port, data, family=socket.AF_INET, address="127.0.0.1"):
    """What a connection answers to this and its end."""
    with socket.socket(family) as near:
        near.settimeout(60)
        near.connect((address, port))
        near.sendall(data)
        try:
            near.shutdown(socket.SHUT_WR)
        except OSError as reset:  # "not connected", where it was reset since
            raise ConnectionResetError from reset
        said = b""
        while block := near.recv(65536):
            said += block
        return said


# Over HTTP.


def test_bytes_go_to_the_port_and_come_back(machine, echoes):
    workload, pod, port = echoes
    session = forward(machine, workload, pod, port)
    give_input(machine, workload, session, b"one ")
    give_input(machine, workload, session, b"two", close=True)
    assert read_session(machine, workload, session) == ("one two", "", "0 ")
    give_input(machine, workload, session, b"late", expect=404)
    assert events_of(machine, workload, "PortForward") == [f"admin@prorata.local forwards port {port} of a pod of job"]


@pytest.mark.parametrize(
    "more",
    [
        {"address": "0.0.0.0"},
        {"address": "127.0.1.1"},
        {"family": "AF_INET6", "address": "::1"},
        {"family": "AF_INET6", "address": "::"},
        {"family": "AF_INET6", "address": "::", "options": ("socket.IPPROTO_IPV6, socket.IPV6_V6ONLY",)},
    ],
    ids=lambda more: "-".join(map(str, more.values())).replace("::", "any"),
)
def test_a_pod_may_listen_at_any_address(machine, more):
    workload, pod, port = listen(machine, "job", code_of(**more))
    session = forward(machine, workload, pod, port)
    give_input(machine, workload, session, b"here", close=True)
    assert read_session(machine, workload, session)[0] == "here"


def test_what_closes_at_once_has_said_what_it_said(machine):
    workload, pod, port = listen(machine, "job", code_of(talk="greet"))
    for _ in range(20):
        assert read_session(machine, workload, forward(machine, workload, pod, port)) == ("ME", "", "0 ")


def test_a_connection_that_the_pod_has_not_taken_yet_is_its_own_all_the_same(machine):
    workload, pod, port = listen(machine, "job", code_of(SILENT))
    session = forward(machine, workload, pod, port)
    give_input(machine, workload, session, b"waits")
    assert machine.delete(f"/api/v1/workloads/{workload}/exec/{session}").status == 204


def test_a_process_deep_below_listens(machine):
    """A worker whose parents are gone, in a session of its own."""
    code = (
        "import os\nif os.fork(): os._exit(0) if os.getppid() == 0 else __import__('time').sleep(3600)\nos.setsid()\n"
    )
    workload, pod, port = listen(machine, "job", code + "if os.fork(): os._exit(0)\n" + code_of())
    session = forward(machine, workload, pod, port)
    give_input(machine, workload, session, b"deep", close=True)
    assert read_session(machine, workload, session)[0] == "deep"


def test_a_port_of_a_pod_in_a_container(start, folder):
    """Its network is the machine's."""
    runtime = Runtime(folder)
    server = start(**runtime.install("docker"))
    workload, pod, port = listen(server, "job", spec={"image": IMAGE})
    session = forward(server, workload, pod, port)
    give_input(server, workload, session, b"inside", close=True)
    assert read_session(server, workload, session)[0] == "inside"


def test_a_connection_ends_with_the_pod(machine):
    workload, pod, port = listen(machine, "job", code_of(talk="sleep"))
    session = forward(machine, workload, pod, port)
    with concurrent.futures.ThreadPoolExecutor() as threads:
        reading = threads.submit(read_session, machine, workload, session)
        machine.wait_for("it is read", lambda: b"prorata_http_streams 1" in machine.get("/metrics").body)
        os.kill(supervisors_of(machine)[pod], signal.SIGKILL)
        assert reading.result(60) == ("", "", "0 ")


def test_the_simulated_backend_has_no_ports(make_server):
    server = make_server("--quick-start")
    workload = server.submit("job", "team-a")
    server.wait_phase(workload, "Running")
    assert "simulated" in forward(server, workload, pods_of(server, workload)[0]["id"], 80, 409)


# Whose ports nobody reaches.


def test_ports_that_are_not_the_pods(machine, echoes):
    workload, pod, port = echoes
    other, others_pod, others_port = listen(machine, "other")  # of the same user of the machine
    foreign = f"job-0-0: port {others_port} is not the pod's: something else listens there"
    assert forward(machine, workload, pod, others_port, 404) == foreign
    assert "is not the pod's" in forward(machine, workload, pod, machine.port, 404), "the server's own"
    with socket.create_server(("127.0.0.1", 0)) as own:
        own_port = own.getsockname()[1]
        assert "is not the pod's" in forward(machine, workload, pod, own_port, 404)
        own.setblocking(False)
        with pytest.raises(BlockingIOError):
            own.accept()  # not even a connection came
    assert forward(machine, workload, pod, own_port, 404) == f"job-0-0: nothing of the pod listens at port {own_port}"
    assert "no such pod" in forward(machine, workload, others_pod, others_port, 404), "another workload's pod"
    assert "no such pod" in forward(machine, workload, "00000000-0000-4000-8000-000000000000", port, 404)
    forward(machine, other, others_pod, others_port)


@pytest.mark.parametrize("takes", [True, False], ids=["takes it", "lets it wait"])
def test_a_neighbour_who_gets_the_connection_gets_nothing_of_it(machine, takes):
    """Two workloads of one user share a port: the first look finds the pod's own socket there, and the kernel gives the
    connection to either of them."""
    shared = ("socket.SOL_SOCKET, socket.SO_REUSEPORT",)
    mine = code_of(talk="greet", options=shared).replace("ME", "mine")
    workload, pod, port = listen(machine, "job", mine.replace("c.close()", "c.recv(1)"))
    theirs = code_of(SERVER if takes else SILENT, port=port, talk="greet", options=shared).replace("ME", "theirs")
    _, others_pod, _ = listen(machine, "other", theirs.replace("c.close()", "print('got', c.recv(9), flush=True)"))
    answers = [machine.post(path_of(workload, pod), {"port": port}) for _ in range(40)]
    assert {answer.status for answer in answers} <= {201, 404}
    refused = [answer.json["message"] for answer in answers if answer.status == 404]
    assert set(refused) == {f"job-0-0: port {port}: another process than the pod's took the connection"}
    opened = [answer.json["sessionId"] for answer in answers if answer.status == 201]
    for session in opened:
        give_input(machine, workload, session, b"secret")
        assert read_session(machine, workload, session)[0].startswith("mine")
    os.kill(supervisors_of(machine)[others_pod], signal.SIGKILL)
    machine.wait_for("the neighbour's end", lambda: others_pod not in supervisors_of(machine))
    session = forward(machine, workload, pod, port)
    give_input(machine, workload, session, b"x")
    assert read_session(machine, workload, session)[0] == "mine"


def test_a_neighbour_who_takes_the_port_over(machine):
    again = ("socket.SOL_SOCKET, socket.SO_REUSEADDR",)
    once = code_of(options=again).replace("while True", "for _ in [1]") + "s.close()\nthreading.Event().wait()\n"
    workload, pod, port = listen(machine, "job", once)
    first = forward(machine, workload, pod, port)
    other, others_pod, _ = listen(machine, "other", code_of(port=port, options=again))
    assert "is not the pod's" in forward(machine, workload, pod, port, 404)
    give_input(machine, workload, first, b"mine", close=True)
    assert read_session(machine, workload, first)[0] == "mine", "what was open goes on"
    forward(machine, other, others_pod, port)


def test_who_may(machine, echoes):
    workload, pod, port = echoes
    path = path_of(workload, pod)
    assert machine.request("POST", path, {"port": port}, token=None).status == 401
    assert (
        machine.request("POST", path, {"port": port}, token=token_of(machine, "viewer", VIEWER, "team-a")).status == 403
    )
    forward(machine, workload, pod, port, 404, token=token_of(machine, "other", RESEARCHER, "team-b"))
    own = token_of(machine, "own", RESEARCHER, "team-a")
    session = forward(machine, workload, pod, port, token=own)
    assert machine.get(f"/api/v1/workloads/{workload}/exec/{session}").status == 404, "another caller's connection"
    give_input(machine, workload, session, b"x", expect=404)
    forward(machine, workload, pod, port, token=own)
    assert events_of(machine, workload, "PortForward") == [f"own forwards port {port} of a pod of job"], "once"


def test_a_connection_ends_with_the_rights_of_its_owner(machine, echoes):
    workload, pod, port = echoes
    token = token_of(machine, "own", RESEARCHER, "team-a")
    session = forward(machine, workload, pod, port, token=token)
    path = f"/api/v1/workloads/{workload}/exec/{session}"
    rules = machine.get("/api/v1/authorization/access-rules", scopeType="project").json["accessRules"]
    with concurrent.futures.ThreadPoolExecutor() as threads:
        reading = threads.submit(machine.request, "GET", path, token=token, timeout=60)
        machine.wait_for("it is read", lambda: b"prorata_http_streams 1" in machine.get("/metrics").body)
        for rule in rules:
            assert machine.delete(f"/api/v1/authorization/access-rules/{rule['id']}").status == 204
        assert reading.result(60).status == 200
    assert machine.request("POST", f"{path}/input", {"data": ""}, token=token).status in (403, 404)
    free = b'prorata_places_taken{place="forwards"} 0'
    machine.wait_for("its place is free", lambda: free in machine.get("/metrics").body)


@pytest.mark.parametrize("body", [{}, {"port": 0}, {"port": 65536}, {"port": "80"}, {"port": -1}, {"port": 1.5}])
def test_bad_requests(machine, echoes, body):
    workload, pod, _ = echoes
    answer = machine.post(path_of(workload, pod), body)
    assert answer.status == 400 and "port" in answer.json["message"], answer


def test_a_thousand_connections_of_one_keep_nobody_else_out(machine, echoes):
    workload, pod, port = echoes
    greedy = token_of(machine, "greedy", RESEARCHER, "team-a")
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        body = {"port": port}
        tries = threads.map(lambda _: machine.request("POST", path_of(workload, pod), body, token=greedy), range(1000))
        answers = list(tries)
    assert sum(answer.status == 201 for answer in answers) == 64
    refused = [answer.json["message"] for answer in answers if answer.status != 201]
    assert set(refused) == {"forwards: you hold 64, all that one account may have of 256"}
    session = forward(machine, workload, pod, port)
    give_input(machine, workload, session, b"mine", close=True)
    assert read_session(machine, workload, session)[0] == "mine"


# By the command line.


def test_ports_by_the_command_line(machine, client, run, echoes):
    _, _, port = echoes
    _, _, others_port = listen(machine, "other", code_of(talk="greet"))
    one = run("port-forward", "job", f"0:{port}")
    ((address, local, remote),) = one.ports(1)
    assert (address, remote) == ("127.0.0.1", port)
    data = struct.pack(">I", 7) * 500_000
    assert talk(local, data) == data
    several = run("training", "port-forward", "other", "--port", f"0:{others_port}", f"0:{port}", "--address", "::1")
    (first, second) = several.ports(2)
    assert [first[0], first[2], second[2]] == ["[::1]", others_port, port]
    assert talk(first[1], b"", socket.AF_INET6, "::1") == b"ME"
    for said in (b"x", b""):
        with pytest.raises(ConnectionError):
            assert talk(second[1], said, socket.AF_INET6, "::1") is None, (
                "the other workload's port is none of this pod"
            )
    assert f"port {port} is not the pod's" in several.end()
    assert one.end() == "" and one.process.returncode == -signal.SIGINT


def test_many_at_once(machine, run, echoes):
    """More than there are places for streams: some are refused, and each that is not has its own bytes."""
    ((_, local, _),) = run("port-forward", "job", f"0:{echoes[2]}").ports(1)

    def one(number):
        try:
            return talk(local, b"%d" % number * 1000) == b"%d" % number * 1000
        except ConnectionError:
            return None

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        assert all(threads.map(one, range(100))), "eight at once are within one account's part"
    with concurrent.futures.ThreadPoolExecutor(100) as threads:
        outcomes = list(threads.map(one, range(100)))
    assert False not in outcomes and True in outcomes
    assert one(7)


def test_it_goes_on_over_a_restart_of_the_server_and_of_the_pod(machine, client, run, echoes):
    workload, _, port = echoes
    forwarding = run("port-forward", "job", f"0:{port}")
    ((_, local, _),) = forwarding.ports(1)
    with socket.create_connection(("127.0.0.1", local), 60) as near:
        near.sendall(b"held")
        assert near.recv(4) == b"held"
        machine.kill()
        with pytest.raises(ConnectionError):
            near.recv(4)
    with pytest.raises(ConnectionError):
        talk(local, b"nobody")
    machine.start()
    machine.wait_phase(workload, "Running")
    assert talk(local, b"again") == b"again"


def test_it_goes_on_with_the_next_sign_in(machine, client, run, echoes):
    """The person's sessions end; who signs in again leaves another token."""
    mail = "ann@example.org"
    make_person(machine, mail, ("L1 researcher", "project", machine.project_id("team-a")))
    client.run("login", "user", "-u", mail, "-p", PEOPLES_PASSWORD)
    forwarding = run("port-forward", "job", f"0:{echoes[2]}", "-p", "team-a")
    ((_, local, _),) = forwarding.ports(1)
    assert talk(local, b"one") == b"one"
    (ann,) = [user for user in machine.get("/api/v1/users").json if user["username"] == mail]
    assert machine.post(f"/api/v1/users/{ann['id']}/logout").status == 200
    with pytest.raises(ConnectionError):
        talk(local, b"nobody")
    client.run("login", "user", "-u", mail, "-p", PEOPLES_PASSWORD)
    assert talk(local, b"two") == b"two"


@pytest.mark.parametrize(
    "words, message",
    [
        ([], "a port is missing"),
        (["x"], 'expected LOCAL:REMOTE or REMOTE, numbers of ports, got "x"'),
        (["1:2:3"], "got"),
        (["80:0"], "got"),
        (["65536"], "got"),
        (["-5:80"], "-5"),
        (["0:80", "--address", "example.org"], "--address: expected an address in numbers"),
        ([f"0:{number}" for number in range(1, 34)], "at most 32 ports"),
        (["0:80", "--address", "192.0.2.1"], "192.0.2.1:0: "),
    ],
)
def test_bad_words(client, echoes, words, message):
    assert message in client.run("port-forward", "job", *words, status=1)


def test_a_port_here_that_is_taken(client, echoes):
    with socket.create_server(("127.0.0.1", 0)) as own:
        number = own.getsockname()[1]
        assert f"127.0.0.1:{number}: Address" in client.run("port-forward", "job", f"{number}:80", status=1)


def test_what_cannot_be_reached_is_said(run, echoes):
    forwarding = run("port-forward", "job", "0:1")
    ((_, local, _),) = forwarding.ports(1)
    with pytest.raises(ConnectionError):
        talk(local, b"x")
    assert "job-0-0: nothing of the pod listens at port 1" in forwarding.end()
