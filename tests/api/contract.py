"""Requests made by chance from the API document."""

import random
import re
import uuid

from document import DOCUMENT, METHODS, OPERATIONS, check_answer, resolve

__all__ = ["DOCUMENT", "METHODS", "OPERATIONS", "Maker", "check_answer", "resolve"]

TEXTS = [
    "",
    "a",
    "team-a",
    "default",
    "A B",
    "ü",
    "0",
    "-1",
    "null",
    "x" * 300,
    "'; --",
    "%s%n",
    "../..",
    "<b>",
    "\U0001f600",
    "a,b==c",
]
NUMBERS = [0, 1, 2, -1, 0.5, 1.0, 7, 100, 2**31 - 1, 2**31, 2**53, 2**63 - 1, -(2**63), 1e15, 1e300]


class Maker:
    """Makes values that mostly follow a schema, and sometimes do not."""

    def __init__(self, seed, known):
        self.chance = random.Random(seed)
        self.known = known  # names of fields to values that exist

    def one_of(self, values):
        return self.chance.choice(values)

    def noise(self):
        return self.one_of([None, True, [], {}, [{}], {"a": 1}, *TEXTS, *NUMBERS])

    def text(self, schema, name):
        if name in self.known and self.chance.random() < 0.7:
            return self.one_of(self.known[name])
        if "enum" in schema:
            return self.one_of(schema["enum"])
        kind = schema.get("format")
        if kind == "uuid":
            return str(uuid.UUID(int=self.chance.getrandbits(128)))
        if kind == "date-time":
            return self.one_of(
                [
                    "2026-01-01T00:00:00Z",
                    "2020-02-29T23:59:59.999+02:00",
                    "1970-01-01T00:00:00Z",
                    "9999-12-31T23:59:59Z",
                ]
            )
        if re.fullmatch(r".*emory.*", name):
            return self.one_of(["1G", "100M", "0.5Gi", "9999999999P", "1e30"])
        return self.one_of(TEXTS)

    def value(self, schema, name="", depth=0):
        schema = resolve(schema)
        if self.chance.random() < 0.02:
            return self.noise()
        if schema.get("nullable") and self.chance.random() < 0.2:
            return None
        if "allOf" in schema and "properties" not in schema:
            merged = {}
            for part in schema["allOf"]:
                made = self.value(part, name, depth)
                if isinstance(made, dict):
                    merged.update(made)
            return merged
        kind = schema.get("type")
        if kind == "object" or "properties" in schema:
            required = set(schema.get("required", []))
            share = 0.6 if depth < 2 else 0.25
            return {
                k: self.value(v, k, depth + 1)
                for k, v in schema.get("properties", {}).items()
                if k in required or (depth < 6 and self.chance.random() < share)
            }
        if kind == "array":
            return [self.value(schema.get("items", {}), name, depth + 1) for _ in range(self.one_of([0, 1, 1, 2, 3]))]
        if kind == "boolean":
            return self.one_of([True, False])
        if kind in ("integer", "number"):
            low, high = schema.get("minimum", 0), schema.get("maximum", 2**31 - 1)
            return self.one_of([low, min(low + 1, high), high, self.one_of(NUMBERS)])
        if kind == "string" or "enum" in schema:
            return self.text(schema, name)
        return self.noise()

    def parameter(self, node):
        schema = node["schema"]
        if node["name"] == "filterBy":
            fields = re.match(r"\^\(([\w|]+)\)", schema["items"]["pattern"])[1].split("|")
            return ",".join(
                self.one_of(fields)
                + self.one_of(["==", "!=", "<=", ">=", "=@", "!@", "=^", "=$"])
                + self.one_of([*TEXTS, "2026-01-01T00:00:00Z", "1", "true"])
                for _ in range(self.one_of([1, 1, 2]))
            )
        value = self.value(schema, node["name"])
        if isinstance(value, list):
            return ",".join(map(str, value))
        return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)
