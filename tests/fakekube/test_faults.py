"""Each fault does what its name says, and the state afterwards is the one the client must find."""

import calendar
import email.utils
import http.client
import json
import threading
import time

import pytest


def pod(name, **annotations):
    return {
        "metadata": {
            "name": name,
            "annotations": {f"test.prorata.io/{k.replace('_', '-')}": v for k, v in annotations.items()},
        },
        "spec": {"containers": [{"name": "main", "image": "image:1"}]},
    }


def pods(namespace, name=""):
    return f"/api/v1/namespaces/{namespace}/pods" + (f"/{name}" if name else "")


def binding(name, node="node-00000"):
    return {"metadata": {"name": name}, "target": {"kind": "Node", "name": node}}


def lines(answer):
    return [json.loads(line) for line in answer.read().splitlines()]


def test_a_status_strikes_the_nth_request_and_only_so_often(fake, namespace):
    too_many = {"code": 429, "reason": "TooManyRequests", "retryAfter": 3}
    fake.fault({"verb": "get", "resource": "pods"}, skip=1, times=2, status=too_many)
    answers = [fake.ask("GET", pods(namespace, "a")) for _ in range(4)]
    assert [a.code for a in answers] == [404, 429, 429, 404]
    assert answers[1].headers["Retry-After"] == "3"
    assert answers[1].json["details"]["retryAfterSeconds"] == 3


def test_a_fault_can_name_a_verb_a_name_and_a_subresource(fake, namespace):
    fake.fault({"verb": "bind", "name": "b*"}, status={"code": 409, "reason": "Conflict"})
    for name in ("a", "b1"):
        assert fake.ask("POST", pods(namespace), pod(name)).code == 201
    assert fake.ask("POST", pods(namespace, "a/binding"), binding("a")).code == 201
    assert fake.ask("POST", pods(namespace, "b1/binding"), binding("b1")).code == 409
    assert fake.ask("POST", pods(namespace, "b1/binding"), binding("b1")).code == 201


def test_a_fault_can_name_how_a_path_begins(fake, namespace):
    fake.fault({"path": "/api/v1/nod*"}, times=0, status={"code": 500, "reason": "InternalError"})
    assert fake.ask("GET", "/api/v1/nodes?limit=1").code == 500
    assert fake.ask("GET", "/api/v1/nodes/node-00000").code == 500
    assert fake.ask("GET", pods(namespace)).code == 200


@pytest.mark.parametrize("action", [{"reset": True}, {"dropAnswer": True}, {"status": {"code": 503, "empty": True}}])
def test_whether_the_work_is_done(fake, namespace, action):
    fake.fault({"verb": "create", "resource": "pods"}, **action)
    try:
        assert fake.ask("POST", pods(namespace), pod("a")).code == 503
    except (ConnectionError, http.client.HTTPException):
        assert "status" not in action
    assert fake.ask("GET", pods(namespace, "a")).code == (200 if "dropAnswer" in action else 404)


def test_an_answer_before_the_work(fake, namespace):
    """A machine that stands still for as long as the work waits sees it done: it waits longer, then."""

    def is_early(wait_ms):
        name = f"after-{wait_ms}"
        fake.fault({"verb": "create", "resource": "pods"}, answerFirst=wait_ms)
        assert fake.ask("POST", pods(namespace), pod(name)).code == 201
        is_missing = fake.ask("GET", pods(namespace, name)).code == 404
        end = time.monotonic() + 60
        while fake.ask("GET", pods(namespace, name)).code == 404:
            assert time.monotonic() < end
            time.sleep(0.02)
        return is_missing

    assert any(is_early(wait_ms) for wait_ms in (100, 1000, 5000, 20000))


def test_a_webhook_of_admission_changes_what_is_created(fake, namespace):
    gate = [{"name": "example.com/wait"}]
    fake.fault(
        {"verb": "create", "resource": "pods"}, mutate={"spec": {"schedulerName": "other", "schedulingGates": gate}}
    )
    made = fake.ask("POST", pods(namespace), pod("a")).json
    assert (made["spec"]["schedulerName"], made["spec"]["schedulingGates"]) == ("other", gate)
    assert fake.ask("POST", pods(namespace, "a/binding"), binding("a")).code == 409


def test_the_servers_clock_may_be_wrong(fake, namespace):
    fake.settings(clockMs=-3600_000)
    answer = fake.ask("POST", pods(namespace), pod("a"))
    fake.settings(clockMs=None)
    now = time.time()
    created = calendar.timegm(time.strptime(answer.json["metadata"]["creationTimestamp"], "%Y-%m-%dT%H:%M:%SZ"))
    for told in (created, email.utils.parsedate_to_datetime(answer.headers["Date"]).timestamp()):
        assert 3500 < now - told < 3700


def test_an_answer_cut_short(fake, namespace):
    fake.fault({"verb": "list", "resource": "nodes"}, cutAfterBytes=100)
    with fake.open("GET", "/api/v1/nodes") as answer, pytest.raises(http.client.IncompleteRead) as cut:
        answer.read()
    assert len(cut.value.partial) == 100


def test_a_hanging_request_goes_when_the_faults_go(fake, namespace):
    fake.fault({"verb": "get", "resource": "nodes"}, hang=True)
    ended = []

    def ask():
        try:
            fake.ask("GET", "/api/v1/nodes/node-00000")
        except (ConnectionError, http.client.HTTPException):
            ended.append(True)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join(0.2)
    assert thread.is_alive()
    fake.control("DELETE", "faults")
    thread.join(10)
    assert ended == [True]


def test_a_stale_list_says_its_old_version(fake, namespace):
    before = fake.ask("GET", pods(namespace)).json["metadata"]["resourceVersion"]
    fake.ask("POST", pods(namespace), pod("a"))
    fake.fault({"verb": "list", "resource": "pods"}, staleList=1)
    stale = fake.ask("GET", pods(namespace)).json
    assert (stale["items"], stale["metadata"]["resourceVersion"]) == ([], before)
    assert len(fake.ask("GET", pods(namespace)).json["items"]) == 1


def watch_path(fake, namespace, **query):
    version = fake.ask("GET", pods(namespace)).json["metadata"]["resourceVersion"]
    query = {"watch": 1, "resourceVersion": version, "timeoutSeconds": 60} | query
    return pods(namespace) + "?" + "&".join(f"{k}={v}" for k, v in query.items())


def events(fake, namespace, before, after=lambda: None, **query):
    """The lines of a watch that begins, sees `before` done, and ends; (lines, whether it was cut)."""
    path = watch_path(fake, namespace, **query)
    with fake.open("GET", path) as answer:
        before()
        after()
        try:
            return answer.read().split(b"\n"), False
        except (http.client.IncompleteRead, ConnectionError) as cut:
            return getattr(cut, "partial", b"").split(b"\n"), True


def create(fake, namespace, *names):
    for name in names:
        assert fake.ask("POST", pods(namespace), pod(name)).code == 201


def kinds(found):
    return [json.loads(line)["type"] for line in found if line.endswith(b"}")]


def test_a_watch_that_is_closed_after_events(fake, namespace):
    fake.fault({"verb": "watch"}, closeWatch=2)
    found, is_cut = events(fake, namespace, lambda: create(fake, namespace, "a", "b", "c"))
    assert (kinds(found), is_cut) == (["ADDED", "ADDED"], False)


def test_a_watch_that_is_cut_in_the_middle_of_a_letter(fake, namespace):
    fake.fault({"verb": "watch"}, cutMidLine=1)
    found, is_cut = events(fake, namespace, lambda: create(fake, namespace, "a", "b"))
    assert kinds(found) == ["ADDED"]
    assert found[-1].endswith(b"\xc3")
    assert is_cut


def test_a_watch_repeats_an_event(fake, namespace):
    fake.fault({"verb": "watch"}, duplicateEvent=True)
    with fake.open("GET", watch_path(fake, namespace)) as answer:
        create(fake, namespace, "a", "b")
        found = [answer.readline().strip() for _ in range(3)]
        fake.control("POST", "watches", {"resource": "pods", "how": "close"})
        assert answer.read() == b""
    assert kinds(found) == ["ADDED", "ADDED", "ADDED"]
    assert found[0] == found[1] != found[2]


def test_a_silent_watch_says_nothing_and_ends_in_time(fake, namespace):
    fake.fault({"verb": "watch"}, silent=True)
    found, is_cut = events(
        fake, namespace, lambda: create(fake, namespace, "a"), timeoutSeconds=1, allowWatchBookmarks="true"
    )
    assert (kinds(found), is_cut) == ([], False)


@pytest.mark.parametrize("how, wanted, is_cut", [
    ("close", ["ADDED"], False),
    ("reset", None, True),
    ("midLine", ["ADDED"], True),
    ("error", ["ADDED", "ERROR"], False),
])  # fmt: skip
def test_an_order_to_open_watches(fake, namespace, how, wanted, is_cut):
    path = watch_path(fake, namespace)
    with fake.open("GET", path) as answer:
        create(fake, namespace, "a")
        first = answer.readline()
        fake.control("POST", "watches", {"resource": "pods", "how": how})
        try:
            rest, was_cut = answer.read().split(b"\n"), False
        except (http.client.IncompleteRead, ConnectionError) as cut:
            rest, was_cut = getattr(cut, "partial", b"").split(b"\n"), True
    assert was_cut == is_cut
    assert wanted is None or kinds([first.strip(), *rest]) == wanted


def test_a_slow_watcher_is_cut_without_a_word(fake, namespace):
    fake.settings(slowWatcher=0)
    try:
        found, is_cut = events(fake, namespace, lambda: create(fake, namespace, "a"))
    finally:
        fake.settings(slowWatcher=None)
    assert (kinds(found), is_cut) == ([], True)


def test_a_compaction_expires_versions_and_tokens(fake, namespace):
    create(fake, namespace, "a", "b")
    first = fake.ask("GET", pods(namespace) + "?limit=1").json["metadata"]
    create(fake, namespace, "c")
    fake.control("POST", "compact")
    expired = fake.ask("GET", pods(namespace) + f"?limit=1&continue={first['continue']}")
    assert (expired.code, expired.json["reason"]) == (410, "Expired")
    rest = fake.ask("GET", pods(namespace) + f"?continue={expired.json['metadata']['continue']}").json
    assert [item["metadata"]["name"] for item in rest["items"]] == ["b", "c"]
    assert fake.ask("GET", pods(namespace) + f"?limit=1&resourceVersion={first['resourceVersion']}").code == 410
    watch = fake.ask("GET", pods(namespace) + f"?watch=1&resourceVersion={first['resourceVersion']}")
    error = json.loads(watch.body)
    assert (watch.code, error["type"], error["object"]["code"]) == (200, "ERROR", 410)


def test_etcd_from_a_backup_goes_back_and_is_blind_to_the_future(fake, namespace):
    create(fake, namespace, "kept")
    fake.control("POST", "checkpoint")
    create(fake, namespace, "lost")
    version = fake.ask("GET", pods(namespace)).json["metadata"]["resourceVersion"]
    fake.control("POST", "restore")
    assert [p["metadata"]["name"] for p in fake.ask("GET", pods(namespace)).json["items"]] == ["kept"]
    fake.settings(tooLargeMs=0)
    probe = fake.ask("GET", pods(namespace) + f"?limit=1&resourceVersion={version}&resourceVersionMatch=NotOlderThan")
    fake.settings(tooLargeMs=None)
    assert (probe.code, probe.json["details"]["causes"][0]["reason"]) == (504, "ResourceVersionTooLarge")
    watch = fake.ask("GET", pods(namespace) + f"?watch=1&resourceVersion={int(version) + 100}&timeoutSeconds=1")
    assert (watch.code, watch.body) == (200, "")
