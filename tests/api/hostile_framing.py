"""Hostile requests, first part: framing, request line, headers, path, encoding. (name, request, status, words of the
message)

Status None: the connection is closed without an answer, which is civetweb's own doing."""

from hostile import raw, request

WORKLOADS = "/api/v1/workloads"
PROJECT = '{"name":"hostile","clusterId":"{cluster}","parentId":"{department}"}'
HEAD = (
    "POST /api/v1/org-unit/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {admin}\r\n"
    "Content-Type: application/json\r\n"
)


def get(path):
    return request("GET", path)


FRAMING = [
    # Where does the body end?
    (
        "Content-Length and Transfer-Encoding",
        raw(HEAD + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        400,
        "one of them",
    ),
    (
        "Transfer-Encoding and Content-Length",
        raw(HEAD + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
        400,
        "one of them",
    ),
    ("two Content-Lengths", raw(HEAD + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x"), 400, "given twice"),
    ("two equal Content-Lengths", raw(HEAD + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"), 400, "given twice"),
    ("a list of lengths", raw(HEAD + "Content-Length: 2, 2\r\n\r\n{}"), 400, "digits"),
    ("a signed length", raw(HEAD + "Content-Length: +2\r\n\r\n{}"), 400, "digits"),
    ("a negative length", raw(HEAD + "Content-Length: -1\r\n\r\n"), 411, ""),
    ("letters in the length", raw(HEAD + "Content-Length: 2xyz\r\n\r\n{}"), 400, "Content-Length"),
    ("a hexadecimal length", raw(HEAD + "Content-Length: 0x2\r\n\r\n{}"), 400, "Content-Length"),
    ("a length past 64 bits", raw(HEAD + "Content-Length: 18446744073709551618\r\n\r\n{}"), 400, "Content-Length"),
    ("a length past the limit", raw(HEAD + "Content-Length: 1048577\r\n\r\n"), 413, "at most 1048576"),
    (
        "two Transfer-Encodings",
        raw(HEAD + "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        400,
        "given twice",
    ),
    ("identity coding", raw(HEAD + "Transfer-Encoding: identity\r\n\r\n{}"), 400, "Transfer-Encoding"),
    ("gzip coding", raw(HEAD + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 400, ""),
    ("a disguised coding", raw(HEAD + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"), 400, ""),
    (
        "chunked in HTTP/1.0",
        raw(HEAD.replace("1.1", "1.0") + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        400,
        "Transfer-Encoding",
    ),
    ("a blank before the colon", raw(HEAD + "Content-Length : 2\r\n\r\n{}"), 400, "blank before the colon"),
    (
        "a blank before Transfer-Encoding's colon",
        raw(HEAD + "Content-Length: 2\r\nTransfer-Encoding : chunked\r\n\r\n{}"),
        400,
        "",
    ),
    ("a folded header hides a length", raw(HEAD + "X: a\r\n folded\r\nContent-Length: 2\r\n\r\n{}"), 400, "folded"),
    ("a header folded by a tab", raw(HEAD + "X: a\r\n\tb\r\n\r\n"), 400, ""),
    ("a bare line feed", raw("GET /healthz HTTP/1.1\r\nHost: x\nX: y\r\n\r\n"), 400, "CR LF"),
    ("bare line feeds throughout", raw("GET /healthz HTTP/1.1\nHost: x\n\n"), 400, "CR LF"),
    ("a carriage return in a header", raw("GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\rY: b\r\n\r\n"), 400, ""),
    ("a header without a colon", raw("GET /healthz HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n"), 400, ""),
    ("a NUL in a header", raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n"), 400, ""),
    ("a control character in a header", raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\x01b\r\n\r\n"), 400, ""),
    ("64 headers", raw("GET /healthz HTTP/1.1\r\nHost: x\r\n" + "X: y\r\n" * 63 + "\r\n"), 431, "at most 63"),
    ("a length behind 64 headers", raw(HEAD + "X: y\r\n" * 64 + "Content-Length: 2\r\n\r\n{}"), 431, "at most 63"),
    ("a large header", raw("GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + "y" * 20000 + "\r\n\r\n"), 400, ""),
    ("a broken chunk size", raw(HEAD + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"), 400, ""),
    ("a negative chunk size", raw(HEAD + "Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n"), 400, ""),
    (
        "a chunk size past 64 bits",
        raw(HEAD + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
        400,
        "",
    ),
    ("a chunk longer than it says", raw(HEAD + "Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n"), 400, ""),
    (
        "chunks past the limit",
        raw(HEAD + "Transfer-Encoding: chunked\r\n\r\n" + ("10000\r\n" + "x" * 65536 + "\r\n") * 17 + "0\r\n\r\n"),
        413,
        "at most 1048576",
    ),
    ("a body to an operation without one", request("GET", "/api/v1/clusters", body="{}"), 200, ""),
    # Who is asked?
    ("no Host", raw("GET /healthz HTTP/1.1\r\nX: y\r\n\r\n"), 400, "Host"),
    ("no header at all", raw("GET /healthz HTTP/1.1\r\n\r\n"), 400, "Host"),
    ("two Hosts", raw("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400, "Host"),
    ("a Host that is a URL", raw("GET /healthz HTTP/1.1\r\nHost: http://a/\r\n\r\n"), 400, "Host"),
    ("a Host with a user", raw("GET /healthz HTTP/1.1\r\nHost: a@b\r\n\r\n"), 400, "Host"),
    (
        "two Authorizations",
        raw(
            "GET /api/v1/clusters HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {admin}\r\n"
            "Authorization: Bearer {admin}\r\n\r\n"
        ),
        400,
        "given twice",
    ),
    (
        "two Content-Types",
        request(
            "POST", "/api/v1/org-unit/projects", PROJECT, ["Content-Type: application/json", "Content-Type: text/plain"]
        ),
        400,
        "given twice",
    ),
    # The request line
    ("an unknown method", raw("BREW / HTTP/1.1\r\nHost: x\r\n\r\n"), 400, ""),
    ("TRACE", raw("TRACE / HTTP/1.1\r\nHost: x\r\n\r\n"), 405, "TRACE: no path has this method"),
    (
        "TRACE of an operation",
        raw("TRACE /api/v1/org-unit/projects HTTP/1.1\r\nHost: x\r\n\r\n"),
        405,
        "TRACE: no path has this method",
    ),
    ("a method in small letters", raw("get /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), 400, ""),
    ("CONNECT", raw("CONNECT /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), 405, ""),
    ("PROPFIND", raw("PROPFIND /api/v1/workloads HTTP/1.1\r\nHost: x\r\n\r\n"), 405, ""),
    ("HTTP/0.9", raw("GET /healthz\r\n\r\n"), 400, ""),
    ("HTTP/2", raw("GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n"), 505, ""),
    ("the preface of HTTP/2", raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), (400, 505, None), ""),
    ("bytes that are no HTTP", raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"), 400, ""),
    ("two blanks in the request line", raw("GET  /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), (200, 400), ""),
    ("an absolute target", raw("GET http://elsewhere/healthz HTTP/1.1\r\nHost: x\r\n\r\n"), (400, None), ""),
    ("a star", raw("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"), (400, None), ""),
    ("a very long path", raw("GET /" + "a" * 15000 + " HTTP/1.1\r\nHost: x\r\n\r\n"), 404, ""),
    ("a path past the limit", raw("GET /" + "a" * 17000 + " HTTP/1.1\r\nHost: x\r\n\r\n"), 400, ""),
    (
        "a websocket",
        raw(
            "GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        ),
        401,
        "",
    ),
]

PATHS = [
    ("dot dot", get("/api/v1/../v1/clusters"), 400, "dot segment"),
    ("encoded dot dot", get("/api/v1/%2e%2e/v1/clusters"), 400, "dot segment"),
    ("half-encoded dot dot", get("/api/v1/.%2E/v1/clusters"), 400, "dot segment"),
    ("double-encoded dot dot", get("/%252e%252e/etc/passwd"), 404, ""),
    ("a dot", get("/api/./v1/clusters"), 400, "dot segment"),
    ("out of the root", get("/../../../../etc/passwd"), 400, "dot segment"),
    ("out of the assets", get("/assets/../../../../etc/passwd"), 400, "dot segment"),
    ("encoded slashes out of the assets", get("/assets/..%2f..%2fetc%2fpasswd"), 400, "slash"),
    ("a backslash", get("/assets/..\\..\\etc\\passwd"), 400, ""),
    ("an encoded backslash", get("/assets/..%5c..%5cetc%5cpasswd"), 400, "slash"),
    ("an encoded slash", get("/api/v1%2Fclusters"), 400, "slash"),
    ("an encoded slash in an id", get("/api/v1/org-unit/projects/1%2fresources"), 400, "slash"),
    ("a NUL", get("/api/v1/clusters%00"), 400, "NUL"),
    ("a NUL in an id", get("/api/v1/org-unit/projects/1%00"), 400, "NUL"),
    ("a line break in a path", get("/api/v1/clusters%0d%0aX:%20y"), 400, "control"),
    ("two slashes", get("/api//v1/clusters"), 400, "empty segment"),
    ("two slashes in front", get("//api/v1/clusters"), 400, "empty segment"),
    ("a slash at the end", get("/api/v1/clusters/"), 400, "empty segment"),
    ("an overlong slash", get("/api/v1/org-unit/projects/%c0%af"), 400, "UTF-8"),
    ("an overlong dot", get("/api/v1/%c0%ae%c0%ae/clusters"), 400, "UTF-8"),
    ("a surrogate", get("/api/v1/org-unit/projects/%ed%a0%80"), 400, "UTF-8"),
    ("bad UTF-8", get("/api/v1/org-unit/projects/%ff%fe"), 400, "UTF-8"),
    ("a broken escape", get("/api/v1/org-unit/projects/%zz"), 400, "percent"),
    ("a cut escape", get("/api/v1/org-unit/projects/%2"), 400, "percent"),
    ("a hundred segments", get("/a" * 100), 400, "segments"),
    ("capital letters", get("/API/V1/CLUSTERS"), 404, ""),
    ("the extension of a file", get("/index.html.gz"), 404, ""),
    ("the database", get("/prorata.db"), 404, ""),
    ("a hidden file", get("/.git/config"), 404, ""),
    ("a page that is not there", get("/workloads/new/nonsense"), 404, ""),
    ("a path of a page with more behind", get("/projects/1/edit/more"), 404, ""),
    ("a semicolon", get("/api/v1/clusters;jsessionid=1"), 404, ""),
    ("an unknown operation", get("/api/v1/nonsense"), 404, ""),
    ("a method that the path lacks", request("DELETE", "/api/v1/workloads"), 405, "GET, HEAD, OPTIONS"),
    ("writing to a page", request("POST", "/", body="{}"), 405, ""),
    ("writing to a probe", request("DELETE", "/healthz"), 405, ""),
    (
        "CORS is not granted",
        request("OPTIONS", WORKLOADS, headers=["Origin: http://evil.example", "Access-Control-Request-Method: POST"]),
        204,
        "",
    ),
]
