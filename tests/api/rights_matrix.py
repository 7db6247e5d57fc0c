"""tests/api/rights/matrix.csv, which is written by hand, as a table: who may do what."""

import csv
import pathlib

FILE = pathlib.Path(__file__).parent / "rights" / "matrix.csv"
ACTIONS = frozenset(("create", "read", "update", "delete"))


def lines():
    with open(FILE, encoding="utf-8") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


def matrix(resource_types):
    """{role: {resource type: {actions}}}; a type that is named twice for a role fails."""
    table = {line["role"]: {} for line in lines() if line["role"] != "everybody"}
    for line in lines():
        actions = ACTIONS if line["actions"] == "all" else frozenset(line["actions"].split())
        types = resource_types if line["resource types"] == "everything" else line["resource types"].split()
        assert actions and actions <= ACTIONS and set(types) <= set(resource_types) and line["why"], line
        for role in table if line["role"] == "everybody" else [line["role"]]:
            for kind in types:
                assert kind not in table[role] or line["resource types"] == "everything", line
                table[role][kind] = actions
    return table
