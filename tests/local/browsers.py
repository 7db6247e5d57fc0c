"""A browser without pages, against the listener for ports of workloads: one request a connection, cookies by hand."""

import base64
import http.client
import os
import pathlib
import socket

from pods import submit, wait_log

SERVER = pathlib.Path(__file__).with_name("app_server.py").read_text()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def serve(server, name, port, project="team-a", exposed=None, script='exec python3 -c "$APP_SERVER" {port}', **extra):
    """A workload whose pod serves at the port."""
    workload = submit(
        server,
        name,
        script.format(port=port),
        project=project,
        gpus=0,
        spec={
            "environmentVariables": [{"name": "APP_SERVER", "value": SERVER}],
            "exposedUrls": [{"container": port, **(exposed or {})}],
        },
        **extra,
    )
    wait_log(server, workload, "listens")
    return workload


def listener_of(server):
    """Where the listener is: the port in its log line."""
    line = next(line for line in server.log.read_text().splitlines() if " apps: listening " in line)
    return int(line.rsplit(":", 1)[1])


class Browser:
    def __init__(self, server):
        self.port = listener_of(server)
        self.cookies = {}  # path -> NAME=VALUE

    def request(self, method, target, body=None, host=None, cookie=None, **headers):
        """The answer's status, headers and body. Header names are written with _ for -."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        best = [self.cookies[path] for path in sorted(self.cookies, key=len, reverse=True) if target.startswith(path)]
        sent = {"Host": host or f"127.0.0.1:{self.port}", **{k.replace("_", "-"): v for k, v in headers.items()}}
        cookie = cookie if cookie is not None else "; ".join(best)
        if cookie:
            sent["Cookie"] = cookie
        connection.request(method, target, body, sent)
        answer = connection.getresponse()
        answer.text = answer.read()
        connection.close()
        for text in answer.headers.get_all("Set-Cookie") or []:
            parts = dict(part.strip().partition("=")[::2] for part in text.split(";")[1:])
            self.cookies[parts["Path"]] = text.split(";")[0]
        return answer

    def enter(self, url, host=None):
        """Follows an address with a code: looks at the question, and says yes. Where it leads to."""
        target = url.split("/", 3)[3]
        own = host or f"127.0.0.1:{self.port}"
        question = self.request("GET", f"/{target}", host=host)
        if question.status == 200:
            question = self.request("POST", f"/{target}", b"", host=host, Origin=f"http://{own}")
        return question

    def websocket(self, target, cookie=None, origin=None, host=None, **headers):
        """The connection, and the head of what it answered."""
        own = host or f"127.0.0.1:{self.port}"
        cookie = cookie or next(iter(self.cookies.values()), "")
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {target} HTTP/1.1", f"Host: {own}", "Upgrade: websocket", "Connection: Upgrade"]
        lines += [f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", f"Cookie: {cookie}"]
        lines += [f"Origin: {origin}"] if origin else []
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(4096)
            if not piece:
                break
            head += piece
        return connection, head


def say(connection, text):
    """A masked frame, and the frame that comes back."""
    mask = b"\1\2\3\4"
    connection.sendall(bytes([0x81, 0x80 | len(text)]) + mask + bytes(c ^ mask[i % 4] for i, c in enumerate(text)))
    head = connection.recv(2, socket.MSG_WAITALL)
    return connection.recv(head[1] & 127, socket.MSG_WAITALL) if len(head) == 2 else None


def invite(server, workload, token="admin", status=201, **body):
    answer = server.request("POST", f"/api/v1/workloads/{workload}/open", body, token=token)
    assert answer.status == status, answer
    return answer.json["url"] if status == 201 else answer.json
