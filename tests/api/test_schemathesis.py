"""Every operation against schemathesis, which makes requests from the document and checks each answer by it: the
status, the body, the headers, what is accepted, what is there after it was made, and what is gone after it was
deleted."""

import json
import os
import re
import subprocess

from contract import DOCUMENT, METHODS
from servers import ROOT

EXAMPLES = int(os.environ.get("PRORATA_EXAMPLES", "5"))
# Checks that are left out, with the reason.
LEFT_OUT_CHECKS = [
    "positive_data_acceptance",  # rules that a schema cannot say: control characters in a name, the order of two times
]
# A stream does not end; a session's end, or that of the account and of its rights, would end the run. Slack's own
# application answers 501 where the server has no address for it, and so does a kind of channel where none is set up.
LEFT_OUT = re.compile(
    r"GET .*/stream|POST .*/slack/create-app|PATCH .*/(slack|email)/state|"
    r"(?!GET).* .*(/session|/access-rules/batch|/logout|/sign-out|/password|/security/settings/.*)"
)
OWN = re.compile(r"(?!GET).* .*/(apps|service-accounts|users|access-rules|access-keys|access-key)/.*\{")


def parameters(node):
    """All parameters of the document, wherever they are written."""
    if isinstance(node, dict):
        if {"name", "in", "schema"} <= set(node):
            yield node
        for member in node.values():
            yield from parameters(member)
    elif isinstance(node, list):
        for member in node:
            yield from parameters(member)


def served():
    """What is served, without what would end the run."""
    document = json.loads(json.dumps(DOCUMENT, default=str))
    for path, item in list(document["paths"].items()):
        for method in METHODS:
            name = f"{method.upper()} {path}"
            if method in item and (LEFT_OUT.fullmatch(name) or OWN.match(name)):
                del item[method]
        if not set(METHODS) & set(item):
            del document["paths"][path]
    for parameter in parameters(document):
        if parameter["name"] == "filterBy":  # clients send it empty where nothing is to be left out
            items = parameter["schema"]["items"]
            items["pattern"] = "^$|" + items["pattern"]
    return document


def throw_away_token(server):
    """Of an account with all rights: the administrator's own session is no part of the run."""
    account = server.post("/api/v1/service-accounts", {"name": "schemathesis"}).json
    tenant = server.get("/api/v1/authorization/access-rules").json["accessRules"][0]["scopeId"]
    rule = {
        "subjectId": account["clientId"],
        "subjectType": "service-account",
        "roleId": 1,
        "scopeType": "tenant",
        "scopeId": tenant,
        "clusterId": server.cluster_id(),
    }
    assert server.post("/api/v1/authorization/access-rules", rule).status == 201
    names = {"clientId": account["clientId"], "clientSecret": account["clientSecret"]}
    grant = server.request("POST", "/api/v1/token", {"grantType": "client_credentials", **names}, token=None)
    return grant.json["accessToken"]


def test_schemathesis_finds_nothing(server, folder):
    (folder / "served.json").write_text(json.dumps(served()))
    token = throw_away_token(server)
    programs = subprocess.run(
        [ROOT / "tools/python_tool.sh", "schemathesis"], capture_output=True, text=True, check=True
    )
    phases = "fuzzing" if EXAMPLES <= 5 else "fuzzing,stateful"
    done = subprocess.run(
        [
            f"{programs.stdout.strip()}/schemathesis",
            "run",
            folder / "served.json",
            *("--url", server.url),
            *("--header", f"Authorization: Bearer {token}"),
            *("--seed", "1"),
            *("--max-examples", str(EXAMPLES)),
            *("--phases", phases),
            *("--exclude-checks", ",".join(LEFT_OUT_CHECKS)),
            *("--suppress-health-check", "all"),
            "--no-shrink",
        ],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout.split("=== FAILURES", 1)[-1][:6000]
    assert server.request("GET", "/api/v1/org-unit/projects", token=token).status == 200, "the run has ended itself"
