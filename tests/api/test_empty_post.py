"""Requests that miss what belongs to them: a body, or the beginning of their path."""

import pytest

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize("headers", [FORM, {}, {"Content-Type": "application/json"}])
@pytest.mark.parametrize("path", ["/api/v1/workloads", "/api/v1/workloads?filterBy=name==x", "/api/v1/nodes/count"])
def test_an_empty_post_reads(module_server, path, headers):
    """A POST of nothing to a path that can only be read is answered like a GET: the documents' `curl --data ''`."""
    answer = module_server.request("POST", path, b"", headers=headers)
    assert answer.status == 200 and answer.json == module_server.get(path).json


def test_what_is_not_empty_or_has_a_post_of_its_own_stays(module_server):
    assert module_server.request("POST", "/api/v1/workloads", b"x=1", headers=FORM).status == 405
    assert module_server.request("POST", "/api/v1/workloads", b"{}").status == 405
    assert module_server.request("PUT", "/api/v1/workloads", b"", headers=FORM).status == 405
    assert module_server.request("POST", "/api/v1/org-unit/projects", b"", headers=FORM).status in (400, 415)
    assert module_server.request("POST", "/api/v1/workloads", b"", headers=FORM, token=None).status == 401


def test_a_get_where_a_body_belongs_is_told_that_none_came(module_server):
    answer = module_server.get("/api/v1/workloads/trainings")
    assert (answer.status, answer.json["message"]) == (405, "GET: this path has POST, OPTIONS; no body came")
    answer = module_server.request("PUT", "/api/v1/workloads/trainings", {})
    assert (answer.status, answer.json["message"]) == (405, "PUT: this path has POST, OPTIONS")


ELSEWHERE = (
    ("GET", "/org-unit/projects", "/api/v1/org-unit/projects"),
    ("GET", "/workloads/trainings", "/api/v1/workloads/trainings"),
    ("GET", "/workloads/x/pods?limit=1", "/api/v1/workloads/x/pods"),
    ("POST", "/org-unit/projects", "/api/v1/org-unit/projects"),
    ("GET", "/v1/org-unit/projects", "/api/v1/org-unit/projects"),
    ("GET", "/k8s/setting", "/v1/k8s/setting"),
    ("GET", "/authorization/roles", "/api/v1/authorization/roles"),
)


@pytest.mark.parametrize(("method", "path", "meant"), ELSEWHERE)
def test_a_path_without_its_beginning_is_told_where_it_is(module_server, method, path, meant):
    answer = module_server.request(method, path)
    assert (answer.status, answer.json["message"]) == (404, f"no such path; did you mean {meant}")


def test_a_page_that_is_no_operation_names_the_operation(module_server):
    answer = module_server.request("POST", "/workloads", {"name": "x"})
    want = "POST: this path has GET, HEAD, OPTIONS; did you mean /api/v1/workloads"
    assert (answer.status, answer.json["message"]) == (405, want)


@pytest.mark.parametrize("path", ["/nonsense", "/org-unit", "/api/v1/nonsense", "/" + "/".join("abcdefghijklmnop")])
def test_what_is_nowhere_is_told_no_more(module_server, path):
    answer = module_server.get(path)
    assert (answer.status, answer.json["message"]) == (404, "no such path")
