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


@pytest.mark.parametrize(
    "query, message, details",
    [
        ("filterBy=phase==Running,phas==Pending", 'filterBy: not a condition on a known field: "phas==Pending"', ""),
        ("filterBy=phase==", "filterBy: no value for phase", ""),
        ("limt=1", "limt: unknown parameter", "limit is one"),
        ("sort_by=name", "sort_by: unknown parameter", "sortBy is one"),
        ("filterBy=createdAt>=2026-01-01T00:00:00+02:00", "filterBy: createdAt is compared with", "%2B"),
    ],
)
def test_what_is_misspelt_in_a_query_is_refused(module_server, query, message, details):
    answer = module_server.get("/api/v1/workloads?" + query)
    assert answer.status == 400 and answer.json["message"].startswith(message), answer
    assert details in answer.json.get("details", ""), answer


def test_a_time_with_a_plus_that_is_not_encoded_is_told_of_it(module_server):
    for path in ("/api/v1/events?start=", "/api/v1/scheduler/receipts?since="):
        answer = module_server.get(path + "2026-01-01T00:00:00+02:00")
        assert answer.status == 400 and "%2B" in answer.json["details"], answer
        assert module_server.get(path + "2026-01-01T00:00:00%2B02:00").status == 200


def test_a_blank_after_the_comma_of_a_filter_is_no_part_of_it(module_server):
    assert module_server.get("/api/v1/workloads?filterBy=phase!=Running,%20phase!=Failed").status == 200


def test_a_parameter_of_another_version_is_passed_over_where_others_have_clients(module_server):
    assert module_server.get("/api/v1/workloads?somethingNew=1").status == 200
    answer = module_server.get("/api/v1/workloads/idle?somethingNew=1")
    assert answer.status == 400 and answer.json["message"] == "somethingNew: unknown parameter", answer
    assert answer.json["details"].startswith("It takes ") and "minIdleSeconds" in answer.json["details"], answer
