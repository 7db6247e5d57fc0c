"""Answers are gzipped where the client takes it, and only what is worth it."""

import gzip
import json

import pytest

# The roles with all their permissions: some 20 KB that stay as they are.
LONG = "/api/v1/authorization/roles"
SHORT = "/api/v1/overview/counts"


def get(server, path, encoding=None, method="GET"):
    return server.request(
        method, path, headers={"Accept-Encoding": encoding} if encoding is not None else {"Accept-Encoding": ""}
    )


def is_packed(answer):
    return answer.headers.get("Content-Encoding") == "gzip"


def test_json_is_packed_where_the_client_takes_it(module_server):
    plain, packed = get(module_server, LONG), get(module_server, LONG, "gzip, deflate, br")
    assert not is_packed(plain) and is_packed(packed) and plain.status == packed.status == 200
    assert json.loads(gzip.decompress(packed.body)) == plain.json
    assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"
    assert packed.headers["Content-Type"] == plain.headers["Content-Type"] == "application/json"
    assert int(packed.headers["Content-Length"]) == len(packed.body) < len(plain.body) / 5


TAKEN = [
    "gzip",
    "GZIP",
    "x-gzip",
    "br, gzip;q=0.5",
    "gzip; q=0.001",
    "*",
    "*;q=0.3",
    "identity;q=0.5, gzip;q=0.5",
    "gzip;q=1, *;q=0",
    "gzip;q=inf",
]
NOT_TAKEN = [
    "",
    "br",
    "gzip;q=0",
    "gzip;q=0.000",
    "*;q=0",
    "gzip;q=0, *",
    "identity, gzip;q=0.5",
    "gzipped",
    "gzip;q=nan",
    "gzip;q=-1",
    ",,;q=1",
]


@pytest.mark.parametrize("header", TAKEN)
def test_gzip_is_taken(module_server, header):
    assert is_packed(get(module_server, LONG, header))


@pytest.mark.parametrize("header", NOT_TAKEN)
def test_gzip_is_not_taken(module_server, header):
    assert not is_packed(get(module_server, LONG, header))


def test_a_short_answer_is_not_packed(module_server):
    answer = get(module_server, SHORT, "gzip")
    assert not is_packed(answer) and "Vary" not in answer.headers and len(answer.body) < 1024
    refused = get(module_server, "/api/v1/nonsense", "gzip")
    assert refused.status == 404 and not is_packed(refused) and refused.json["code"] == 404


def test_head_has_the_packed_length(module_server):
    for encoding in ("gzip", None):
        full, head = get(module_server, LONG, encoding), get(module_server, LONG, encoding, "HEAD")
        assert head.body == b"" and {
            k: head.headers.get(k) for k in ("Content-Length", "Content-Encoding", "Vary")
        } == {k: full.headers.get(k) for k in ("Content-Length", "Content-Encoding", "Vary")}


def test_a_file_is_not_packed_twice(module_server):
    first = module_server.request("GET", "/", token=None, headers={"Accept-Encoding": "gzip"})
    body = gzip.decompress(first.body) if is_packed(first) else first.body
    assert body.startswith(b"<!") and first.headers.get_all("Vary") in (None, ["Accept-Encoding"])
    again = module_server.request(
        "GET", "/", token=None, headers={"Accept-Encoding": "gzip", "If-None-Match": first.headers["ETag"]}
    )
    assert again.status == 304 and again.body == b"" and "Content-Encoding" not in again.headers


def test_text_is_packed_too(module_server):
    metrics = module_server.request("GET", "/metrics", headers={"Accept-Encoding": "gzip"})
    assert is_packed(metrics) and b"prorata_" in gzip.decompress(metrics.body)


def test_a_stream_is_not_packed(module_server):
    workload = module_server.submit("talker", "team-a")
    module_server.wait_phase(workload, "Running")
    for path in ("/api/v1/events/stream", f"/api/v1/workloads/{workload}/logs?follow=true"):
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", module_server.port, timeout=30)
        connection.request(
            "GET", path, headers={"Accept-Encoding": "gzip", "Authorization": "Bearer " + module_server.token}
        )
        answer = connection.getresponse()
        assert answer.status == 200 and "Content-Encoding" not in answer.headers, path
        connection.close()
