"""Tables from the API document: generate_operations.py openapi.yaml OUT_DIR

Writes OUT_DIR/api/operations.h (a prototype per handler) and OUT_DIR/operations.c (operations, parameters, schemas,
patterns, the tree of paths: see api/schema.h), and OUT_DIR/openapi.json (what GET /api/v1/swagger.json answers).
What the document says and the tables cannot is an error here, not a surprise at run time.
"""

import json
import pathlib
import re
import sys

import yaml
from pattern_automaton import compile_pattern

METHODS = ["get", "post", "put", "patch", "delete"]
OPERATORS = ["==", "!=", "<=", ">=", "=@", "!@", "=^", "=$"]  # in the order of enum filter_operator
TYPES = {"object", "array", "string", "integer", "number", "boolean"}
FORMATS = {"uuid": "FORMAT_UUID", "date-time": "FORMAT_DATE_TIME", "ipv4": "FORMAT_IPV4"}
LOOSE_FORMATS = {"int32", "int64", "double", "float", "int", "uri", "hostname", "password"}
RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
IGNORED = {"description", "default", "deprecated", "example", "readOnly", "writeOnly", "title"}
KNOWN = IGNORED | {
    "type",
    "nullable",
    "format",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "maxItems",
    "maxProperties",
    "pattern",
    "enum",
    "properties",
    "required",
    "items",
    "additionalProperties",
    "allOf",
}

# What a person is told instead of a pattern.
AMOUNT = "expected an amount such as 8G or 8Gi (k, M, G, T, P: thousands; Ki, Mi, Gi, Ti, Pi: 1024)"
PATTERN_WORDS = {
    "^([+]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$": AMOUNT,
    "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$": AMOUNT,
}


def text(value):
    return (
        json.dumps(value, ensure_ascii=True)
        if value.isascii()
        else '"%s"' % "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else "\\%03o" % b for b in value.encode())
    )


class Tables:
    def __init__(self, document):
        self.document = document
        self.lines = []
        self.names = {}  # what was emitted already, by content
        self.open_refs = []

    def emit(self, kind, key, declaration):
        """A static table; the same content is written once. declaration(name) gives the C text."""
        if (kind, key) not in self.names:
            name = "%s_%d" % (kind, len(self.names))
            self.lines.append(declaration(name))
            self.names[kind, key] = name
        return self.names[kind, key]

    def strings(self, values):
        if not values:
            return "NULL"
        body = ", ".join(text(v) for v in values)
        return self.emit("TEXTS", body, lambda name: "static const char *const %s[] = {%s};" % (name, body))

    def resolve(self, reference):
        node = self.document
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]
        return node

    def pattern(self, expression):
        words = PATTERN_WORDS.get(expression)

        def declaration(name):
            classes, rows, accepting = compile_pattern(expression)
            return "\n".join(
                [
                    "static const uint8_t %s_CLASSES[256] = {%s};" % (name, ", ".join(map(str, classes))),
                    "static const uint16_t %s_NEXT[] = {%s};" % (name, ", ".join(str(n) for row in rows for n in row)),
                    "static const uint8_t %s_ACCEPTING[] = {%s};" % (name, ", ".join(map(str, accepting))),
                    "static const struct pattern %s = {%s, %s, %s_CLASSES, %s_NEXT, %s_ACCEPTING, %d};"
                    % (name, text(expression), text(words) if words else "NULL", name, name, name, len(rows[0])),
                ]
            )

        return self.emit("PATTERN", expression, declaration)

    def schema(self, node):
        """The name of the table of a schema, "NULL" where it says nothing."""
        if "$ref" in node:
            if node["$ref"] in self.open_refs:
                raise ValueError("recursive schema %s" % node["$ref"])
            self.open_refs.append(node["$ref"])
            try:
                return self.schema(self.resolve(node["$ref"]))
            finally:
                self.open_refs.pop()
        unknown = {k for k in node if k not in KNOWN and not k.startswith("x-")}
        if unknown:
            raise ValueError("cannot be checked: %s" % ", ".join(sorted(unknown)))
        fields = self.schema_fields(node)
        if not fields:
            return "NULL"
        body = ", ".join(".%s = %s" % f for f in fields)
        return "&" + self.emit("SCHEMA", body, lambda name: "static const struct schema %s = {%s};" % (name, body))

    def schema_fields(self, node):
        fields = []
        kind = node.get("type")
        if kind:
            if kind not in TYPES:
                raise ValueError("type %s" % kind)
            fields.append(("type", "SCHEMA_" + kind.upper()))
        if node.get("nullable"):
            fields.append(("nullable", "true"))
        form = node.get("format")
        if form in FORMATS:
            fields.append(("format", FORMATS[form]))
        elif form and form not in LOOSE_FORMATS:
            raise ValueError("format %s" % form)
        low, high = RANGES.get(form, (None, None)) if kind == "integer" else (None, None)
        for name, value in (("minimum", node.get("minimum", low)), ("maximum", node.get("maximum", high))):
            if value is not None:
                fields += [("has_" + name, "true"), (name, repr(float(value)))]
        for name, key in (
            ("min_length", "minLength"),
            ("max_length", "maxLength"),
            ("max_items", "maxItems"),
            ("max_properties", "maxProperties"),
        ):
            if node.get(key):
                fields.append((name, "%d" % node[key]))
        if "pattern" in node:
            fields.append(("pattern", "&" + self.pattern(node["pattern"])))
        if "enum" in node:
            values = [v for v in node["enum"] if v is not None]
            if not all(isinstance(v, str) for v in values):
                raise ValueError("an enum of other than texts")
            fields += [("enum_values", self.strings(values)), ("enum_count", "%d" % len(values))]
        if node.get("properties"):
            rows = ", ".join(
                "{%s, %s}" % (text(k), self.schema(node["properties"][k]))
                for k in sorted(node["properties"], key=str.encode)
            )
            name = self.emit(
                "PROPERTIES", rows, lambda name: "static const struct schema_property %s[] = {%s};" % (name, rows)
            )
            fields += [("properties", name), ("property_count", "%d" % len(node["properties"]))]
        if node.get("required"):
            fields += [("required", self.strings(node["required"])), ("required_count", "%d" % len(node["required"]))]
        for name, key in (("items", "items"), ("additional", "additionalProperties")):
            if isinstance(node.get(key), dict):
                fields.append((name, self.schema(node[key])))
            elif node.get(key) is False:
                fields.append(("is_closed", "true"))
        if "allOf" in node:
            parts = [p for p in (self.schema(p) for p in node["allOf"]) if p != "NULL"]
            body = ", ".join(parts)
            if parts:
                name = self.emit(
                    "ALL_OF", body, lambda name: "static const struct schema *const %s[] = {%s};" % (name, body)
                )
                fields += [("all_of", name), ("all_of_count", "%d" % len(parts))]
        return fields

    def parameter(self, node, path):
        schema = node["schema"]
        is_list = schema.get("type") == "array"
        item = schema["items"] if is_list else schema
        place = node["in"].upper()
        if place not in ("PATH", "QUERY", "HEADER"):
            raise ValueError("a parameter in %s" % node["in"])
        fields = [("name", text(node["name"])), ("place", "PARAMETER_" + place)]
        if node.get("required"):
            fields.append(("required", "true"))
        if place == "PATH":
            fields.append(("segment", "%d" % path.strip("/").split("/").index("{%s}" % node["name"])))
        if is_list:
            fields.append(("is_list", "true"))
            if "maxItems" in schema:
                fields.append(("max_items", "%d" % schema["maxItems"]))
        if node["name"] == "filterBy":
            match = re.fullmatch(r"\^\(([\w|]+)\)\((.*)\)\.\+\$", item["pattern"])
            if not match:
                raise ValueError("filterBy: pattern ^(FIELDS)(OPERATORS).+$ expected, got %s" % item["pattern"])
            names = match[1].split("|")
            bits = sum(1 << OPERATORS.index(op.replace("\\", "")) for op in match[2].split("|"))
            fields += [
                ("filter_fields", self.strings(names)),
                ("filter_field_count", "%d" % len(names)),
                ("filter_operators", "%d" % bits),
            ]
        else:
            fields.append(("schema", self.schema(item)))
        default = schema.get("default")
        if default is not None:
            fields.append(("default_text", text(default if isinstance(default, str) else json.dumps(default))))
        return "{%s}" % ", ".join(".%s = %s" % f for f in fields)

    def operation(self, method, path, shared_parameters, node):
        name = node["operationId"]
        fields = [("id", text(name)), ("method", "HTTP_METHOD_" + method.upper()), ("path", text(path))]
        permission = node["x-permission"]
        if permission == "none":
            fields.append(("access", "OPERATION_ACCESS_OPEN"))
        elif permission == "self":
            fields.append(("access", "OPERATION_ACCESS_SELF"))
        else:
            if permission["resource"] not in self.document["components"]["schemas"]["ResourceType"]["enum"]:
                raise ValueError("permission for %s" % permission["resource"])
            fields += [
                ("access", "OPERATION_ACCESS_PERMISSION"),
                ("resource", text(permission["resource"])),
                ("action", text(permission["action"])),
            ]
        fields.append(("handler", "op_" + name))
        parameters = [
            self.resolve(p["$ref"]) if "$ref" in p else p for p in shared_parameters + node.get("parameters", [])
        ]
        if parameters:
            rows = ",\n    ".join(self.parameter(p, path) for p in parameters)
            table = self.emit(
                "PARAMETERS", rows, lambda n: "static const struct parameter %s[] = {\n    %s};" % (n, rows)
            )
            fields += [("parameters", table), ("parameter_count", "%d" % len(parameters))]
        if "requestBody" in node:
            fields += self.body(node)
        status = min(int(s) for s in node["responses"] if s[0] in "23")
        fields.append(("success_status", "%d" % status))
        if "409" in node["responses"]:
            fields.append(("has_conflict", "true"))
        if node.get("x-stream"):
            fields.append(("is_stream", "true"))
        if "prorata" in node["tags"]:
            fields.append(("is_own", "true"))
        return fields

    def body(self, node):
        ((media_type, content),) = node["requestBody"]["content"].items()
        required = [("body_required", "true")] if node["requestBody"].get("required") else []
        if media_type == "application/x-www-form-urlencoded":
            return [("body", "OPERATION_BODY_FORM")] + required
        if media_type != "application/json":
            raise ValueError("a body of %s" % media_type)
        if node.get("x-free-body"):
            return [("body", "OPERATION_BODY_FREE")] + required
        return [("body", "OPERATION_BODY_JSON"), ("body_schema", self.schema(content["schema"]))] + required


def route_tree(operations):
    """Rows of ROUTES: breadth first, so that the literal children of a node stand side by side."""
    root = {"children": {}, "parameter": None, "operations": {}, "literal": None}
    for number, (method, path) in enumerate(operations):
        node = root
        for segment in path.strip("/").split("/"):
            new = {"children": {}, "parameter": None, "operations": {}, "literal": segment}
            if segment.startswith("{"):
                new["literal"] = None
                node["parameter"] = node["parameter"] or new
                node = node["parameter"]
            else:
                node = node["children"].setdefault(segment, new)
        node["operations"][method] = number
    order, rows = [root], []
    for node in order:
        children = [node["children"][k] for k in sorted(node["children"], key=str.encode)]
        node["first"] = len(order) if children else 0
        order += children
        node["number"] = 0
        if node["parameter"]:
            node["number"] = len(order)
            order.append(node["parameter"])
    for node in order:
        rows.append(
            "    {%s, %d, %d, %d, {%s}},"
            % (
                text(node["literal"]) if node["literal"] else "NULL",
                node["first"],
                len(node["children"]),
                node["number"],
                ", ".join(str(node["operations"].get(m, -1)) for m in METHODS),
            )
        )
    return rows


def aliases(document, places):
    """(path in another release's words, number of the operation) for each operation below a prefix of x-aliases."""
    for new, old in document.get("x-aliases", {}).items():
        found = [(n, path) for n, (_, path) in enumerate(places) if path == old or path.startswith(old + "/")]
        if not found:
            sys.exit("x-aliases: %s: no such path" % old)
        for number, path in found:
            yield new + path.removeprefix(old), number


def write_if_changed(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != content:
        path.write_text(content)


def main(document_path, out):
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = yaml.load(pathlib.Path(document_path).read_text(), loader)
    tables, rows, places, handlers, nodes = Tables(document), [], [], [], []
    for path, item in document["paths"].items():
        for method in METHODS:
            if method not in item:
                continue
            node = item[method]
            try:
                fields = tables.operation(method, path, item.get("parameters", []), node)
            except ValueError as problem:
                sys.exit("%s: %s: %s" % (document_path, node.get("operationId", path), problem))
            handlers.append(node["operationId"])
            rows.append("    {%s}," % ", ".join(".%s = %s" % f for f in fields))
            places.append((method, path))
            nodes.append((item.get("parameters", []), node))
    count = len(rows)
    for path, number in list(aliases(document, places)):
        method = places[number][0]
        if (method, path) in places:
            sys.exit("x-aliases: %s %s is there already" % (method, path))
        fields = tables.operation(method, path, *nodes[number])
        fields.append(("original", "&OPERATIONS[%d]" % number))
        rows.append("    {%s}," % ", ".join(".%s = %s" % f for f in fields))
        places.append((method, path))
    routes = route_tree(places)
    prototypes = [
        "// Made from openapi/openapi.yaml: the handler of each operation.",
        "#pragma once",
        '#include "api/operation.h"',
        "",
    ]
    prototypes += ["int op_%s(struct request *req, struct response *res, struct error *err);" % h for h in handlers]
    write_if_changed(out / "api/operations.h", "\n".join(prototypes) + "\n")
    source = [
        "// Made from openapi/openapi.yaml by tools/generate_operations.py.",
        '#include "api/schema.h"',
        '#include "api/operations.h"',
        "",
    ] + tables.lines
    source += (
        ["", "const struct operation OPERATIONS[] = {"]
        + rows
        + ["};", "const size_t OPERATION_COUNT = %d;" % count, "const size_t ALIAS_COUNT = %d;" % (len(rows) - count)]
    )
    source += ["", "const struct route ROUTES[] = {"] + routes + ["};", "const size_t ROUTE_COUNT = %d;" % len(routes)]
    write_if_changed(out / "operations.c", "\n".join(source) + "\n")
    served = {k: v for k, v in document.items() if k != "x-common-responses"}
    write_if_changed(out / "openapi.json", json.dumps(served, separators=(",", ":"), ensure_ascii=False, default=str))


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
