"""A POST of nothing to a path that can only be read is answered like a GET: the documents' `curl --data ''`."""

import pytest

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize("headers", [FORM, {}, {"Content-Type": "application/json"}])
@pytest.mark.parametrize("path", ["/api/v1/workloads", "/api/v1/workloads?filterBy=name==x", "/api/v1/nodes/count"])
def test_an_empty_post_reads(module_server, path, headers):
    answer = module_server.request("POST", path, b"", headers=headers)
    assert answer.status == 200 and answer.json == module_server.get(path).json


def test_what_is_not_empty_or_has_a_post_of_its_own_stays(module_server):
    assert module_server.request("POST", "/api/v1/workloads", b"x=1", headers=FORM).status == 405
    assert module_server.request("POST", "/api/v1/workloads", b"{}").status == 405
    assert module_server.request("PUT", "/api/v1/workloads", b"", headers=FORM).status == 405
    assert module_server.request("POST", "/api/v1/org-unit/projects", b"", headers=FORM).status in (400, 415)
    assert module_server.request("POST", "/api/v1/workloads", b"", headers=FORM, token=None).status == 401
