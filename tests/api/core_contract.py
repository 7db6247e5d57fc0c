"""The difference between two API documents, field by field: what a client of the first would notice of the second."""

import yaml

METHODS = ("get", "post", "put", "patch", "delete")
FACETS = (
    "type",
    "format",
    "pattern",
    "nullable",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
)
FACETS += ("default", "exclusiveMinimum", "exclusiveMaximum", "uniqueItems", "multipleOf")


def load(path):
    return yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def resolve(document, node):
    while "$ref" in node:
        target = document
        for part in node["$ref"][2:].split("/"):
            target = target[part]
        node = target
    return node


def whole(document, node):
    """A schema with its references and its allOf taken together."""
    node = resolve(document, node)
    if "allOf" not in node:
        return node
    out = {key: value for key, value in node.items() if key != "allOf"}
    properties, required = dict(out.get("properties", {})), list(out.get("required", []))
    for part in (whole(document, p) for p in node["allOf"]):
        properties = {**part.get("properties", {}), **properties}
        required += part.get("required", [])
        out = {**{k: v for k, v in part.items() if k not in ("properties", "required")}, **out}
    return {**out, **({"properties": properties} if properties else {}), **({"required": required} if required else {})}


class Comparison:
    """`found`: (where, what, how) for each difference of new from old."""

    def __init__(self, old, new):
        self.old, self.new, self.found = old, new, []
        for path, item in old["paths"].items():
            for method in [m for m in METHODS if m in item]:
                self.operation(f"{method.upper()} {path}", path, method)

    def note(self, where, what, how=""):
        self.found.append((where, what, how))

    def sets(self, where, old, new):
        """Keys of both; what one has alone is noted."""
        for name in sorted(set(old) - set(new)):
            self.note(f"{where}{name}", "lacks")
        for name in sorted(set(new) - set(old)):
            self.note(f"{where}{name}", "has")
        return sorted(set(old) & set(new))

    def operation(self, name, path, method):
        item, own = self.old["paths"][path], self.new["paths"].get(path, {})
        if method not in own:
            return self.note(name, "lacks")
        old, new = item[method], own[method]
        if old["operationId"] != new["operationId"]:
            self.note(name, "operationId", new["operationId"])
        self.parameters(name, (item, old), (own, new))
        self.body(f"{name} body", old.get("requestBody", {}), new.get("requestBody", {}))
        for status in self.sets(f"{name} ", old["responses"], new["responses"]):
            self.content(f"{name} {status}", old["responses"][status], new["responses"][status])
        return None

    def parameters(self, name, old, new):
        def of(document, nodes):
            all_of = [resolve(document, p) for node in nodes for p in node.get("parameters", [])]
            return {f"{p['in']} {p['name']}": p for p in all_of}

        old, new = of(self.old, old), of(self.new, new)
        for key in self.sets(f"{name} ", old, new):
            for facet in ("required", "explode", "style"):
                if old[key].get(facet, False) != new[key].get(facet, False):
                    self.note(f"{name} {key}", facet, str(new[key].get(facet)))
            self.schema(f"{name} {key}", old[key].get("schema", {}), new[key].get("schema", {}))

    def body(self, where, old, new):
        old, new = resolve(self.old, old), resolve(self.new, new)
        if bool(old) != bool(new):
            self.note(where, "has" if new else "lacks")
        elif old:
            if old.get("required", False) != new.get("required", False):
                self.note(where, "required", str(new.get("required")))
            self.content(where, old, new)

    def content(self, where, old, new):
        old, new = (resolve(d, n).get("content", {}) for d, n in ((self.old, old), (self.new, new)))
        for kind in self.sets(f"{where} ", old, new):
            self.schema(where, old[kind].get("schema", {}), new[kind].get("schema", {}))

    def schema(self, where, old, new, inside=()):
        pair = (old.get("$ref"), new.get("$ref"))
        if pair != (None, None) and pair in inside:
            return
        inside, old, new = (*inside, pair), whole(self.old, old), whole(self.new, new)
        if where.endswith("[]") and "anyOf" in new and "anyOf" not in old:  # what the old client gets stands first
            self.note(where, "anyOf", f"0 -> {len(new['anyOf'])}")
            new = whole(self.new, new["anyOf"][0])
        for facet in FACETS:
            if old.get(facet) != new.get(facet) and (old.get(facet) or new.get(facet) is not None):
                self.note(where, facet, f"{old.get(facet)} -> {new.get(facet)}")
        self.words(where, old.get("enum"), new.get("enum"))
        for name in sorted(set(old.get("required", [])) ^ set(new.get("required", []))):
            self.note(f"{where}.{name}", "required" if name in new.get("required", []) else "optional")
        properties = old.get("properties", {}), new.get("properties", {})
        for name in self.sets(f"{where}.", *properties):
            self.schema(f"{where}.{name}", properties[0][name], properties[1][name], inside)
        for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
            parts = [node.get(key, True) for node in (old, new)]
            if all(isinstance(part, dict) for part in parts):
                self.schema(where + mark, *parts, inside)
            elif parts[0] != parts[1]:
                self.note(where, key)
        for key in ("anyOf", "oneOf"):
            parts = [node.get(key, []) for node in (old, new)]
            if len(parts[0]) != len(parts[1]):
                self.note(where, key, f"{len(parts[0])} -> {len(parts[1])}")
            else:
                for i, (one, other) in enumerate(zip(*parts, strict=True)):
                    self.schema(f"{where}({i})", one, other, inside)

    def words(self, where, old, new):
        if (old is None) != (new is None):
            self.note(where, "enum", "added" if new else "dropped")
        elif old is not None:
            for word in sorted({str(w) for w in old} ^ {str(w) for w in new}):
                self.note(where, "enum has" if word in map(str, new) else "enum lacks", word)
