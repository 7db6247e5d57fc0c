"""The predefined roles against the table that is written by hand."""

import pytest
from rights_matrix import matrix
from test_rights_of_roles import make_callers


@pytest.fixture(scope="module")
def document(module_server):
    return module_server.request("GET", "/api/v1/swagger.json", token=None).json


@pytest.fixture(scope="module")
def table(document):
    return matrix(document["components"]["schemas"]["ResourceType"]["enum"])


def permissions_of(served):
    assert len({p["resourceType"] for p in served}) == len(served)
    return {p["resourceType"]: frozenset(p["actions"]) for p in served}


def test_each_role_has_what_the_table_says(module_server, table):
    served = {
        role["name"]: permissions_of(role["permissions"])
        for role in module_server.get("/api/v1/authorization/roles").json
    }
    assert served == table


def test_a_caller_is_told_what_the_table_says(module_server, table):
    """The same by the operations of the caller himself, in each scope."""
    for caller in make_callers(module_server)[1]:
        for path, part in (("/api/v1/authorization/permissions", None), ("/api/v1/session", "permissions")):
            answer = module_server.request("GET", path, token=caller.token).json
            assert permissions_of(answer[part] if part else answer) == table[caller.role], (caller.name, path)
