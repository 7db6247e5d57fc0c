"""Whoever is told: a mail server, and a receiver of webhooks that plays Slack too; and what there is to tell."""

import base64
import email
import email.policy
import hashlib
import hmac
import http.server
import json
import pathlib
import subprocess
import threading

from servers import ROOT

HERE = pathlib.Path(__file__).parent


def tool():
    """The Python that has aiosmtpd."""
    done = subprocess.run([ROOT / "tools/python_tool.sh", "aiosmtpd"], check=True, capture_output=True, text=True)
    return done.stdout.strip() + "/python"


def make_certificate(folder):
    """Of 127.0.0.1, its own issuer: (certificate, key)."""
    paths = [str(folder / name) for name in ("mail.pem", "mail.key")]
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=mail"
    command += " -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:TRUE"
    subprocess.run([*command.split(), "-out", paths[0], "-keyout", paths[1]], check=True, capture_output=True)
    return paths


class MailServer:
    def __init__(self, tls="none", auth="none", files=(), port=None):
        self.process = subprocess.Popen(
            [tool(), HERE / "smtp_server.py", tls, auth, *files], stdout=subprocess.PIPE, text=True
        )
        self.port = int(self.process.stdout.readline())
        self.mails, self.rows = [], []
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            row = json.loads(line)
            row["raw"] = base64.b64decode(row["data"])
            self.rows.append(row)
            self.mails.append(email.message_from_bytes(row["raw"], policy=email.policy.default))

    def to(self, address):
        return [mail for mail, row in zip(list(self.mails), list(self.rows), strict=False) if address in row["to"]]

    def stop(self):
        self.process.kill()
        self.process.wait()


class Receiver:
    """Takes POST at any path; `answer` says what it answers from now on: a status, or a function of (path, body)."""

    def __init__(self):
        receiver = self
        self.calls, self.answer, self.gate = [], 200, threading.Event()
        self.gate.set()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                receiver.calls.append((self.path, dict(self.headers), body))
                receiver.gate.wait(60)
                answer = receiver.answer(self.path, body) if callable(receiver.answer) else receiver.answer
                status, text = answer if isinstance(answer, tuple) else (answer, b"")
                try:
                    self.send_response(status)
                    if 300 <= status < 400:
                        self.send_header("Location", f"http://127.0.0.1:{receiver.port}/elsewhere")
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    pass  # who asked has gone

            do_GET = do_POST

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}/{path}"

    def bodies(self, path):
        return [json.loads(body) for where, _, body in list(self.calls) if where == "/" + path]

    def lines(self, path):
        return [line for body in self.bodies(path) for line in body["notifications"]]

    def stop(self):
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()


def signature(secret, timestamp, body):
    """As docs/notifications.md says, by another library."""
    return "v1=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


FAST = {"annotations": [{"name": "prorata.io/sim-duration", "value": "1s"}]}


def mail_config(port, **more):
    return {
        "smtpHost": "127.0.0.1",
        "smtpPort": port,
        "smtpTlsEnabled": False,
        "authType": "auth_none",
        "from": "gpu@lab.example",
        **more,
    }


def run(server, name, project, token):
    """A short training, by whoever has the token, to its end."""
    body = {
        "name": name,
        "projectId": server.project_id(project),
        "clusterId": server.cluster_id(),
        "spec": {"image": "x", "compute": {"gpuDevicesRequest": 0, "cpuCoreRequest": 0.1}, **FAST},
    }
    answer = server.request("POST", "/api/v1/workloads/trainings", body, token=token)
    assert answer.status == 202, answer
    workload = answer.json["workloadId"]
    server.wait_phase(workload, "Completed")
    return workload


def channel_of(server, name):
    return server.get(f"/api/v1/notification-channels/{name}").json


def names(receiver, path):
    return [line["workloadName"] for line in receiver.lines(path)]


def deliveries(server, state):
    answer = server.get("/api/v1/notification-deliveries", state=state)
    assert answer.status == 200, answer
    return answer.json["deliveries"]


def slack(path, body):
    """A little of Slack's API."""
    if "users.lookupByEmail?email=ann%40example.org" in path:
        return 200, b'{"ok": true, "user": {"id": "U1"}}'
    if "users.lookupByEmail" in path:
        return 200, b'{"ok": false, "error": "users_not_found"}'
    if "apps.manifest.create" in path:
        json.loads(json.loads(body)["manifest"])
        return 200, b'{"ok": true, "oauth_authorize_url": "https://slack.example/install"}'
    return 200, b'{"ok": true}'
