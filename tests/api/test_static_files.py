"""Embedded files: pages, types, caching, security headers."""

import gzip
import pathlib
import re

import pytest

# Each page that the dashboard has, an id in place of its parameter; and the sign-in.
ROUTES = re.findall(r'^  "(/[^"]*)":', (pathlib.Path(__file__).parents[2] / "web/routes.ts").read_text(), re.M)
WORDS = re.compile(r":\w+\((.*)\)")
PAGES = [
    re.sub(r":\w+", "7", WORDS.sub(word, route))
    for route in ROUTES
    for word in (WORDS.search(route)[1].split("|") if WORDS.search(route) else [""])
] + ["/sign-in"]


def get(server, path, **headers):
    return server.request("GET", path, token=None, headers={k.replace("_", "-"): v for k, v in headers.items()})


@pytest.mark.parametrize("page", PAGES)
def test_page_is_the_dashboard(module_server, page):
    answer = get(module_server, page)
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/html")
    assert answer.headers["Cache-Control"] == "no-cache"
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_the_pages_are_those_of_the_dashboard():
    assert {"/", "/workloads", "/workloads/new/workspace", "/projects/7/edit", "/nodepools", "/sign-in"} <= set(
        PAGES
    ) and len(PAGES) >= 14


NO_PAGES = [
    "/nonsense",
    "/nowhere-land",
    "/workloads/new",
    "/workloads/new/nonsense",
    "/projects/1",
    "/projects//edit",
    "/sign-in/x",
    "/index.htm",
]


@pytest.mark.parametrize("path", NO_PAGES)
def test_other_paths_are_no_pages(module_server, path):
    answer = get(module_server, path)
    assert answer.status in (400, 404) and answer.headers["Content-Type"] == "application/json"
    assert answer.json["code"] == answer.status


BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize("path", [p for p in NO_PAGES if "//" not in p])
def test_a_browser_gets_the_dashboard_where_there_is_no_page(module_server, path):
    answer = get(module_server, path, Accept=BROWSER)
    index = get(module_server, "/")
    assert (
        answer.status == 404
        and answer.body == index.body
        and answer.headers["Content-Type"] == index.headers["Content-Type"]
    )
    assert (
        answer.headers["Content-Security-Policy"] == index.headers["Content-Security-Policy"]
        and "ETag" not in answer.headers
    )
    assert module_server.request("POST", path, b"", token=None, headers={"Accept": BROWSER}).status == 405


@pytest.mark.parametrize("path", ["/api/v1/nonsense", "/api", "/v1/nonsense", "/auth/x"])
def test_a_browser_gets_json_where_the_api_is(module_server, path):
    answer = get(module_server, path, Accept=BROWSER)
    assert answer.status == 404 and answer.json["code"] == 404


@pytest.mark.parametrize("page", ["/", "/api/docs"])
def test_everything_a_page_names_is_here(module_server, page):
    body = get(module_server, page).body.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)", body), "no inline script"
    assert not re.search(r"<style|\bstyle=", body), "no inline style"
    names = re.findall(r'(?:src|href)="([^"#]+)"', body)
    assert names
    for name in names:
        assert name.startswith("/"), f"{name}: from our own origin"
        answer = get(module_server, name)
        assert answer.status == 200 and len(answer.body) > 0, name
        if re.search(r"-[0-9A-Z]{8}\.", name):
            assert "immutable" in answer.headers["Cache-Control"]


def test_a_file_is_packed_where_the_client_takes_it(module_server):
    name = re.search(r'src="(/assets/[^"]+\.js)"', get(module_server, "/").body.decode())[1]
    plain = get(module_server, name)
    packed = get(module_server, name, Accept_Encoding="br, gzip")
    assert "Content-Encoding" not in plain.headers and packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert packed.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"
    assert packed.headers["ETag"] != plain.headers["ETag"]


def test_a_file_is_not_sent_again(module_server):
    first = get(module_server, "/")
    again = get(module_server, "/", If_None_Match=first.headers["ETag"])
    assert again.status == 304 and again.body == b"" and again.headers["ETag"] == first.headers["ETag"]
    assert get(module_server, "/", If_None_Match='"something else"').status == 200


def test_head_has_the_length_and_no_body(module_server):
    full = get(module_server, "/")
    head = module_server.request("HEAD", "/", token=None)
    assert head.status == 200 and head.body == b"" and int(head.headers["Content-Length"]) == len(full.body)
