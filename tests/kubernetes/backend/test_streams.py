"""Logs of pods, shells in them and their ports, through the server and the command line."""

import threading

import pytest
from people import make_person
from servers import Client
from shells import Terminal, call, give_input, open_session, read_session

LOG = "test.prorata.io/log"


@pytest.fixture
def runs(server, kube):
    """A workload that runs, and its pod in the cluster."""
    kube.needs_kubelet()
    workload = server.submit("job", "team-a", 1, spec={"annotations": [{"name": LOG, "value": "one\ntwo\nthree\n"}]})
    server.wait_phase(workload, "Running")
    (pod,) = kube.pods()
    return workload, f"/api/v1/namespaces/runai-team-a/pods/{pod}"


@pytest.fixture
def client(server, folder):
    client = Client(server, folder / "home").sign_in()
    client.run("config", "project", "team-a", program=client.runai)
    return client


def log_of(server, workload, query=""):
    answer = server.get(f"/api/v1/workloads/{workload}/logs{query}")
    assert answer.status == 200, answer
    return answer.body.decode()


def test_a_log_is_the_containers(server, runs):
    workload, _ = runs
    assert log_of(server, workload) == "one\ntwo\nthree\n"
    assert log_of(server, workload, "?tail=1") == "three\n"
    lines = log_of(server, workload, "?timestamps=true").splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == ["one", "two", "three"]
    assert all(line.split(" ")[0].endswith("Z") for line in lines)


def test_a_log_that_is_followed_ends_with_its_pod(server, kube, runs):
    workload, path = runs
    said = []
    reader = threading.Thread(target=lambda: said.append(log_of(server, workload, "?follow=true")))
    reader.start()
    kube.patch(path, {"metadata": {"annotations": {LOG: "one\ntwo\nthree\nfour\n"}}})
    server.wait_for("the log is read", lambda: len(kube.requests("GET", "/log")) > 1)
    server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    reader.join(30)
    assert said and said[0].startswith("one\ntwo\nthree\n")
    assert said[0].count("one") == 1


def test_a_follower_loses_and_doubles_no_line_where_the_server_starts_again(server, kube, runs, follow):
    workload, path = runs
    lines = ["one", "two", "three"]
    follower = follow(server, "logs", "job", "--follow")
    for end in (server.kill, server.stop):
        server.wait_for(lines, lambda: follower.lines() == lines)
        end()
        server.start()
        lines.append(f"line {len(lines)}")
        kube.patch(path, {"metadata": {"annotations": {LOG: "".join(line + "\n" for line in lines)}}})
    server.wait_for(lines, lambda: follower.lines() == lines)
    server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    assert follower.end() == (0, lines, "")


def test_a_pod_that_waits_has_no_lines(server, kube):
    kube.settings(startMs=600000)
    workload = server.submit("slow", "team-a", 1)
    server.wait_for("a pod", lambda: kube.requests("POST", "/binding"))
    assert log_of(server, workload) == ""


def test_output_errors_and_status_are_the_commands(runs, client):
    assert call(client, "exec", "job", "--", "echo", "a b").stdout == "a b\n"
    done = call(client, "exec", "job", "--", "fail", "7", "err", status=7)
    assert (done.stdout, done.stderr) == ("", "err")
    text = "".join(f"line {i}\n" for i in range(5000))
    assert call(client, "exec", "job", "-i", "--", "cat", input=text).stdout == text
    assert len(call(client, "exec", "job", "--", "big", "900000").stdout) == 900_000
    assert "executable file not found" in call(client, "exec", "job", "--", "nothing", status=1).stderr


def test_a_session_by_its_operations(server, runs):
    workload, _ = runs
    session = open_session(server, workload, "cat")
    give_input(server, workload, session, b"hello")
    give_input(server, workload, session, close=True)
    assert read_session(server, workload, session) == ("hello", "", "0 ")


def open_port(server, workload, port, expect=201):
    (pod,) = server.get(f"/api/v1/workloads/{workload}/pods").json["pods"]
    answer = server.post(f"/api/v1/workloads/{workload}/pods/{pod['id']}/port-forward", {"port": port})
    assert answer.status == expect, answer
    return answer.json["sessionId"] if expect == 201 else answer.json["message"]


def test_bytes_go_to_a_port_and_come_back(server, kube, runs):
    workload, path = runs
    session = open_port(server, workload, 8888)
    assert [request["query"] for request in kube.requests("GET", f"{path}/portforward")] == ["ports=8888"]
    text = "".join(f"line {i}\n" for i in range(10000))
    give_input(server, workload, session, text.encode())
    give_input(server, workload, session, b"bye")
    assert read_session(server, workload, session) == (f"{text}bye", "", "0 ")


def test_a_port_that_refuses_ends_the_connection(server, runs):
    workload, _ = runs
    assert read_session(server, workload, open_port(server, workload, 1)) == ("", "", "0 ")


def test_a_port_is_hung_up(server, runs):
    """Its place in the cluster is free then."""
    workload, _ = runs
    taken = b'prorata_places_taken{place="kubernetes-shells"} '
    session = open_port(server, workload, 8888)
    assert taken + b"1\n" in server.get("/metrics").body
    assert server.delete(f"/api/v1/workloads/{workload}/exec/{session}").status == 204
    server.wait_for("its place is free", lambda: taken + b"0\n" in server.get("/metrics").body)


def test_a_port_of_a_pod_that_does_not_run(server, kube):
    kube.settings(startMs=600000)
    workload = server.submit("slow", "team-a", 1)
    server.wait_for("a pod", lambda: kube.requests("POST", "/binding"))
    assert "does not run" in open_port(server, workload, 80, 409)


def test_a_terminal_has_its_size(runs, client):
    shell = Terminal(client, "exec", "job", "-t", "--", "size")
    shell.wait("Width")
    shell.write("q")
    assert shell.status() == 0


def test_a_pod_that_does_not_run(server, kube):
    kube.settings(startMs=600000)
    workload = server.submit("slow", "team-a", 1)
    server.wait_for("a pod", lambda: kube.requests("POST", "/binding"))
    assert "does not run" in open_session(server, workload, "echo", expect=409)


def test_places_of_shells_are_shared_between_people(server, runs):
    """64: 16 for one account."""
    workload, _ = runs
    place = ("L1 researcher", "project", server.project_id("team-a"))
    tokens = [make_person(server, f"person-{i}@example.org", place) for i in range(2)]

    def enter(token):
        return server.request("POST", f"/api/v1/workloads/{workload}/exec", {"command": ["cat"]}, token=token)

    assert [enter(tokens[0]).status for _ in range(16)] == [201] * 16
    refused = enter(tokens[0])
    message = "job-0-0: kubernetes-shells: you hold 16, all that one account may have of 64"
    assert refused.status == 503 and refused.json["message"] == message, refused
    assert enter(tokens[1]).status == enter("admin").status == 201
    figures = server.get("/metrics").body.decode()
    assert 'prorata_places_taken{place="kubernetes-shells"} 18\n' in figures
    assert 'prorata_places_refused_total{place="kubernetes-shells"} 1\n' in figures
