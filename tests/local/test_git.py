"""Git on a machine without containers: what is fetched, what a refusal says, what a stop leaves."""

import base64
import http.server
import os
import socket
import subprocess
import threading

import pytest
from pods import give, run, submit, supervisors_of

ROOT = os.geteuid() == 0


@pytest.fixture
def repository(folder):
    """A repository with branches main and other and a first commit, which anybody may read."""
    folder.chmod(0o755)
    path = folder / "repository"

    def git(*words):
        return subprocess.run(
            ["git", "-C", str(path), "-c", "user.name=a", "-c", "user.email=a@b", *words],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    subprocess.run(["git", "init", "-q", "-b", "main", str(path)], check=True)
    commits = []
    for number, branch in enumerate(["main", "main", "other"]):
        if branch == "other":
            git("checkout", "-q", "-b", "other")
        (path / "file").write_text(f"{branch} {number}\n")
        git("add", "file")
        git("commit", "-q", "-m", str(number))
        commits.append(git("rev-parse", "HEAD"))
    git("checkout", "-q", "main")
    git("update-server-info")
    if ROOT:  # of team-a, the second project: git trusts no folder of another user
        subprocess.run(["chown", "-R", "2000000001", str(path)], check=True)
    return path, commits[0]


@pytest.mark.parametrize(
    "more, content",
    [
        ({}, "main 1"),
        ({"branch": "other"}, "other 2"),
        ({"revision": "other"}, "other 2"),
        ({"revision": "FIRST"}, "main 0"),
    ],
)
def test_git(machine, repository, more, content):
    repository, first = repository
    more = {key: first if value == "FIRST" else value for key, value in more.items()}
    log, _ = run(
        machine,
        "cat file",
        spec={
            "workingDir": "/code",
            "storage": {"git": [{"repository": f"file://{repository}", "path": "/code", **more}]},
        },
    )
    assert log == f"git clone file://{repository}\n{content}\n"


@pytest.mark.parametrize(
    "more", [{"branch": "none"}, {"revision": "none"}, {"repository": "file:///no/such/repository"}]
)
def test_git_that_fails_says_why(machine, repository, more):
    repository, _ = repository
    log, events = run(
        machine,
        "echo never",
        phase="Failed",
        spec={"storage": {"git": [{"repository": f"file://{repository}", "path": "/code", **more}]}},
    )
    assert any("the storage could not be prepared" in event for event in events), events
    assert "never" not in log and ("none" in log or "fatal" in log)


def test_a_stop_while_git_is_under_way(machine):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        workload = submit(
            machine,
            "waits",
            "echo never",
            gpus=0,
            spec={
                "storage": {"git": [{"repository": f"http://127.0.0.1:{silent.getsockname()[1]}/r", "path": "/code"}]}
            },
        )
        silent.settimeout(30)
        silent.accept()
        machine.post(f"/api/v1/workloads/trainings/{workload}/suspend")
        machine.wait_phase(workload, "Stopped")
    assert not supervisors_of(machine)


def test_git_with_a_password(machine, repository):
    repository, _ = repository
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(repository / ".git"))

        def do_GET(self):
            asked.append(self.headers.get("Authorization"))
            if asked[-1] is None:
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic realm=git")
                self.end_headers()
            else:
                super().do_GET()

        def log_message(self, *arguments):
            pass

    give(machine, "secrets", "git", username="ali", password="p@ss:word")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        log, _ = run(
            machine,
            "cat file; ls -A ../1.credentials",
            spec={
                "workingDir": "/code",
                "storage": {
                    "git": [
                        {"repository": f"http://127.0.0.1:{web.server_port}/", "path": "/code", "passwordSecret": "git"}
                    ]
                },
            },
        )
        web.shutdown()
    assert "Basic " + base64.b64encode(b"ali:p@ss:word").decode() in asked
    assert "main 1" in log and "text" not in log and "p@ss" not in log
