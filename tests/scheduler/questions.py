"""What tests of explanations ask `prorata simulate`."""

import json
import subprocess

from servers import PRORATA

RECENT = "2026-01-01T11:59:30Z"  # half a minute ago


def ask(document, *arguments, status=0, text=None):
    done = subprocess.run(
        [PRORATA, "simulate", "-", *map(str, arguments)],
        input=text or json.dumps(document),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout) if status == 0 else done.stderr


def explained(document, name="w"):
    cycle = ask(document, "--explain")["cycles"][0]
    return {entry["code"]: entry for entry in next(w for w in cycle["workloads"] if w["name"] == name)["explanation"]}
