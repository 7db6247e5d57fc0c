"""What the walk over all operations needs: the table of requests, a server with three projects, and its callers."""

import base64
import hashlib
import hmac
import http.client
import itertools
import json
import pathlib
import re
import time

from servers import Answer
from test_access import rule_for

FILE = pathlib.Path(__file__).parent / "rights" / "operations.psv"
METHODS = ("get", "post", "put", "patch", "delete")
SCOPES = ("tenant", "department", "project")
RULES = "/api/v1/authorization/access-rules"
# What belongs to a cluster or the tenant is also read by who may read it somewhere below.
ABOVE = {"tenant", "cluster", "nodepools", "nodes", "network-topologies", "settings", "roles", "users", "apps"}
ABOVE |= {"service-account", "registries", "workload-properties"}
LOW = "0bd1914d-8d45-5ba4-b1b6-5a5cce57824a"  # the priority's id
LONG = {"annotations": [{"name": "prorata.io/sim-duration", "value": "10h"}]}


def requests():
    """The rows of the table by operation."""
    lines = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    heads = lines[0].split("|")
    rows = [dict(zip(heads, line.split("|"), strict=True)) for line in lines[1:]]
    assert len({row["operation"] for row in rows}) == len(rows)
    return {row["operation"]: row for row in rows}


def served(document):
    """{operation: (method, path, node)}."""
    return {
        item[m]["operationId"]: (m.upper(), path, item[m])
        for path, item in document["paths"].items()
        for m in METHODS
        if m in item
    }


def first_pod(server, workload):
    return server.get(f"/api/v1/workloads/{workload}/pods").json["pods"][0]["id"]


class Target:
    """A project with something of each kind in it; every name begins with the mark."""

    def __init__(self, server, mark, department, subject):
        self.mark, self.department = mark, department
        body = {
            "name": f"{mark}-project",
            "clusterId": server.cluster_id(),
            "parentId": department["id"],
            "resources": [],
        }
        project = server.post("/api/v1/org-unit/projects", body)
        assert project.status == 201, project
        self.project, self.project_name = project.json["id"], f"{mark}-project"
        self.workloads = {
            "trainings": server.submit(f"{mark}-training", self.project_name, 0, spec=LONG),
            "workspaces": server.submit(f"{mark}-workspace", self.project_name, 0, "workspaces", spec=LONG),
            "inferences": server.submit(f"{mark}-inference", self.project_name, 0, "inferences", spec=LONG),
            "distributed": server.submit(
                f"{mark}-gang",
                self.project_name,
                0,
                "distributed",
                {**LONG, "distributedFramework": "PyTorch", "numWorkers": 1},
            ),
        }
        for workload in self.workloads.values():
            server.wait_phase(workload, "Running")
        self.pod = first_pod(server, self.workloads["trainings"])
        self.replica = first_pod(server, self.workloads["inferences"])
        self.assets = {kind: self.asset(server, kind) for kind in SPECS}
        self.templates = {kind: self.template(server, kind) for kind in TEMPLATES}
        self.rule = self.give_rule(server, subject)

    def asset(self, server, kind, name="asset"):
        meta = {"name": f"{self.mark}-{kind.replace('/', '-')}-{name}", "scope": "project", "projectId": self.project}
        answer = server.post(f"/api/v1/asset/{kind}", {"meta": meta, "spec": SPECS[kind]})
        assert answer.status in (201, 202), answer
        return answer.json["meta"]["id"]

    def template(self, server, kind, name="template"):
        meta = {"name": f"{self.mark}-{kind}-{name}", "scopeType": "project", "scopeId": self.project}
        answer = server.post(f"/api/v1/workload-templates/{kind}", {"meta": meta, "spec": {"image": "x"}})
        assert answer.status == 202, answer
        return answer.json["meta"]["id"]

    def give_rule(self, server, subject):
        answer = server.post(RULES, rule_for(subject, "Viewer", "project", self.project))
        assert answer.status == 201, answer
        return answer.json["id"]


TEMPLATES = ("workspaces", "trainings", "distributed", "inferences")
SPECS = {
    "compute": {"gpuDevicesRequest": 0},
    "environment": {"image": "x"},
    "datasource/nfs": {"server": "x", "path": "/x", "mountPath": "/x"},
    "credentials/password": {"user": "x", "password": "x"},
}


def first_of(server, path):
    """A list is bare, or the one list of an object."""
    answer = server.get(path).json
    return (answer if isinstance(answer, list) else next(v for v in answer.values() if isinstance(v, list)))[0]


class Caller:
    def __init__(self, name, token, role=None, scope=None, places=()):
        self.name, self.token, self.role, self.scope, self.places = name, token, role, scope, places

    def contains(self, where):
        """The caller's scope is the place, or lies above it; (cluster, department, project), cut where it ends."""
        return where[: len(self.places)] == self.places


def expired(server, token):
    """The same token as it would be an hour after its end: signed by the server's own key."""
    head, payload, signature = token.split(".")
    header = json.loads(base64.urlsafe_b64decode(head + "=="))
    key = next(k for k in (server.data / "keys").glob("*.key") if header["kid"] in k.name).read_bytes()

    def sign(text):
        return base64.urlsafe_b64encode(hmac.new(key, text.encode(), hashlib.sha256).digest()).rstrip(b"=").decode()

    assert sign(f"{head}.{payload}") == signature, "the key is the one that signs"
    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    now = int(time.time())
    claims.update(iat=now - 7200, exp=now - 3600)
    later = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    return f"{head}.{later}.{sign(f'{head}.{later}')}"


def forged(token):
    """Signed by nobody's key."""
    head, payload, _ = token.split(".")
    signature = hmac.new(b"x" * 32, f"{head}.{payload}".encode(), hashlib.sha256).digest()
    return f"{head}.{payload}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def unsigned(token):
    head = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').rstrip(b"=").decode()
    return f"{head}.{token.split('.')[1]}."


class Walk:
    """One server, many tokens."""

    def __init__(self, server, table):
        self.server, self.table, self.numbers = server, table, itertools.count(1)
        self.things, self.nowhere = {}, {}
        self.document = server.request("GET", "/api/v1/swagger.json", token=None).json
        self.served = served(self.document)
        self.rows = requests()
        self.subject = server.post("/api/v1/service-accounts", {"name": "subject"}).json
        departments = {d["name"]: d for d in server.get("/api/v1/org-unit/departments").json["departments"]}
        self.cluster = server.cluster_id()
        lab = {"name": "qsx-lab", "clusterId": self.cluster, "resources": []}
        self.lab = server.post("/api/v1/org-unit/departments", lab).json
        mine, other = departments["research"], {"id": self.lab["id"], "name": "qsx-lab"}
        self.targets = [
            Target(server, mark, unit, self.subject) for mark, unit in (("qmx", mine), ("qnx", mine), ("qsx", other))
        ]
        self.node = server.get("/api/v1/nodes").json["nodes"][0]["id"]
        self.category = first_of(server, "/api/v1/workload-categories")["id"]
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        own = self.targets[0]
        self.places = {
            "tenant": (),
            "department": (1, own.department["id"]),
            "project": (1, own.department["id"], own.project),
        }
        self.callers = [
            self.make_caller(role, scope) for role in server.get("/api/v1/authorization/roles").json for scope in SCOPES
        ]

    def make_caller(self, role, scope):
        name = f"r{role['id']}-{scope}"
        account = self.server.post("/api/v1/service-accounts", {"name": name}).json
        scope_id = {"tenant": "1", "department": self.targets[0].department["id"], "project": self.targets[0].project}[
            scope
        ]
        rule = {"subjectId": account["clientId"], "subjectType": "service-account", "roleId": role["id"]}
        assert self.server.post(RULES, {**rule, "scopeType": scope, "scopeId": scope_id}).status == 201
        caller = Caller(name, self.token_of(account), role["name"], scope, self.places[scope])
        caller.account = account
        return caller

    def token_of(self, account):
        grant = {
            "grantType": "client_credentials",
            "clientId": account["clientId"],
            "clientSecret": account["clientSecret"],
        }
        return self.server.request("POST", "/api/v1/token", grant, token=None).json["accessToken"]

    def strangers(self):
        """Whoever must get 401: no token, or one that is not good (any more)."""
        disabled, deleted = [
            self.server.post("/api/v1/service-accounts", {"name": name}).json for name in ("disabled", "deleted")
        ]
        tokens = {account["name"]: self.token_of(account) for account in (disabled, deleted)}
        path = "/api/v1/service-accounts/"
        assert self.server.request("PATCH", path + disabled["id"], {"enabled": False}).status == 200
        assert self.server.delete(path + deleted["id"]).status == 204
        good = self.callers[0].token
        tokens |= {
            "nobody": None,
            "expired": expired(self.server, good),
            "forged": forged(good),
            "unsigned": unsigned(good),
        }
        return [Caller(name, token) for name, token in tokens.items()]

    def send(self, method, path, body, token):
        """On one connection, as far as the server keeps it."""
        headers = {"Authorization": "Bearer " + token} if token else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        for is_last in (False, True):
            try:
                self.connection.request(method, path, body, headers)
                answer = self.connection.getresponse()
                break
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self.connection.close()
                if is_last:
                    raise
        if answer.headers.get("Content-Type", "").startswith("text/event-stream"):
            self.connection.close()
            return Answer(answer.status, answer.headers, b"")
        return Answer(answer.status, answer.headers, answer.read())

    # A request of the table for a target.

    def values(self, name, target):
        """What stands in the place of {words} in a path, a query or a body."""
        kind = next((k for k, word in KINDS if word in name), "trainings")
        template = next((k for k in TEMPLATES if k.removesuffix("s") in name), "trainings")
        asset = next((k for k in SPECS if k.split("/")[0].removesuffix("s") in name), "compute")
        now = time.time()
        at = lambda ago: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - ago))  # noqa: E731
        return {
            "new": f"new{next(self.numbers)}",
            "Kind": f"Kind{next(self.numbers)}",
            "cluster": self.cluster,
            "clusterUuid": self.cluster,
            "department": target.department["id"],
            "departmentId": target.department["id"],
            "department name": target.department["name"],
            "project": target.project,
            "projectId": target.project,
            "workload": target.workloads[kind],
            "workloadId": target.workloads[kind],
            "podId": target.replica if kind == "inferences" else target.pod,
            "AssetId": target.assets[asset],
            "templateId": target.templates[template],
            "template name": f"{target.mark}-{template}-template",
            "asset name": f"{target.mark}-{asset.replace('/', '-')}-asset",
            "datasourceKind": "nfs",
            "credentialKind": "password",
            "rule": target.rule,
            "accessRuleId": target.rule,
            "subject": self.subject["clientId"],
            "start": at(3600),
            "end": at(0),
            "nodepoolName": "default",
            "nodeName": "node-0",
            "sessionId": "00000000-0000-4000-8000-000000000000",
            "accessKeyId": "00000000-0000-4000-8000-000000000000",
            "viewId": "00000000-0000-4000-8000-000000000000",
            "reportId": "00000000-0000-4000-8000-000000000000",
            "settingKey": "cpuQuota",
            "key": "browserSessionTimeout",
            "nodeId": self.node,
            "permissionSetId": "Basics",
            "name": "nowhere",  # of a notification channel
            "id": "00000000-0000-4000-8000-000000000000",  # of a subscription
            "categoryId": self.category,
            "tenantId": "1",
            "roleIdPath": "9",
            "roleId": "9",
            **self.own_values(name),
            **self.made(name, target),
            **self.nowhere,
        }

    def own_values(self, name):
        """Things of the cluster or the tenant, made when they are first needed; what a caller deleted is made again."""
        values = {}
        for word, (path, make) in MAKERS.items():
            if "{%s}" % word not in self.served[name][1] or (word == "nodeName" and name == "update_node_labels"):
                continue
            if word == "roleId" and self.served[name][0] == "GET":
                continue
            if (word, path) not in self.things:
                answer = self.server.post(path, make(self, f"own{next(self.numbers)}"))
                assert answer.status in (200, 201, 202), answer
                self.things[word, path] = str(
                    answer.json.get("id") or answer.json.get("name") or answer.json["user"]["id"]
                )
            values[word] = self.things[word, path]
        return values

    def made(self, name, target):
        """A department or project of its own for what deletes one, or a cluster."""
        if name == "delete_cluster":
            path, word, body = "/api/v1/clusters", "clusterUuid", {"version": "2.24.0"}
        elif name == "delete_project":
            path, word = "/api/v1/org-unit/projects", "projectId"
            body = {"clusterId": self.cluster, "parentId": target.department["id"], "resources": []}
        elif name == "delete_department":
            path, word, body = (
                "/api/v1/org-unit/departments",
                "departmentId",
                {"clusterId": self.cluster, "resources": []},
            )
        else:
            return {}
        if (word, path) not in self.things:
            answer = self.server.post(path, {"name": f"own{next(self.numbers)}", **body})
            assert answer.status == 201, answer
            self.things[word, path] = answer.json.get("id") or answer.json["uuid"]
        return {word: self.things[word, path]}

    def mend(self, name, target):
        """What a caller who may has deleted comes back, under the same name."""
        for word in ("clusterUuid", "projectId", "departmentId"):
            for key in [k for k in self.things if k[0] == word]:
                del self.things[key]
        for kind in ("trainings", "workspaces", "distributed", "inferences"):
            if name == f"delete_{kind.removesuffix('s')}":
                more = {"distributedFramework": "PyTorch", "numWorkers": 1} if kind == "distributed" else {}
                new = f"{target.mark}-{kind}-{next(self.numbers)}"
                target.workloads[kind] = self.server.submit(new, target.project_name, 0, kind, {**LONG, **more})
                if kind == "inferences":
                    target.replica = first_pod(self.server, target.workloads[kind])
        for kind in SPECS:
            if name.startswith(f"delete_{kind.split('/')[0].removesuffix('s')}_asset"):
                target.assets[kind] = target.asset(self.server, kind, f"asset{next(self.numbers)}")
        for kind in TEMPLATES:
            if name == f"delete_{kind.removesuffix('s')}_template":
                target.templates[kind] = target.template(self.server, kind, f"template{next(self.numbers)}")
        if name == "delete_access_rule":
            target.rule = target.give_rule(self.server, self.subject)

    def forget(self, name):
        """What the operation has deleted."""
        for word, (path, _) in MAKERS.items():
            if "{%s}" % word in self.served[name][1]:
                self.things.pop((word, path), None)

    def request(self, name, target):
        method, path, _ = self.served[name]
        row = self.rows[name]
        values = self.values(name, target)

        def fill(text):
            return re.sub(r"\{([\w ]+)\}", lambda m: str(values[m[1]]), text)

        query = "?" + fill(row["query"]) if row["query"] else ""
        return method, fill(path) + query, fill(row["body"]) or None


KINDS = [("workspaces", "workspace"), ("distributed", "distributed"), ("inferences", "inference")]
MAKERS = {
    "nodepoolId": (
        "/api/v1/node-pools",
        lambda walk, name: {"name": name, "clusterId": walk.cluster, "labelKey": "pool", "labelValue": name},
    ),
    "networkTopologyId": (
        "/api/v1/network-topologies",
        lambda walk, name: {"name": name, "clusterId": walk.cluster, "levels": ["rack"]},
    ),
    "userId": ("/api/v1/users", lambda walk, name: {"email": f"{name}@lab.example"}),
    "appId": ("/api/v1/apps", lambda walk, name: {"name": name}),
    "serviceAccountId": ("/api/v1/service-accounts", lambda walk, name: {"name": name}),
    "roleId": (
        "/api/v2/authorization/roles",
        lambda walk, name: {"name": name, "description": "", "permissionSets": [{"name": "Basics"}]},
    ),
    "workloadTypeId": (
        "/api/v1/workload-types",
        lambda walk, name: {
            "name": name.title(),
            "group": "own.example",
            "categoryId": walk.category,
            "priorityId": LOW,
        },
    ),
    "nodeName": ("/api/v1/simulation/nodes", lambda walk, name: {"name": name, "gpus": 0}),
}


class Expectation:
    """What the two tables say of a caller, an operation and a target."""

    def __init__(self, walk, caller, row, target):
        self.walk, self.caller, self.row = walk, caller, row
        unit, project = target.department["id"], target.project
        self.where = {
            "tenant": (),
            "all": (),
            "whole": (1,),
            "cluster": (1,),
            "other": (2,),
            "department": (1, unit),
            "project": (1, unit, project),
            "made": (1, unit, "made") if row["operation"] == "delete_project" else (1, "made"),
        }.get(row["place"])

    def holds(self, permission):
        kind, action = permission.split(":")
        return action in self.walk.table[self.caller.role].get(kind, ())

    def may(self, permission, is_whole=False):
        """Here; what is above may be read from below."""
        kind, action = permission.split(":")
        is_below = (
            action == "read" and kind in ABOVE and not is_whole and self.caller.places[: len(self.where)] == self.where
        )
        return self.holds(permission) and (self.caller.contains(self.where) or is_below)

    def statuses(self):
        row = self.row
        allowed = [int(s) for s in row["allowed"].split()] or [200, 201, 202, 204]
        if row["permission"] in ("self", "open"):
            return allowed
        # Where the document lets everybody in, the handler looks whether it is held anywhere.
        if not self.holds(row["permission"] if row["gate"] in ("", "self") else row["gate"]):
            return [403]
        if row["place"] == "any" or (
            self.holds(row["permission"]) and self.may(row["permission"], row["place"] in ("whole", "all"))
        ):
            return allowed
        kind = row["permission"].split(":")[0]
        place = ["tenant", "cluster", "department", "project"][len(self.where)]
        if place == "tenant" or self.may(f"{place}:read") or self.may(f"{kind}:read"):
            return [403]
        return [int(s) for s in row["hidden"].split()] or [404]
