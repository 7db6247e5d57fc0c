"""Run:ai's Python client as it is published: each of its methods whose path is in the core of the API succeeds."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.parse

import pytest
from core_contract import METHODS, load
from rights_matrix import matrix
from rights_walk import Walk
from servers import ROOT, Server

HERE = pathlib.Path(__file__).parent
CORE = {
    (method.upper(), re.sub(r"{.*?}", "{}", path)): item[method]["operationId"]
    for path, item in load(HERE / "core/api-core.yaml")["paths"].items()
    for method in METHODS
    if method in item
}
# Operations of the core that are not called, with the reason.
NOT_CALLED = {
    "logout_user": "ends the session of a person, and the client is an application",
    "grant_token_v2": "the client takes the form's fields and sends none of them",
}


# What the client wants otherwise than the table of requests has it.
EMAIL = {"type": "email", "config": {"smtpHost": "127.0.0.1", "from": "a@example.com", "recipients": ["b@example.com"]}}
RESOURCES = [{"nodePool": {"id": "1"}, "gpu": {"deserved": 0}}]
CHANGES = {
    # It reads every answer as JSON.
    "downloadAuditLogs": {
        "query": {"fileType": "JSON", "start": "2020-01-01T00:00:00Z", "end": "2100-01-01T00:00:00Z"}
    },
    # It leaves out an empty list.
    "update_project_resources": {"body": RESOURCES},
    "patch_project_resources": {"body": RESOURCES},
    "update_department_resources": {"body": RESOURCES},
    "patch_department_resources": {"body": RESOURCES},
    "updateNotificationState": {"body": {"enabled": True}},
    # Its model of a channel knows two types.
    "updateNotificationChannelConfig": {"body": EMAIL},
    "validateNotificationChannel": {"body": EMAIL},
}


@pytest.fixture(scope="module")
def walk():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-test-"))
    server = Server(folder, "--quick-start").start()
    document = server.request("GET", "/api/v1/swagger.json", token=None).json
    yield Walk(server, matrix(document["components"]["schemas"]["ResourceType"]["enum"]))
    assert server.stop() == 0, server.tail()
    shutil.rmtree(folder)


class Client:
    def __init__(self, walk):
        environment = subprocess.run(
            [ROOT / "tools/python_tool.sh", "runapy"], capture_output=True, text=True, check=True
        ).stdout.strip()
        self.process = subprocess.Popen(
            [f"{environment}/python", HERE / "runapy_driver.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        account = next(c for c in walk.callers if c.role == "System administrator" and c.scope == "tenant").account
        client_id, secret = account["clientId"], account["clientSecret"]
        self.told = self.ask({"url": walk.server.url, "id": client_id, "secret": secret})
        self.grants = {
            "grant_token": {"grantType": "client_credentials", "clientID": client_id, "clientSecret": secret},
            "app_token": {"id": client_id, "name": account["name"], "secret": secret},
        }
        self.grants = {operation: {"body": body} for operation, body in self.grants.items()}

    def ask(self, order):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(60) == 0


@pytest.fixture(scope="module")
def client(walk):
    client = Client(walk)
    yield client
    client.close()


def call(walk, client, method, operation):
    http, target, body = walk.request(operation, walk.targets[0])
    parts = urllib.parse.urlsplit(target)
    template = walk.served[operation][1]
    values = re.fullmatch(re.sub(r"{\w+}", "([^/]+)", template), parts.path).groups()
    order = {"query": dict(urllib.parse.parse_qsl(parts.query)), "body": json.loads(body) if body else None}
    order |= CHANGES.get(operation, {}) | client.grants.get(operation, {})
    meta = order["body"].get("meta", {}) if isinstance(order["body"], dict) else {}
    if "projectId" in meta:
        meta["projectId"] = int(meta["projectId"])  # as the contract has it
    answer = client.ask({"call": method, "path": values, **order})
    if http == "DELETE" and answer["status"] < 300:
        walk.forget(operation)
        walk.mend(operation, walk.targets[0])
    return answer


def test_every_method_of_the_core_succeeds(walk, client):
    methods = {name: CORE.get((http, path)) for name, (http, path) in client.told["methods"].items()}
    ours = {name: operation for name, operation in methods.items() if operation}
    left_out = sorted(name for name, operation in methods.items() if not operation)
    print(f"{len(ours)} methods of {len(methods)} have a path of the core; of other paths, and not called:")
    print("\n".join(f"  {name} {' '.join(client.told['methods'][name])}" for name in left_out))
    wrong = []
    for name, operation in sorted(ours.items(), key=lambda item: (item[1].startswith("delete"), item[0])):
        if operation in NOT_CALLED or operation not in walk.served:
            continue  # what is not served is told by test_core_contract.py
        answer = call(walk, client, name, operation)
        allowed = [int(s) for s in walk.rows[operation]["allowed"].split()]
        if answer["status"] not in (allowed or [200]) and not (200 in allowed or answer["status"] == 200):
            wrong.append(f"{name} ({operation}): {answer}")
    assert not wrong, "\n".join(wrong)


def test_nothing_of_the_core_is_without_a_method(client):
    reached = {CORE.get((http, path)) for http, path in client.told["methods"].values()}
    assert set(CORE.values()) - reached - {None} == set(), client.told["broken"]
