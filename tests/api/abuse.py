"""Hostile requests for every operation, made from the document: values that it forbids, and bytes that no client sends.

A row is (what is wrong, path, query, headers, body, refused): refused where the document forbids it, so that only an
answer of 400 to 499 will do; else any answer that the document lists, short of a server's fault."""

import collections
import copy
import json
import re
import urllib.parse

from contract import OPERATIONS, resolve

NOBODY = "00000000-0000-4000-8000-000000000000"
MARK = "@@here@@"
DEPTH_MAX = 5
FULL_MAX = 5  # places of one form in a body that get all there is; those after them get one of each
TEXTS = ("description", "example", "title")
# Text of a JSON value that no parser of ours may take: where it stands does not matter, so it stands once for a type.
NO_VALUES = [
    ("an integer past 64 bits", "9223372036854775808"),
    ("a number past doubles", "1e400"),
    ("a NUL in a text", '"a\\u0000b"'),
    ("half a surrogate pair", '"\\ud800"'),
    ("not a number", "NaN"),
    ("a cut text", '"a'),
    ("a leading zero", "01"),
]
# Bytes in place of a whole body.
NO_BODIES = [
    ("no body", b""),
    ("half a body", b'{"'),
    ("two bodies", b"{}{}"),
    ("null", b"null"),
    ("a byte order mark", b"\xef\xbb\xbf{}"),
    ("invalid UTF-8", b'{"a":"\xff\xfe"}'),
    ("an overlong NUL", b'{"a":"\xc0\x80"}'),
    ("UTF-16", '{"a":1}'.encode("utf-16")),
    ("a key twice", b'{"name":"a","name":"b"}'),
    ("a thousand levels", b"[" * 1000 + b"]" * 1000),
    ("levels without end", b'{"a":' * 100_000),
    ("a NUL as it is", b'{"a":"\x00"}'),
]
# Values for a path or a query, escaped already. Where the document names a type, these are refused.
NO_TEXTS = [
    ("invalid UTF-8", "%ff%fe"),
    ("an overlong slash", "%c0%af"),
    ("a NUL", "a%00b"),
]
INJECTIONS = [
    "' OR '1'='1",
    '"; DROP TABLE users; --',
    "1) UNION SELECT secret FROM secrets --",
    "\\",
    "%",
    "*?[a]",
    "$ne",
]
TYPES = {
    "object": {"type": "object"},
    "array": [{}],
    "string": "x",
    "number": 1.5,
    "integer": 7,
    "boolean": True,
}


def kind_of(schema):
    """The type, of a schema that is put together too; None where anything goes."""
    if "type" in schema or "enum" in schema:
        return schema.get("type", "string")
    if "properties" in schema:
        return "object"
    kinds = {kind_of(resolve(part)) for part in schema.get("allOf", [])} - {None}
    return kinds.pop() if len(kinds) == 1 else None


def members_of(schema):
    """(properties, required) of an object, put together."""
    properties, required = dict(schema.get("properties", {})), set(schema.get("required", []))
    for part in schema.get("allOf", []):
        more, needed = members_of(resolve(part))
        properties.update(more)
        required |= needed
    return properties, required


def least(schema, depth=0):
    """A small value that keeps to the schema, as far as it says."""
    schema = resolve(schema)
    if "example" in schema:
        return schema["example"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = kind_of(schema)
    if kind == "object":
        properties, required = members_of(schema)
        return {
            name: least(properties[name], depth + 1) for name in sorted(required) if name in properties and depth < 8
        }
    if kind == "array":
        return []
    if kind in ("integer", "number"):
        return max(schema.get("minimum", 1), min(1, schema.get("maximum", 1)))
    if kind == "boolean":
        return False
    formats = {
        "uuid": NOBODY,
        "date-time": "2026-01-01T00:00:00Z",
        "email": "a@example.org",
        "uri": "https://example.org",
    }
    return formats.get(schema.get("format"), "a" * max(1, schema.get("minLength", 1)))


def wrong_types(schema):
    kind = kind_of(schema)
    others = [o for o in TYPES if kind and o != kind and not (kind == "number" and o == "integer")]
    return [(f"{other} for {kind}", json.dumps(TYPES[other])) for other in others]


def wrong_values(schema):
    """(what is wrong, text of the value): what the schema forbids, types apart."""
    kind = kind_of(schema)
    if kind is None:
        return
    if not schema.get("nullable"):
        yield "null", "null"
    if kind in ("integer", "number"):
        for bound, step in (("minimum", -1), ("maximum", 1)):
            if bound in schema:
                yield f"past its {bound}", json.dumps(schema[bound] + step)
    if kind == "string" and "enum" in schema:
        yield "an unknown word", '"explode"'
        yield "a word in other capitals", json.dumps(str(schema["enum"][0]).swapcase() + "_")
    if kind == "string" and "maxLength" in schema:
        yield "a text too long", json.dumps("a" * (schema["maxLength"] + 1))
    if kind == "string" and schema.get("minLength"):
        yield "a text too short", '""'
    if kind == "array" and "maxItems" in schema:
        item = least(schema.get("items", {}))
        yield "too many", json.dumps([item] * (schema["maxItems"] + 1))


def odd_values(schema):
    """(what is odd, text of the value): the schema may allow it, the server must live."""
    kind = kind_of(schema)
    if kind == "string" and "enum" not in schema:
        for text in [*INJECTIONS, "../../etc/passwd", "%s%n", "a" * 70_000, "\u202e\u0007", "{{7*7}}"]:
            yield f"{text[:20]!r}", json.dumps(text)
    if kind in ("integer", "number"):
        for number in ("9223372036854775807", "-9223372036854775808", "4294967296", "-0", "1e308", "1e-320"):
            yield number, number
    if kind == "array":
        yield "the same a hundred times", json.dumps([least(schema.get("items", {}))] * 100)


def places(schema, path=(), seen=()):
    """(path, schema) of what a body may hold; a schema within itself once."""
    reference = schema.get("$ref")
    if reference in seen or len(path) > DEPTH_MAX:
        return
    seen = (*seen, reference) if reference else seen
    schema = resolve(schema)
    if path:
        yield path, schema
    if kind_of(schema) == "object":
        for name, member in members_of(schema)[0].items():
            yield from places(member, (*path, name), seen)
    elif kind_of(schema) == "array" and "items" in schema:
        yield from places(schema["items"], (*path, 0), seen)


def body_with(schema, path, text):
    """A least body with this JSON text at a place."""
    body = least(schema)
    body = copy.deepcopy(body)
    if not path:
        return text
    holder, schema = body, resolve(schema)
    for step, following in zip(path, [*path[1:], None], strict=True):
        member = schema["items"] if isinstance(step, int) else members_of(schema)[0][step]
        if isinstance(step, int):
            while len(holder) <= step:
                holder.append(least(member))
        if following is None:
            holder[step] = MARK
        else:
            empty = [] if isinstance(following, int) else {}
            there = holder[step] if isinstance(step, int) else holder.get(step)
            if not isinstance(there, type(empty)):
                there = least(member)
            holder[step] = there if isinstance(there, type(empty)) else empty
            holder, schema = holder[step], resolve(member)
    return json.dumps(body).replace(json.dumps(MARK), text)


def bodies(content):
    """(what is wrong, content type, bytes, refused)."""
    ((media, node),) = content.items()
    schema = node["schema"]
    if media != "application/json":
        for name, text in NO_TEXTS:
            yield name, media, f"grant_type={text}&username={text}&password={text}".encode(), True
        yield "a key twice", media, b"grant_type=password&grant_type=password", True
        yield "half an escape", media, b"grant_type=%&username=%2&password=%zz", True
        yield "a megabyte and more", media, b"a" * 1_100_000, True
        return
    whole = json.dumps(least(schema)).encode()
    for name, data in NO_BODIES:
        if not (name == "null" and resolve(schema).get("nullable")):
            yield name, media, data, name != "a key twice" or None
    yield "a megabyte and more", media, b'{"a":"' + b"a" * 1_100_000 + b'"}', True
    yield "another form", "application/xml", whole, True
    yield "words for a form", "application/json; charset=utf-16", whole, None
    for name, text in (*wrong_types(resolve(schema)), *wrong_values(resolve(schema))):
        yield f"body: {name}", media, text.encode(), True
    forms, kinds = collections.Counter(), set()
    for path, place in places(schema):
        where = ".".join(map(str, path))
        form = json.dumps({key: value for key, value in place.items() if key not in TEXTS}, default=str)
        forms[form] += 1
        told = [*wrong_types(place), *wrong_values(place)]
        odd = list(odd_values(place))
        if forms[form] > FULL_MAX:  # a policy has the same rule at hundreds of fields
            told, odd = told[:1], odd[:1]
        if kind_of(place) not in kinds:
            told += NO_VALUES
        kinds.add(kind_of(place))
        for name, text in told:
            yield f"{where}: {name}", media, body_with(schema, path, text).encode(), True
        for name, text in odd:
            yield f"{where}: {name}", media, body_with(schema, path, text).encode(), None
    for path, place in [((), resolve(schema)), *places(schema)]:
        if kind_of(place) == "object":
            for name in sorted(members_of(place)[1]):
                value = least(place)
                if isinstance(value, dict):
                    value.pop(name, None)
                    text = body_with(schema, path, json.dumps(value))
                    yield f"{'.'.join(map(str, path))}: without {name}", media, text.encode(), True


def texts_of(schema):
    """(what is wrong, escaped text, refused) of a parameter."""
    kind = kind_of(schema)
    for name, text in NO_TEXTS:
        yield name, text, True
    if kind in ("integer", "number"):
        for text in ("", "x", "1x", "%201", "0x10", "1e400", "9223372036854775808", "-9223372036854775809", "1,2"):
            yield f"{text!r} for {kind}", text, True
        if kind == "integer":
            yield "a half", "1.5", True
        for bound, step in (("minimum", -1), ("maximum", 1)):
            if bound in schema:
                yield f"past its {bound}", str(schema[bound] + step), True
    elif kind == "boolean":
        for text in ("", "2", "yes", "truth", "null"):
            yield f"{text!r} for boolean", text, True
    elif kind == "string" and "enum" in schema:
        for text in ("explode", "", schema["enum"][0].swapcase() + "_"):
            yield "an unknown word", text, True
    elif kind == "string":
        if schema.get("format") in ("uuid", "date-time"):
            for text in ("x", "2026-13-01T00:00:00Z", NOBODY + "0", "%27"):
                yield f"{text!r} for {schema['format']}", text, True
        if "maxLength" in schema:
            yield "a text too long", "a" * (schema["maxLength"] + 1), True
    for text in (*INJECTIONS, "a" * 3000):
        yield f"{text[:20]!r}", urllib.parse.quote(text, safe=""), None


def filters_of(schema):
    """(what is wrong, escaped text, refused) of filterBy."""
    field = re.match(r"\^\(([\w|]+)\)", schema["items"]["pattern"])[1].split("|")[0]
    for text in ("password==a", f"{field}", f"{field}=a", f"=={field}", f"{field}==", ",", f"({field}==a)"):
        yield text, urllib.parse.quote(text, safe=","), True
    for text in INJECTIONS:
        yield f"{field}=={text}", urllib.parse.quote(f"{field}=={text}", safe=""), None
        yield f"{text}==a", urllib.parse.quote(f"{text}==a", safe=""), True
    yield "a thousand", urllib.parse.quote(",".join([f"{field}==a"] * 300), safe=","), None


def requests_of(operation_id):
    """All rows of an operation. Ids are of nobody: what is wrong is looked at before who has it."""
    _, template, node = OPERATIONS[operation_id]
    parameters = [resolve(parameter) for parameter in node.get("parameters", [])]
    paths = {p["name"]: str(least(p["schema"])) for p in parameters if p["in"] == "path"}
    needed = {p["name"]: str(least(p["schema"])) for p in parameters if p["in"] == "query" and p.get("required")}
    content = node.get("requestBody", {}).get("content")
    media, body = None, None
    if content:
        media, schema = next((kind, value["schema"]) for kind, value in content.items())
        body = json.dumps(least(schema)).encode() if media == "application/json" else b"grant_type=x"

    def row(name, refused, path=None, query=None, media=media, body=body):
        filled = template
        for key, value in {**paths, **(path or {})}.items():
            filled = filled.replace("{%s}" % key, value)
        pairs = [f"{k}={v}" for k, v in needed.items() if query is None or k not in dict(query)]
        pairs += [f"{k}={v}" for k, v in query or []]
        return name, filled + ("?" + "&".join(pairs) if pairs else ""), media, body, refused

    for parameter in parameters:
        name, schema = parameter["name"], resolve(parameter["schema"])
        if parameter["in"] == "path":
            for wrong, text, refused in texts_of(schema):
                if text:
                    yield row(f"{name}: {wrong}", refused, path={name: text})
        elif parameter["in"] == "query":
            values = filters_of(schema) if name == "filterBy" else texts_of(schema)
            for wrong, text, refused in values:
                yield row(f"{name}: {wrong}", refused, query=[(name, text)])
            if kind_of(schema) != "array":
                value = str(least(schema)).replace("False", "false")
                yield row(f"{name}: twice", True, query=[(name, value), (name, value)])
    yield row("a parameter that is not there", None, query=[("nobody", "%00"), ("", ""), ("a[b]", "1")])
    for wrong, kind, data, refused in bodies(content) if content else ():
        yield row(wrong, refused, media=kind, body=data)
