"""Saved views: what a person chose on a page, under a name; his own alone."""

import pytest
from contract import check_answer
from people import id_of, make_person

VIEWS = "/api/v1/me/views"
MINE = {"page": "workloads", "name": "Mine", "query": "f=phase==Pending&sort=-createdAt&cols=phase,gpu"}


@pytest.fixture
def ann(server):
    return make_person(server, "ann@example.org", ("AI practitioner", "project", server.project_id("team-a")))


def save(server, token="admin", status=201, **view):
    answer = server.request("POST", VIEWS, {**MINE, **view}, token=token)
    assert answer.status == status, answer
    if status == 201:
        check_answer("create_my_view", answer)
    return answer.json


def views_of(server, token="admin", query=""):
    answer = server.request("GET", VIEWS + query, token=token)
    check_answer("list_my_views", answer)
    return answer.json["views"]


def test_a_view_is_saved_changed_and_deleted(server):
    view = save(server)
    assert {key: view[key] for key in MINE} == MINE and view["createdAt"] == view["updatedAt"]
    save(server, name="another", query="")
    save(server, page="nodes", query="q=gpu")
    assert [(v["page"], v["name"]) for v in views_of(server)] == [
        ("nodes", "Mine"),
        ("workloads", "another"),
        ("workloads", "Mine"),
    ]
    assert [v["name"] for v in views_of(server, query="?page=nodes")] == ["Mine"]
    path = f"{VIEWS}/{view['id']}"
    changed = server.request("PUT", path, {**MINE, "name": "Mine, by name", "query": "sort=name"})
    assert changed.status == 200, changed
    check_answer("update_my_view", changed)
    assert changed.json["createdAt"] == view["createdAt"] and changed.json["query"] == "sort=name"
    assert changed.json in views_of(server)
    taken = server.request("PUT", path, {**MINE, "name": "ANOTHER"})
    assert taken.status == 409 and "ANOTHER" in taken.json["message"], taken
    assert server.delete(path).status == 204
    assert server.delete(path).status == 404 and server.request("PUT", path, MINE).status == 404
    assert len(views_of(server)) == 2
    server.kill()
    server.start()
    assert len(views_of(server)) == 2


def test_a_name_is_taken_on_its_page_alone_and_fifty_are_the_most(server):
    save(server)
    assert "already have" in save(server, status=409, name="MINE")["message"]
    for number in range(49):
        save(server, name=f"view {number}")
    assert "50" in save(server, status=409, name="one more")["message"]


def test_views_are_his_who_saved_them_and_go_with_him(server, ann):
    view = save(server, ann)
    assert views_of(server) == [] and [v["id"] for v in views_of(server, ann)] == [view["id"]]
    path = f"{VIEWS}/{view['id']}"
    assert server.delete(path).status == 404 and server.request("PUT", path, MINE).status == 404
    save(server, name="Mine")
    assert server.delete(f"/api/v1/users/{id_of(server, 'ann@example.org')}").status == 204
    assert [v["name"] for v in views_of(server)] == ["Mine"]
    assert server.request("GET", VIEWS, token=ann).status == 401
