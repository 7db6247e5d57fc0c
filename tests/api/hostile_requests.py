"""Hostile requests, second part: tokens, ids of others, parameters, bodies. (name, request, status, words of the
message)"""

from hostile import raw, request

TRAININGS = "/api/v1/workloads/trainings"
PROJECTS = "/api/v1/org-unit/projects"
VIEWS = "/api/v1/me/views"
WORKLOADS = "/api/v1/workloads"
NOBODY = "00000000-0000-4000-8000-000000000000"
FORM = ["Content-Type: application/x-www-form-urlencoded"]


def get(path, token="admin", headers=()):
    return request("GET", path, token=token, headers=headers)


def training(spec="{}", name='"hostile"', project='"{own_project}"', cluster='"{cluster}"', token="admin"):
    body = '{"name":%s,"projectId":%s,"clusterId":%s,"spec":%s}' % (name, project, cluster, spec)
    return request("POST", TRAININGS, body, token=token)


def project(members):
    return request(
        "POST", PROJECTS, '{"name":"hostile","clusterId":"{cluster}","parentId":"{department}",%s}' % members
    )


def post(path, body, **options):
    return request("POST", path, body, **options)


CALLERS = [
    ("no token", get(WORKLOADS, token=None), 401, ""),
    ("an empty token", get(WORKLOADS, None, ["Authorization: Bearer "]), (400, 401), ""),
    ("a token without its word", get(WORKLOADS, None, ["Authorization: {admin}"]), 401, ""),
    ("the word alone", get(WORKLOADS, None, ["Authorization: Bearer"]), 401, ""),
    ("Basic", get(WORKLOADS, None, ["Authorization: Basic YWRtaW46YWRtaW4="]), 401, ""),
    ("two words", get(WORKLOADS, None, ["Authorization: Bearer {admin} {admin}"]), 401, ""),
    ("a token in the query", get(WORKLOADS + "?access_token={admin}&token={admin}", None), 401, ""),
    ("a token as cookie", get(WORKLOADS, None, ["Cookie: prorata_session={admin}"]), 401, ""),
    ("a made-up cookie", get(WORKLOADS, None, ["Cookie: prorata_session=" + "A" * 43]), 401, ""),
    ("a cookie of quotes", get(WORKLOADS, None, ["Cookie: prorata_session=' OR 1=1 --"]), 401, ""),
    (
        "somebody else's proxy header",
        get(WORKLOADS, None, ["X-Forwarded-User: admin@prorata.local", "X-Remote-User: admin@prorata.local"]),
        401,
        "",
    ),
    ("noise for a token", get(WORKLOADS, "A" * 4000), 401, ""),
    ("/metrics without a token", get("/metrics", token=None), 401, ""),
]

SCOPES = [
    ("another's project", get(PROJECTS + "/{other_project}", "researcher"), 404, ""),
    (
        "another's project by its resources",
        request("PUT", PROJECTS + "/{other_project}/resources", "[]", token="researcher"),
        (403, 404),
        "",
    ),
    (
        "another's project, changed",
        request("PUT", PROJECTS + "/{other_project}", '{"name":"x","resources":[]}', token="researcher"),
        (400, 403, 404),
        "",
    ),
    (
        "another's project, deleted",
        request("DELETE", PROJECTS + "/{other_project}", token="researcher"),
        (403, 404),
        "",
    ),
    (
        "one's own project, deleted without the right",
        request("DELETE", PROJECTS + "/{own_project}", token="researcher"),
        403,
        "",
    ),
    (
        "a project made without the right",
        post(PROJECTS, '{"name":"mine","clusterId":"{cluster}"}', token="researcher"),
        (400, 403),
        "",
    ),
    ("another's workload", get(WORKLOADS + "/{other_workload}", "researcher"), 404, ""),
    ("another's training", get(TRAININGS + "/{other_workload}", "researcher"), 404, ""),
    ("another's pods", get(WORKLOADS + "/{other_workload}/pods", "researcher"), 404, ""),
    ("another's events", get(WORKLOADS + "/{other_workload}/events", "researcher"), 404, ""),
    ("another's history", get(WORKLOADS + "/{other_workload}/history", "researcher"), 404, ""),
    ("another's logs", get(WORKLOADS + "/{other_workload}/logs", "researcher"), 404, ""),
    ("another's explanation", get(WORKLOADS + "/{other_workload}/explanation", "researcher"), 404, ""),
    ("another's what-if", get(WORKLOADS + "/{other_workload}/what-if", "researcher"), 404, ""),
    (
        "a question about another's project",
        post(
            "/api/v1/scheduler/what-if",
            '{"type":"Training","workload":{"name":"x","projectId":"{other_project}","clusterId":"{cluster}","spec":{"image":"x"}}}',
            token="researcher",
        ),
        400,
        "workload.projectId",
    ),
    (
        "waiting by injection",
        get("/api/v1/scheduler/waiting?projectId=1%20OR%201=1&nodePool=%27%20OR%201--", "researcher"),
        200,
        "",
    ),
    ("a cordon by injection", post("/api/v1/nodes/%27%20OR%201--/cordon", '{"reason":"x"}'), 400, "nodeId"),
    ("idle GPUs by injection", get("/api/v1/workloads/idle?nodePool=%27%20OR%201--", "researcher"), 200, ""),
    ("views by injection", get("/api/v1/me/views?page=%27%20OR%201--"), 200, ""),
    ("a view of another site", post(VIEWS, '{"page":"//evil.example","name":"x","query":""}'), 400, "page"),
    ("a view with lines in its name", post(VIEWS, '{"page":"nodes","name":"a\\nb","query":""}'), 400, "name"),
    ("a view too long", post(VIEWS, '{"page":"nodes","name":"x","query":"' + "a" * 2001 + '"}'), 400, "query"),
    (
        "timeline by injection",
        get("/api/v1/scheduler/timeline?node=%27%20OR%201--&nodePool=%27%20OR%201--"),
        200,
        "",
    ),
    (
        "receipts by injection",
        get("/api/v1/scheduler/receipts?projectId=1%20OR%201=1&nodePool=%27%20OR%201--", "researcher"),
        200,
        "",
    ),
    (
        "a question within a question",
        post("/api/v1/scheduler/what-if", '{"type":"Training","workload":{"type":"Training","workload":{}}}'),
        400,
        "workload.",
    ),
    (
        "a question of ten thousand pods",
        post(
            "/api/v1/scheduler/what-if",
            '{"type":"Distributed","workload":{"name":"x","projectId":"{own_project}","clusterId":"{cluster}",'
            '"spec":{"image":"x","numWorkers":9999,"compute":{"gpuDevicesRequest":1}}}}',
        ),
        200,
        "",
    ),
    (
        "a question of too many pods",
        post(
            "/api/v1/scheduler/what-if",
            '{"type":"Distributed","workload":{"name":"x","projectId":"{own_project}","clusterId":"{cluster}",'
            '"spec":{"image":"x","numWorkers":99999999}}}',
        ),
        400,
        "workload.spec.numWorkers",
    ),
    (
        "the journal without the right",
        get("/api/v1/scheduler/decisions?since=1970-01-01", "researcher"),
        (400, 403),
        "",
    ),
    (
        "another's metrics",
        get(
            WORKLOADS
            + "/{other_workload}/metrics?metricType=POD_COUNT&start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z",
            "researcher",
        ),
        404,
        "",
    ),
    ("another's training, deleted", request("DELETE", TRAININGS + "/{other_workload}", token="researcher"), 404, ""),
    ("another's training, stopped", post(TRAININGS + "/{other_workload}/suspend", None, token="researcher"), 404, ""),
    (
        "another's training as a workspace",
        request("DELETE", WORKLOADS + "/workspaces/{other_workload}", token="researcher"),
        404,
        "",
    ),
    ("a training under another kind's path", get(WORKLOADS + "/workspaces/{other_workload}"), 404, ""),
    (
        "a workload into another's project",
        training(project='"{other_project}"', token="researcher"),
        (400, 403, 404),
        "",
    ),
    ("an unknown project", training(project='"987654321"'), (400, 404), ""),
    ("a project that is no number", training(project='"x"'), (400, 404), ""),
    ("a project by injection", training(project='"1 OR 1=1"'), (400, 404), ""),
    ("an unknown cluster", training(cluster='"%s"' % NOBODY), (400, 404), ""),
    ("an unknown workload", get(WORKLOADS + "/" + NOBODY), 404, ""),
    ("an unknown department", get("/api/v1/org-unit/departments/987654321"), 404, ""),
    ("a department by injection", get("/api/v1/org-unit/departments/1'%20OR%20'1'='1"), (400, 404), ""),
    ("a number past 64 bits as an id", get(PROJECTS + "/99999999999999999999999"), (400, 404), ""),
    ("a negative id", get(PROJECTS + "/-1"), (400, 404), ""),
    ("an unknown node pool", get("/api/v1/node-pools/987654321"), 404, ""),
    (
        "an access rule for oneself",
        post(
            "/api/v1/authorization/access-rules",
            '{"subjectId":"hostile","subjectType":"app","roleId":1,"scopeId":"1","scopeType":"tenant"}',
            token="researcher",
        ),
        (403, 404),
        "",
    ),
    (
        "a service account made without the right",
        post("/api/v1/service-accounts", '{"name":"mine"}', token="researcher"),
        403,
        "",
    ),
    ("nodes without the right", get("/api/v1/nodes", "researcher"), 403, ""),
    (
        "a node failed without the right",
        post("/api/v1/simulation/nodes/node-1/fail", None, token="researcher"),
        (403, 404),
        "",
    ),
    (
        "settings changed without the right",
        request("PUT", "/v1/k8s/setting", '{"key":"x","value":"y"}', token="researcher"),
        403,
        "",
    ),
]

PARAMETERS = [
    ("a page of nothing", get(WORKLOADS + "?limit=0"), 400, "limit: at least 1, got 0"),
    ("a page of everything", get(WORKLOADS + "?limit=501"), 400, "limit: at most 500"),
    ("a page that is no number", get(WORKLOADS + "?limit=ten"), 400, "whole number"),
    ("a page of half a row", get(WORKLOADS + "?limit=1.5"), 400, "whole number"),
    ("a page past 64 bits", get(WORKLOADS + "?limit=99999999999999999999"), 400, "whole number"),
    ("a negative offset", get(WORKLOADS + "?offset=-1"), 400, "at least 0"),
    ("a page given twice", get(WORKLOADS + "?limit=5&limit=6"), 400, "given twice"),
    ("a sort by injection", get(WORKLOADS + "?sortBy=name;DROP%20TABLE%20workloads"), 400, "one of"),
    ("a sort order by injection", get(WORKLOADS + "?sortOrder=asc,(select%201)"), 400, "one of asc, desc"),
    ("an unknown field in a filter", get(WORKLOADS + "?filterBy=password==x"), 400, "known field"),
    ("a filter by injection", get(WORKLOADS + "?filterBy=1=1"), 400, "known field"),
    ("a filter's value by injection", get(WORKLOADS + "?filterBy=name=='%20OR%201=1%20--"), 200, ""),
    ("a filter's value of wildcards", get(WORKLOADS + "?filterBy=name=@%25_%25"), 200, ""),
    ("a filter without a value", get(WORKLOADS + "?filterBy=name=="), 400, "no value"),
    ("a time that is none in a filter", get(WORKLOADS + "?filterBy=createdAt>=yesterday"), 400, ""),
    ("a number that is none in a filter", get(WORKLOADS + "?filterBy=allocatedGPU>=many"), 400, ""),
    ("a hundred conditions", get(WORKLOADS + "?filterBy=" + ",".join(["name!=x"] * 100)), 400, "at most"),
    ("a search by injection", get(WORKLOADS + "?search='%3B%20DROP%20TABLE%20projects%3B--"), 200, ""),
    ("a long search", get(WORKLOADS + "?search=" + "a" * 10000), (200, 400), ""),
    ("bad UTF-8 in a search", get(WORKLOADS + "?search=%ff"), 400, "UTF-8"),
    ("a NUL in a search", get(WORKLOADS + "?search=a%00b"), 400, "NUL"),
    ("a broken escape in a search", get(WORKLOADS + "?search=%zz"), 400, "percent"),
    ("yes for true", get(WORKLOADS + "?deleted=yes"), 400, "true or false"),
    ("an id that is no UUID", get(WORKLOADS + "/1"), 400, "UUID"),
    ("a UUID in braces", get(WORKLOADS + "/%7B" + NOBODY + "%7D"), 400, "UUID"),
    ("a UUID by injection", get(WORKLOADS + "/" + NOBODY + "'--"), 400, "UUID"),
    (
        "metrics of no kind",
        get(WORKLOADS + "/{own_workload}/metrics?start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z"),
        400,
        "metricType: required",
    ),
    (
        "metrics of an unknown kind",
        get(WORKLOADS + "/{own_workload}/metrics?metricType=X&start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z"),
        400,
        "one of",
    ),
    (
        "metrics of too many samples",
        get(
            WORKLOADS + "/{own_workload}/metrics?metricType=POD_COUNT&numberOfSamples=1001"
            "&start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z"
        ),
        400,
        "at most 1000",
    ),
    (
        "metrics of a time that is none",
        get(WORKLOADS + "/{own_workload}/metrics?metricType=POD_COUNT&start=0&end=2026-01-02T00:00:00Z"),
        400,
        "a time",
    ),
    (
        "metrics that end before they begin",
        get(
            WORKLOADS
            + "/{own_workload}/metrics?metricType=POD_COUNT&start=2026-01-02T00:00:00Z&end=2026-01-01T00:00:00Z"
        ),
        400,
        "",
    ),
    (
        "telemetry by three groups",
        get(WORKLOADS + "/telemetry?telemetryType=WORKLOADS_COUNT&groupBy=Type,Phase,Category"),
        400,
        "at most 2",
    ),
    ("a role that is no number", get("/api/v1/authorization/roles/admin"), 400, "whole number"),
    ("logs from a time that is none", get(WORKLOADS + "/{own_workload}/logs?since=whenever"), 400, "must match"),
    ("fewer than no lines of a log", get(WORKLOADS + "/{own_workload}/logs?tail=-2"), 400, "at least -1"),
]

BODIES = [
    ("no body", post(TRAININGS, None), 400, "body: required"),
    ("an empty body", post(TRAININGS, ""), 400, "body: required"),
    ("half an object", post(TRAININGS, '{"name":'), 400, "body: line 1"),
    ("two objects", post(TRAININGS, "{}{}"), 400, "body: line 1"),
    ("no JSON", post(TRAININGS, "name=x"), 400, "body: line 1"),
    ("a trailing comma", post(TRAININGS, '{"name":"x",}'), 400, "body: line 1"),
    ("a comment", post(TRAININGS, '{/* */"name":"x"}'), 400, "body: line 1"),
    ("NaN", training('{"compute":{"cpuCoreRequest":NaN}}'), 400, "body: line 1"),
    ("infinity", training('{"compute":{"cpuCoreRequest":1e999}}'), 400, "body: line 1"),
    (
        "an integer past 64 bits",
        training('{"compute":{"gpuDevicesRequest":99999999999999999999}}'),
        400,
        "body: line 1",
    ),
    ("a key twice", post(TRAININGS, '{"name":"x","name":"y"}'), 400, "body: line 1"),
    ("a NUL in a text", training(name='"a\\u0000b"'), 400, "body: line 1"),
    ("half a surrogate", training(name='"\\ud800"'), 400, "body: line 1"),
    ("bad UTF-8", post(TRAININGS, b'{"name":"\xff\xfe"}'), 400, "body: line 1"),
    ("a byte order mark", post(TRAININGS, b"\xef\xbb\xbf{}"), 400, "body: line 1"),
    ("UTF-16", post(TRAININGS, '{"name":"x"}'.encode("utf-16")), 400, "body: line 1"),
    ("33 levels", post(TRAININGS, '{"x":' * 33 + "1" + "}" * 33), 400, "32 levels"),
    ("a hundred thousand lists", post(TRAININGS, "[" * 100000), 400, "32 levels"),
    ("brackets in a text are not nesting", training(name='"' + "[" * 100 + '"'), 400, ""),
    ("a megabyte of blanks", post(TRAININGS, " " * 1048576), 400, "body: line"),
    ("one byte past the limit", post(TRAININGS, " " * 1048577), 413, "at most 1048576"),
    ("a list for an object", post(TRAININGS, "[]"), 400, "body: expected an object, got a list"),
    ("null for an object", post(TRAININGS, "null"), 400, "body: expected an object, got null"),
    ("a text for an object", post(TRAININGS, '"x"'), 400, "body: expected an object"),
    ("an object for a list", request("PUT", PROJECTS + "/{own_project}/resources", "{}"), 400, "body: expected a list"),
    ("nothing of what is required", post(TRAININGS, "{}"), 400, "name: required"),
    ("a number for a name", training(name="7"), 400, "name: expected text, got 7"),
    ("null for a name", training(name="null"), 400, "name: expected text, got null"),
    ("an empty name", training(name='""'), 400, "name"),
    ("a name in capitals", training(name='"Hostile"'), 400, "name"),
    ("a name with a slash", training(name='"a/b"'), 400, "name"),
    ("a name of dots", training(name='".."'), 400, "name"),
    ("a name with a line break", training(name='"a\\nb"'), 400, "name"),
    ("a name by injection", training(name='"a\'; DROP TABLE workloads; --"'), 400, "name"),
    ("a name with a script", training(name='"<script>alert(1)</script>"'), 400, "name"),
    ("a long name", training(name='"%s"' % ("a" * 300)), 400, "name"),
    ("a cluster that is no UUID", training(cluster='"x"'), 400, "clusterId: expected a UUID"),
    (
        "a negative number of GPUs",
        training('{"image":"x","compute":{"gpuDevicesRequest":-1}}'),
        400,
        "spec.compute.gpuDevicesRequest: at least 0, got -1",
    ),
    ("half a GPU by devices", training('{"image":"x","compute":{"gpuDevicesRequest":0.5}}'), 400, "whole number"),
    ("GPUs as a text", training('{"image":"x","compute":{"gpuDevicesRequest":"1"}}'), 400, "whole number"),
    ("GPUs as a list", training('{"image":"x","compute":{"gpuDevicesRequest":[1]}}'), 400, "whole number"),
    (
        "GPUs past 32 bits",
        training('{"image":"x","compute":{"gpuDevicesRequest":4294967296}}'),
        400,
        "at most 2147483647",
    ),
    ("a negative core", training('{"image":"x","compute":{"cpuCoreRequest":-0.1}}'), 400, "at least 0"),
    ("memory that is no quantity", training('{"image":"x","compute":{"cpuMemoryRequest":"lots"}}'), 400, "8Gi"),
    ("a negative quantity", training('{"image":"x","compute":{"cpuMemoryRequest":"-1G"}}'), 400, "8Gi"),
    ("compute as a text", training('{"image":"x","compute":"all"}'), 400, "spec.compute: expected an object"),
    ("variables as an object", training('{"image":"x","environmentVariables":{"A":"b"}}'), 400, "expected a list"),
    (
        "a variable as a text",
        training('{"image":"x","environmentVariables":["A=b"]}'),
        400,
        "spec.environmentVariables[0]: expected an object",
    ),
    ("a plan of termination below 0", training('{"image":"x","terminationGracePeriodSeconds":-5}'), 400, "at least 0"),
    ("a project without anything", post(PROJECTS, '{"name":"hostile"}'), 400, "required"),
    ("resources as an object", project('"resources":{}'), 400, "resources: expected a list"),
    (
        "a pool that is not there",
        project('"resources":[{"nodePool":{"id":"987654321"},"gpu":{"deserved":1}}]'),
        (400, 404),
        "",
    ),
    ("a negative quota", project('"resources":[{"nodePool":{"id":"{pool}"},"gpu":{"deserved":-2}}]'), 400, "resources"),
    (
        "a quota as a text",
        project('"resources":[{"nodePool":{"id":"{pool}"},"gpu":{"deserved":"1"}}]'),
        400,
        "expected a number",
    ),
    (
        "a project whose name is taken",
        post(PROJECTS, '{"name":"team-a","clusterId":"{cluster}","parentId":"{department}","resources":[]}'),
        409,
        "",
    ),
    (
        "a project's name in capitals",
        post(PROJECTS, '{"name":"Team-X","clusterId":"{cluster}","parentId":"{department}","resources":[]}'),
        400,
        "name",
    ),
    (
        "a department that is not there",
        post(PROJECTS, '{"name":"hostile","clusterId":"{cluster}","parentId":"987654321","resources":[]}'),
        (400, 404),
        "",
    ),
    ("a batch without an action", post(WORKLOADS + "/batch", '{"ids":[]}'), 400, "required"),
    (
        "a batch with an unknown action",
        post(WORKLOADS + "/batch", '{"action":"explode","ids":["%s"]}' % NOBODY),
        400,
        "one of",
    ),
    (
        "a batch of too many",
        post(WORKLOADS + "/batch", {"action": "delete", "ids": [NOBODY] * 101}),
        400,
        "100, got 101",
    ),
    ("a batch of what is no UUID", post(WORKLOADS + "/batch", '{"action":"delete","ids":["1"]}'), 400, "UUID"),
    ("a form for JSON", post(TRAININGS, "name=x", headers=FORM), 415, "application/json"),
    ("text for JSON", post(TRAININGS, "{}", headers=["Content-Type: text/plain"]), 415, "application/json"),
    ("XML for JSON", post(TRAININGS, "<a/>", headers=["Content-Type: application/xml"]), 415, "application/json"),
    ("JSON for a form", post("/api/v2/token", "{}", token=None), 415, "form-urlencoded"),
    (
        "a grant that is not known",
        post("/api/v2/token", "grant_type=magic", token=None, headers=FORM),
        400,
        "unsupported_grant_type",
    ),
    ("a form without a grant", post("/api/v2/token", "username=x", token=None, headers=FORM), 400, "invalid_request"),
    (
        "a form with a NUL",
        post("/api/v2/token", "grant_type=password&username=%00&password=x", token=None, headers=FORM),
        400,
        "",
    ),
    (
        "a client's wrong secret",
        post("/api/v2/token", "grant_type=client_credentials&client_id=x&client_secret=y", token=None, headers=FORM),
        401,
        "invalid_client",
    ),
    (
        "a refresh token of one's own making",
        post("/api/v2/token", "grant_type=refresh_token&refresh_token=x", token=None, headers=FORM),
        400,
        "invalid_grant",
    ),
    (
        "a wrong password",
        post("/api/v1/token", '{"grantType":"password","username":"nobody@example.com","password":"x"}', token=None),
        400,
        "",
    ),
    (
        "a user by injection",
        post("/api/v1/token", '{"grantType":"password","username":"\' OR 1=1 --","password":"x"}', token=None),
        400,
        "",
    ),
    ("a list for a token's body", post("/api/v1/token", "[]", token=None), 400, ""),
    ("a grant that is a number", post("/api/v1/token", '{"grantType":1}', token=None), 400, ""),
    (
        "a session without a password",
        post("/api/v1/session", '{"username":"admin@prorata.local"}', token=None),
        400,
        "password: required",
    ),
    (
        "a password as an object",
        post("/api/v1/session", '{"username":"admin@prorata.local","password":{}}', token=None),
        400,
        "password: expected text",
    ),
    (
        "a password of ten kilobytes",
        post("/api/v1/session", {"username": "admin@prorata.local", "password": "x" * 10000}, token=None),
        400,
        "at most 255",
    ),
    (
        "a password of a megabyte",
        post("/api/v1/session", {"username": "admin@prorata.local", "password": "x" * 1000000}, token=None),
        413,
        "without a token",
    ),
    ("a clock that runs backwards", request("PUT", "/api/v1/simulation/clock", '{"speed":-1}'), 400, "at least"),
    ("a clock that stands", request("PUT", "/api/v1/simulation/clock", '{"speed":0}'), 400, "at least"),
    (
        "a node with a negative number of GPUs",
        post("/api/v1/simulation/nodes", '{"name":"n","gpus":-1}'),
        400,
        "at least 0",
    ),
    ("a node's name with blanks", post("/api/v1/simulation/nodes", '{"name":"a b"}'), 400, "must match"),
    (
        "a body that never comes",
        raw("POST /api/v1/workloads/trainings HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"),
        401,
        "",
    ),
]
