"""Runs a case of cases/*.json against an API server: requests in order, each with the answer that must come.

A case is {"name", "steps"} and, where only some versions know it, "from" or "until" (minor versions, both included).
A step is one of
- {"do": "POST {pods}", "body", "as": content type, "headers", "code", "reason", "causes", "retry_after", "has",
  "lacks", "keep"}:
  "causes" are "REASON field" (or one of the two); "has" is {dotted path: value}, where {"not": v}, {"any": true} and
  {"matches": expression} stand for values; "keep" is {name: dotted path of the answer}, {name} in later steps.
- {"watch": path, "as": name} opens a watch; {"see": name, "events": [[type, object, {dotted path: value}], ...],
  "then": "silence" | "end"} reads its events; bookmarks are passed over unless they are named.
"by": {"26": {...}} in a step changes it up to that minor version. "{ns}" is a namespace of the case's own, "{pods}"
its pods, "{long}" 300,000 letters. A body may be {"pod": name, ...}: a whole pod with more laid over it; or
{"bind": name, ...}."""

import base64
import contextlib
import copy
import http.client
import json
import queue
import re
import ssl
import tempfile
import threading
import urllib.parse

import yaml

PATCH_TYPES = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
}
QUIET_S = 0.25  # a watch that says nothing for so long is silent


class Api:
    """An API server by its kubeconfig: a token or a client certificate."""

    def __init__(self, kubeconfig):
        with open(kubeconfig, encoding="utf-8") as file:
            config = yaml.safe_load(file)
        context = next(c["context"] for c in config["contexts"] if c["name"] == config["current-context"])
        cluster = next(c["cluster"] for c in config["clusters"] if c["name"] == context["cluster"])
        user = next(u["user"] for u in config["users"] if u["name"] == context["user"])
        server = urllib.parse.urlsplit(cluster["server"])
        self.address, self.tls = server.netloc, None
        if server.scheme == "https":
            self.tls = ssl.create_default_context(
                cafile=cluster.get("certificate-authority"), cadata=self.text(cluster, "certificate-authority-data")
            )
            self.load_certificate(user)
        self.headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}

    @staticmethod
    def text(values, key):
        return base64.b64decode(values[key]).decode() if key in values else None

    def load_certificate(self, user):
        if "client-certificate" in user:
            self.tls.load_cert_chain(user["client-certificate"], user["client-key"])
        elif "client-certificate-data" in user:
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(self.text(user, "client-certificate-data") + self.text(user, "client-key-data"))
                file.flush()
                self.tls.load_cert_chain(file.name)

    @contextlib.contextmanager
    def open(self, method, path, body=None, headers=None):
        if self.tls:
            connection = http.client.HTTPSConnection(self.address, timeout=60, context=self.tls)
        else:
            connection = http.client.HTTPConnection(self.address, timeout=60)
        try:
            connection.request(
                method, path, body, self.headers | {"Content-Type": "application/json"} | (headers or {})
            )
            yield connection.getresponse()
        finally:
            connection.close()

    def ask(self, method, path, body=None, headers=None):
        with self.open(method, path, None if body is None else json.dumps(body), headers) as answer:
            text = answer.read().decode(errors="replace")
            return answer.status, answer.headers, json.loads(text) if text.startswith("{") else text

    def minor(self):
        return int(re.match(r"v1\.(\d+)", self.ask("GET", "/version")[2]["gitVersion"])[1])


class Watch:
    def __init__(self, api, path):
        self.lines, self.opened = queue.Queue(), threading.Event()
        self.thread = threading.Thread(target=self.read, args=(api, path), daemon=True)
        self.thread.start()
        assert self.opened.wait(60), f"{path} does not open"

    def read(self, api, path):
        try:
            with api.open("GET", path) as answer:
                self.code = answer.status
                self.opened.set()
                for line in answer:
                    self.lines.put(json.loads(line))
        except OSError as end:
            self.lines.put({"type": "CUT", "object": str(end)})
        self.lines.put(None)

    def next(self, wait_s, with_bookmarks):
        while True:
            line = self.lines.get(timeout=wait_s)
            if line is None or with_bookmarks or line["type"] != "BOOKMARK":
                return line


def lay_over(below, above):
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return copy.deepcopy(above)
    return {**below, **{key: lay_over(below.get(key), value) for key, value in above.items()}}


def whole_body(body):
    """{"pod": name} and {"bind": name} become what they stand for."""
    if not isinstance(body, dict):
        return body
    more = {key: value for key, value in body.items() if key not in ("pod", "bind")}
    if "pod" in body:
        container = {"name": "main", "image": "example.com/image:1"}
        pod = {"metadata": {"name": body["pod"]}, "spec": {"containers": [container]}}
        if "container" in more:
            pod["spec"]["containers"] = [container | more.pop("container")]
        return lay_over({"apiVersion": "v1", "kind": "Pod", **pod}, more)
    if "bind" in body:
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": body["bind"]}}
        return lay_over({**binding, "target": {"kind": "Node", "name": "no-such-node"}}, more)
    return body


def at(value, path):
    """The value at a dotted path; numbers are places in lists; a list's item may be named: conditions[type=Ready]."""
    for part in re.findall(r"\[[^\]]*\]|(?:\\.|[^.\[])+", path):
        part = part.replace("\\.", ".")
        if part.startswith("["):
            key, wanted = part[1:-1].split("=")
            value = next((item for item in value or [] if item.get(key) == wanted), None)
        elif isinstance(value, list):
            value = value[int(part)] if int(part) < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value


def agrees(found, wanted):
    if isinstance(wanted, dict) and len(wanted) == 1:
        ((how, value),) = wanted.items()
        if how == "any":
            return (found is not None) == value
        if how == "not":
            return found != value
        if how == "matches":
            return isinstance(found, str) and re.search(value, found) is not None
        if how == "length":
            return len(found or []) == value
    return found == wanted


class Case:
    def __init__(self, api, minor, namespace):
        self.api, self.minor = api, minor
        self.kept = {"ns": namespace, "pods": f"/api/v1/namespaces/{namespace}/pods", "long": "x" * 300_000}
        self.watches = {}

    def fill(self, value):
        if isinstance(value, str):
            return re.sub(r"\{(\w+)\}", lambda found: str(self.kept.get(found[1], found[0])), value)
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        if isinstance(value, dict):
            return {self.fill(key): self.fill(item) for key, item in value.items()}
        return value

    def run(self, steps):
        for number, step in enumerate(steps):
            for until, change in sorted(step.get("by", {}).items(), key=lambda item: -int(item[0])):
                if self.minor <= int(until):
                    step = {**step, **change}
            self.run_step(number, step)

    def run_step(self, number, step):
        if "watch" in step:
            self.watches[step["as"]] = Watch(self.api, self.fill(step["watch"]))
        elif "see" in step:
            self.see(number, self.fill(step))
        else:
            self.do(number, step)

    def do(self, number, step):
        method, path = self.fill(step["do"]).split(" ", 1)
        headers = {"Content-Type": PATCH_TYPES.get(step["as"], step["as"])} if "as" in step else {}
        code, heads, answer = self.api.ask(
            method, path, self.fill(whole_body(step.get("body"))), headers | step.get("headers", {})
        )
        said = f"step {number}: {method} {path}: {code} {json.dumps(answer)[:900]}"
        assert code == step.get("code", 201 if method == "POST" else 200), said
        if code >= 400 or "reason" in step:
            assert (answer.get("reason") or None if isinstance(answer, dict) else None) == step.get("reason"), said
        if "causes" in step:
            self.check_causes(answer, step["causes"], said)
        if "retry_after" in step:
            assert heads["Retry-After"] == step["retry_after"], f"{said}: Retry-After {heads['Retry-After']}"
        for path, wanted in self.fill(step.get("has", {})).items():
            assert agrees(at(answer, path), wanted), f"{said}: {path} is {at(answer, path)!r}, not {wanted!r}"
        for name, path in step.get("keep", {}).items():
            self.kept[name] = at(answer, path)
            assert self.kept[name] is not None, f"{said}: there is no {path}"

    @staticmethod
    def check_causes(answer, wanted, said):
        causes = answer.get("details", {}).get("causes", [])
        words = [f"{cause.get('reason', '')} {cause.get('field', '')}".strip() for cause in causes]
        assert sorted(words) == sorted(wanted), f"{said}: causes are {words}"

    def see(self, number, step):
        watch, wanted = self.watches[step["see"]], step["events"]
        with_bookmarks = any(event[0] == "BOOKMARK" for event in wanted)
        for kind, name, *more in wanted:
            try:
                event = watch.next(60, with_bookmarks)
            except queue.Empty:
                event = {"type": "silence", "object": {}}
            said = f"step {number}: {json.dumps(event)[:900]}"
            assert event is not None, f"step {number}: the watch ended before {kind} {name}"
            assert event["type"] == kind, f"{said}: not {kind} {name}"
            assert name is None or at(event["object"], "metadata.name") == name, f"{said}: not {kind} {name}"
            for path, value in (more[0] if more else {}).items():
                found = at(event["object"], path)
                assert agrees(found, value), f"{said}: {path} is {found!r}, not {value!r}"
        if step.get("then") == "end":
            assert watch.next(60, with_bookmarks) is None
        elif step.get("then") == "silence":
            with contextlib.suppress(queue.Empty):
                raise AssertionError(f"step {number}: not silent: {watch.next(QUIET_S, with_bookmarks)}")
