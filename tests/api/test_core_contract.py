"""Our document against the core of Run:ai's, field by field: every difference stands in core/differences.psv with its
reason, and none stands there that is none."""

import pathlib
import re

import pytest
from core_contract import Comparison, load

HERE = pathlib.Path(__file__).parent
LISTED = [
    line.split("|")
    for line in (HERE / "core/differences.psv").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def matches(pattern, text):
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), text) is not None


def is_listed(row, difference):
    where, what, how = difference
    return matches(row[0], where) and what == row[1] and matches(row[2], how)


@pytest.fixture(scope="module")
def found():
    old = load(HERE / "core/api-core.yaml")
    assert sum(m in item for item in old["paths"].values() for m in ("get", "post", "put", "patch", "delete")) == 214
    return Comparison(old, load(HERE.parents[1] / "openapi/openapi.yaml")).found


def test_every_difference_is_listed(found):
    unlisted = [d for d in found if not any(is_listed(row, d) for row in LISTED)]
    assert not unlisted, "\n".join(" | ".join(d) for d in unlisted[:100])


@pytest.mark.parametrize("row", LISTED, ids=lambda row: f"{row[0]} {row[1]}")
def test_every_line_is_a_difference_and_has_its_reason(found, row):
    assert len(row) == 4 and len(row[3].split()) >= 3
    assert any(is_listed(row, difference) for difference in found)


def test_a_difference_is_seen():
    """Of each kind that a client would trip over."""
    words = {"type": "string", "enum": ["a", "b"]}
    body = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}, "w": words}}

    def document(body, **more):
        answer = {"200": {"content": {"application/json": {"schema": body}}}}
        operation = {"operationId": "x", "responses": answer, **more}
        return {"paths": {"/x": {"get": operation}}}

    def differences(**change):
        new = {**body, **change}
        return Comparison(document(body), document(new)).found

    assert differences() == []
    assert ("GET /x 200.n", "optional", "") in differences(required=[])
    assert ("GET /x 200.n", "type", "integer -> string") in differences(
        properties={"n": {"type": "string"}, "w": words}
    )
    assert ("GET /x 200.w", "lacks", "") in differences(properties={"n": {"type": "integer"}})
    fewer = {"n": {"type": "integer"}, "w": {**words, "enum": ["a"]}}
    assert differences(properties=fewer) == [("GET /x 200.w", "enum lacks", "b")]
    query = {"parameters": [{"in": "query", "name": "q", "schema": {}}]}
    assert Comparison(document(body, **query), document(body)).found == [("GET /x query q", "lacks", "")]
    assert Comparison(document(body), {"paths": {}}).found == [("GET /x", "lacks", "")]
