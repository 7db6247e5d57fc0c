"""People of the machine, made for a test, and a server that they reach by its Unix socket."""

import contextlib
import json
import os
import pathlib
import pwd
import subprocess
import sys

from servers import Answer

# Asks by the socket: what it is given as JSON, and prints what came back.
ASK = """
import http.client, json, os, socket, sys
wish = json.loads(sys.argv[1])
if wish.get("groups") is not None:
    os.setgroups(wish["groups"])
if wish.get("uid"):
    os.setresgid(wish["gid"], wish["gid"], wish["gid"])
    os.setresuid(wish["uid"], wish["uid"], wish["uid"])
connection = http.client.HTTPConnection("localhost", timeout=60)
connection.sock = socket.socket(socket.AF_UNIX)
connection.sock.settimeout(60)
connection.sock.connect(wish["path"])
if wish.get("then"):
    os.setresuid(wish["then"], wish["then"], wish["then"])
answers = []
for _ in range(wish.get("times", 1)):
    connection.request(wish["method"], wish["url"], wish["body"], wish["headers"])
    answer = connection.getresponse()
    answers.append([answer.status, dict(reversed(answer.getheaders())), answer.read().decode()])
print(json.dumps(answers[-1]))
"""


class People:
    """Users and groups of this machine, with names that nobody else has."""

    def __init__(self):
        self.mark = f"prt{os.getpid() % 100000}"
        self.users, self.groups = [], []

    def group(self, name):
        name = self.mark + name
        subprocess.run(["groupadd", name], check=True)
        self.groups.append(name)
        return name

    def user(self, name, *groups):
        name = self.mark + name
        subprocess.run(
            ["useradd", "--no-create-home", "--home-dir", "/", *(["-G", ",".join(groups)] if groups else []), name],
            check=True,
        )
        self.users.append(name)
        return name

    def done(self):
        for name in self.users:
            subprocess.run(["userdel", name], check=False, capture_output=True)
        for name in self.groups:
            subprocess.run(["groupdel", name], check=False, capture_output=True)


def links_of(pid):
    """What a process's descriptors are; one may close while they are listed."""
    links = []
    for entry in os.scandir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(entry.path))
    return links


class Door:
    """A server with a socket, and the people it knows: alice in the group that is mapped, bob in none."""

    def __init__(self, make_server, people, place, *flags):
        self.people, self.path = people, place
        self.gpu = people.group("gpu")
        self.alice, self.bob = people.user("alice", self.gpu), people.user("bob")
        self.server = make_server(
            "--quick-start", "--socket", str(place), "--socket-group", f"{self.gpu}=team-a:L1 researcher", *flags
        )

    def ask(self, user=None, url="/api/v1/session", method="GET", body=None, headers=None, **wish):
        """As the user: his groups are those of the machine, unless others are given."""
        if user:
            entry = pwd.getpwnam(user)
            wish = {"uid": entry.pw_uid, "gid": entry.pw_gid, "groups": os.getgrouplist(user, entry.pw_gid), **wish}
        if body is not None:
            headers, body = {"Content-Type": "application/json", **(headers or {})}, json.dumps(body)
        wish = {"path": str(self.path), "method": method, "url": url, "body": body, "headers": headers or {}, **wish}
        done = subprocess.run(
            [sys.executable, "-c", ASK, json.dumps(wish)], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        status, headers, text = json.loads(done.stdout)
        return Answer(status, headers, text)

    def relay_port(self):
        """Where the server takes connections of the socket in: its listening port that nobody asked for."""
        inodes = {link[8:-1] for link in links_of(self.server.process.pid) if link.startswith("socket:")}
        rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
        ports = {int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A" and row[9] in inodes}
        (port,) = ports - {self.server.port}
        return port
