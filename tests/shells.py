"""Commands and shells in pods, as tests ask for them: over HTTP, by the command line, with a terminal."""

import base64
import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from servers import PRORATA


def read_to_the_end(leader):
    """The bytes that a terminal was told."""
    said = b""
    with contextlib.suppress(OSError):  # what Linux says when nobody has it open any more
        while block := os.read(leader, 65536):
            said += block
    return said


def call(client, *words, status=0, input=""):
    done = subprocess.run(
        [PRORATA, *words],
        capture_output=True,
        text=True,
        input=input,
        env={**os.environ, "HOME": str(client.home)},
        timeout=60,
    )
    assert done.returncode == status, done
    return done


def open_session(server, workload, *command, expect=201, **more):
    answer = server.post(f"/api/v1/workloads/{workload}/exec", {"command": list(command), **more})
    assert answer.status == expect, answer
    return answer.json.get("sessionId") if expect == 201 else answer.json["message"]


def read_session(server, workload, session):
    """Output, errors, and the end."""
    body, said = (
        server.get(f"/api/v1/workloads/{workload}/exec/{session}").body,
        {"1": b"", "2": b"", "x": b"", " ": b""},
    )
    while body:
        length = struct.unpack(">I", body[1:5])[0]
        said[chr(body[0])] += body[5 : 5 + length]
        body = body[5 + length :]
    return said["1"].decode(), said["2"].decode(), said["x"].decode()


def give_input(server, workload, session, data=b"", expect=204, **more):
    answer = server.post(
        f"/api/v1/workloads/{workload}/exec/{session}/input", {"data": base64.b64encode(data).decode(), **more}
    )
    assert answer.status == expect, answer


class Terminal:
    """The command line with a terminal of its own."""

    def __init__(self, client, *words):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(PRORATA, [PRORATA, *words], {**os.environ, "HOME": str(client.home), "TERM": "vt100"})
        self.said = ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def write(self, text):
        os.write(self.fd, text.encode())

    def wait(self, pattern, seconds=60):
        until = time.monotonic() + seconds
        while not re.search(pattern, self.said):
            assert time.monotonic() < until, f"never {pattern!r} in {self.said!r}"
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.said += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    break
        found = re.search(pattern, self.said)
        assert found, self.said
        self.said = self.said[found.end() :]
        return found

    def status(self):
        until = time.monotonic() + 60
        while time.monotonic() < until:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
            if select.select([self.fd], [], [], 0.05)[0]:
                with contextlib.suppress(OSError):
                    self.said += os.read(self.fd, 65536).decode(errors="replace")
        raise AssertionError("it does not end")


class Follower:
    """The command line that follows; what it has said so far."""

    def __init__(self, client, *words):
        self.client = client
        self.out, self.errors = client.home / "out", client.home / "errors"
        with open(self.out, "wb") as out, open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                [PRORATA, *words],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                env={**os.environ, "HOME": str(client.home)},
            )

    def lines(self):
        return self.out.read_text().splitlines()

    def end(self):
        """The exit status, what was printed, what was said beside it."""
        return self.process.wait(60), self.lines(), self.errors.read_text()
