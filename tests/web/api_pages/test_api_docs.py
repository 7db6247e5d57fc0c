"""The API's pages: Swagger UI from our own origin, under its policy."""

import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent
METHODS = ("get", "post", "put", "patch", "delete")


def test_api_docs_show_every_operation(server):
    document = server.request("GET", "/api/v1/swagger.json", token=None).json
    count = sum(method in METHODS for item in document["paths"].values() for method in item)
    run = subprocess.run(["node", str(HERE / "api_docs.mjs"), server.url], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    seen = json.loads(run.stdout)
    assert seen["operations"] == count
    assert seen["title"] == "prorata API"
    assert seen["troubles"] == {"foreign": [], "errors": [], "violations": []}
