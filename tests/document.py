"""The API document for tests: its operations, and whether an answer keeps to it."""

import collections
import datetime
import functools
import hashlib
import json
import pathlib
import re
import uuid

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENT = yaml.load((ROOT / "openapi/openapi.yaml").read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
METHODS = ("get", "post", "put", "patch", "delete")
OPERATIONS = {
    item[m]["operationId"]: (m.upper(), path, item[m])
    for path, item in DOCUMENT["paths"].items()
    for m in METHODS
    if m in item
}


KEPT = {"type", "required", "enum", "pattern", "format"} | {"minimum", "maximum", "minLength", "maxLength", "maxItems"}
FORMATS = jsonschema.FormatChecker(formats=())


@FORMATS.checks("uuid", ValueError)
def is_uuid(value):
    return not isinstance(value, str) or str(uuid.UUID(value)) == value


@FORMATS.checks("date-time", ValueError)
def is_time(value):
    return not isinstance(value, str) or datetime.datetime.fromisoformat(value).tzinfo is not None


def resolve(node):
    while "$ref" in node:
        target = DOCUMENT
        for part in node["$ref"][2:].split("/"):
            target = target[part]
        node = target
    return node


def to_json_schema(node, inside=()):
    """OpenAPI 3.0 to JSON Schema: nullable, references in place; a schema within itself is anything."""
    if node.get("$ref", 0) in inside:
        return {}
    inside, node, out = (*inside, node.get("$ref", "")), resolve(node), {}
    for key, value in node.items():
        if key == "properties":
            out[key] = {name: to_json_schema(schema, inside) for name, schema in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            out[key] = to_json_schema(value, inside)
        elif key in ("allOf", "anyOf", "oneOf"):
            out[key] = [to_json_schema(schema, inside) for schema in value]
        elif key in KEPT:
            out[key] = value
    return {"anyOf": [out, {"type": "null"}]} if node.get("nullable") else out


@functools.cache
def answer_schema(operation_id, status):
    answers = OPERATIONS[operation_id][2]["responses"]
    content = resolve(answers[str(status)]).get("content", {}) if str(status) in answers else {}
    return to_json_schema(content["application/json"]["schema"]) if "application/json" in content else None


@functools.cache
def answer_validator(operation_id, status):
    schema = answer_schema(operation_id, status)
    return None if schema is None else jsonschema.Draft7Validator(schema, format_checker=FORMATS)


def check_answer(operation_id, answer):
    """The status is one that the document lists, and the body is of its schema."""
    answers = OPERATIONS[operation_id][2]["responses"]
    assert str(answer.status) in answers, f"{operation_id}: {answer.status} is not in the document: {answer.body[:300]}"
    assert not re.search(rb"\\u000[1-4]", answer.body), (
        f"{operation_id}: a name's mark (model/told.h) in {answer.body[:300]}"
    )
    validator = answer_validator(operation_id, answer.status)
    if validator is not None and answer.headers["Content-Type"] == "application/json":
        problem = jsonschema.exceptions.best_match(validator.iter_errors(answer.json))
        if problem:
            where = ".".join(str(p) for p in problem.absolute_path)
            raise AssertionError(f"{operation_id} {answer.status}: {where}: {problem.message[:300]}")


# Every answer of every test run is looked at. A long list counts by its first rows; after many answers of an operation
# only those of a form that has not been seen.
ROWS_MAX = 4
ANSWERS_MAX = 40
SEEN, COUNTS = set(), collections.Counter()


@functools.cache
def patterns():
    """(method, pattern of the path, operation), those with fewer parameters first."""
    found = [
        (method, re.compile(re.sub(r"{\w+}", "[^/]+", re.escape(path).replace(r"\{", "{").replace(r"\}", "}"))), name)
        for name, (method, path, _) in OPERATIONS.items()
    ]
    return sorted(found, key=lambda row: row[1].pattern.count("[^/]+"))


@functools.cache
def operation_of(method, path):
    return next((name for m, pattern, name in patterns() if m == method and pattern.fullmatch(path)), None)


def shortened(value):
    if isinstance(value, dict):
        return {key: shortened(member) for key, member in value.items()}
    return [shortened(element) for element in value[:ROWS_MAX]] if isinstance(value, list) else value


def form_of(value):
    """What a schema looks at, but for the texts themselves."""
    if isinstance(value, dict):
        return {key: form_of(member) for key, member in value.items()}
    return [form_of(element) for element in value] if isinstance(value, list) else type(value).__name__


class Shortened:
    def __init__(self, answer):
        self.status, self.headers, self.body, self.json = (
            answer.status,
            answer.headers,
            answer.body,
            shortened(answer.json),
        )


def check_any_answer(method, target, answer):
    """As check_answer, of whatever request this was; what is no operation is not looked at."""
    name = operation_of(method, target.split("?")[0]) if len(answer.body) < 1 << 20 else None
    if not name or answer.headers.get("Content-Type") != "application/json" or not answer.body:
        return
    if answer.headers.get("Content-Encoding") or b'"Idempotency-Key: ' in answer.body:
        return  # packed; or a 409 that any creation may answer to the one who sent that header
    short = Shortened(answer)
    form = json.dumps([name, answer.status, form_of(short.json)], sort_keys=True)
    seen = hashlib.sha256(form.encode()).digest()
    COUNTS[name, answer.status] += 1
    if seen not in SEEN or COUNTS[name, answer.status] < ANSWERS_MAX:
        check_answer(name, short)
        if name == "get_workloads" and answer.status == 200 and "fields=" not in target:
            check_whole_rows(short.json["workloads"])
        SEEN.add(seen)


@functools.cache
def row_validator():
    schema = to_json_schema({"$ref": "#/components/schemas/Workload"})
    return jsonschema.Draft7Validator(schema, format_checker=FORMATS)


def check_whole_rows(rows):
    """The document lets a row of a list be a part; one that nobody asked a part of is whole."""
    for row in rows:
        problem = jsonschema.exceptions.best_match(row_validator().iter_errors(row))
        assert not problem, f"get_workloads: {problem.message[:300]}"
