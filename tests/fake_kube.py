"""The stand-in for the Kubernetes API server as a fixture, and a small client for it."""

import contextlib
import http.client
import json
import os
import pathlib
import socket
import ssl
import subprocess
import threading
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = pathlib.Path(os.environ.get("PRORATA", ROOT / "build/prorata")).with_name("fakekube")


class Answer:
    def __init__(self, code, headers, body):
        self.code, self.headers, self.body = code, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.code} {self.body[:400]!r}>"


def relay(source, target):
    """One direction of a connection; its end is told to both."""
    with contextlib.suppress(OSError, ValueError):
        while data := source.recv(65536):
            target.sendall(data)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


class TlsFront:
    """TLS in front of the stand-in: a PEM file of certificate and key; `clients` names the authority of client
    certificates. `certificate` may be replaced while it runs."""

    def __init__(self, address, certificate, clients=None):
        self.behind, self.certificate, self.clients = address.split(":"), certificate, clients
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.serve, args=(self.socket.accept()[0],), daemon=True).start()

    def serve(self, plain):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate)
        if self.clients:
            context.load_verify_locations(self.clients)
            context.verify_mode = ssl.CERT_REQUIRED
        with (
            contextlib.suppress(OSError),
            context.wrap_socket(plain, server_side=True) as outside,
            socket.create_connection((self.behind[0], int(self.behind[1]))) as inside,
        ):
            back = threading.Thread(target=relay, args=(inside, outside), daemon=True)
            back.start()
            relay(outside, inside)
            back.join()

    def close(self):
        self.socket.close()


class FakeKube:
    """A running stand-in. Ends with its standard input, so with this process too."""

    def __init__(self, folder, *arguments):
        self.kubeconfig = str(pathlib.Path(folder) / "kubeconfig")
        self.process = subprocess.Popen(
            [PROGRAM, "--kubeconfig", self.kubeconfig, "--until-stdin-closes", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = self.process.stdout.readline().strip()
        assert self.url, "fakekube does not start"
        self.address = urllib.parse.urlsplit(self.url).netloc

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(20)
        self.process.stdout.close()
        assert code == 0, f"fakekube ended with {code}"

    @contextlib.contextmanager
    def open(self, method, path, body=None, headers=None, timeout_s=60):
        """The answer as it comes, for watches."""
        connection = http.client.HTTPConnection(self.address, timeout=timeout_s)
        try:
            data = json.dumps(body) if body is not None and not isinstance(body, str) else body
            connection.request(
                method,
                path,
                data,
                {"Authorization": "Bearer fakekube", "Content-Type": "application/json"} | (headers or {}),
            )
            yield connection.getresponse()
        finally:
            connection.close()

    def ask(self, method, path, body=None, headers=None, timeout_s=60):
        with self.open(method, path, body, headers, timeout_s) as answer:
            return Answer(answer.status, answer.headers, answer.read().decode(errors="replace"))

    def control(self, method, what, body=None):
        answer = self.ask(method, f"/fakekube/{what}", body)
        assert answer.code < 300, answer
        return answer.json

    def fault(self, match, times=1, skip=0, **action):
        self.control("POST", "faults", {"match": match, "times": times, "skip": skip, **action})

    def settings(self, **values):
        return self.control("POST", "settings", values)
