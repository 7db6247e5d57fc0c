"""Every list: each field that the document lets a caller filter or sort by is one that the list knows."""

import pathlib
import re

import pytest
import yaml

DOCUMENT = yaml.safe_load((pathlib.Path(__file__).resolve().parents[2] / "openapi" / "openapi.yaml").read_text())
VALUES = ("x", "1", "true", "2026-01-01T00:00:00Z")


def resolve(node):
    while "$ref" in node:
        target = DOCUMENT
        for part in node["$ref"][2:].split("/"):
            target = target[part]
        node = target
    return node


def lists():
    for path, item in DOCUMENT["paths"].items():
        operation = item.get("get", {})
        parameters = {p["name"]: resolve(p.get("schema", {})) for p in map(resolve, operation.get("parameters", []))}
        if "{" in path.replace("{clusterUuid}", ""):
            continue
        pattern = resolve(parameters.get("filterBy", {}).get("items", {})).get("pattern", "")
        fields = re.match(r"\^\(([^)]*)\)", pattern)
        required = [
            p for p in map(resolve, operation.get("parameters", [])) if p.get("required") and p["in"] == "query"
        ]
        if (fields or "sortBy" in parameters) and not required:
            yield path, fields.group(1).split("|") if fields else [], parameters.get("sortBy", {}).get("enum", [])


LISTS = list(lists())


@pytest.mark.parametrize("path,filters,sorts", LISTS, ids=[path for path, _, _ in LISTS])
def test_every_field_is_known(module_server, path, filters, sorts):
    path = path.replace("{clusterUuid}", module_server.cluster_id())
    for field in filters:
        answers = [module_server.get(path, filterBy=f"{field}=={value}") for value in VALUES]
        assert 200 in [a.status for a in answers], (field, answers)
        assert all(a.status in (200, 400) and b"no field" not in a.body for a in answers), (field, answers)
    for field in sorts:
        for order in ("asc", "desc"):
            answer = module_server.get(path, sortBy=field, sortOrder=order)
            assert answer.status == 200, (field, answer)


def test_there_are_lists():
    assert len(LISTS) >= 12
