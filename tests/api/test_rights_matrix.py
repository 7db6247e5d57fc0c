"""The predefined roles against the table that is written by hand, and each operation's permission in the document."""

import pytest
from rights_matrix import ACTIONS, matrix
from test_rights_of_roles import make_callers

METHODS = {"get", "post", "put", "patch", "delete"}
OPEN = {
    "grant_token",
    "grant_token_v2",
    "app_token",
    "grant_token_of_realm",
    "create_session",
    "get_swagger",
    "get_docs",
}
# Any signed-in caller: his own things, what is the same for all, and what shows to each what he may see.
SELF = {
    "get_priorities",
    "get_ranks",
    "get_workload_priorities",
    "get_permissions",
    "get_permitted_scopes",
    "get_me_access_rules",
    "count_me_access_rules",
    "change_user_password",
    "get_session",
    "delete_session",
    "stream_events",
    "get_overview",
    "get_overview_counts",
    "get_access_keys",
    "create_access_key1",
    "get_access_key_by_id1",
    "delete_access_key_by_id",
    "regenerate_access_key_secret",
    "getMySubscriptions",
    "createSubscription",
    "updateSubscription",
    "deleteSubscription",
}


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


def test_each_operation_names_its_permission(document):
    """What takes none is named here: a new operation that forgets it fails."""
    wrong = []
    for item in document["paths"].values():
        for method, operation in item.items():
            if method not in METHODS:
                continue
            permission, name = operation["x-permission"], operation["operationId"]
            expected = "none" if name in OPEN else "self" if name in SELF else None
            if (
                permission != expected
                if expected or isinstance(permission, str)
                else permission["action"] not in ACTIONS
            ):
                wrong.append((name, permission, expected))
    assert not wrong
