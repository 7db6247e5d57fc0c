"""What is told, to whom, and how it gets there: a real mail server, a receiver of webhooks, outages and kills."""

import json
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import time

import pytest
from people import id_of, make_person
from receivers import (
    MailServer,
    Receiver,
    channel_of,
    deliveries,
    mail_config,
    make_certificate,
    names,
    run,
    signature,
    slack,
)
from servers import PRORATA, Server
from test_notifications import CHANNELS, STATE, SUBSCRIPTIONS

SECRET = "a key of the webhook's"
LOCAL = ("--notify-network", "127.0.0.0/8")
STATUS = "Workload status change"
COMPLETED = [{"category": STATUS, "types": ["Completed"]}]
TRY = "/api/v1/validate-notification-channel"


@pytest.fixture(scope="module")
def files():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-test-"))
    yield make_certificate(folder)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.stop()


@pytest.fixture(scope="module")
def mail_server():
    server = MailServer()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def site(files):
    """One server for all that leaves it as it was."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="prorata-test-"))
    arguments = ("--quick-start", "--speed", "20", "--notify-retry", "0.1", "--notify-ca", files[0], *LOCAL)
    server = Server(path, *arguments, "--notify-per-hour", "1000").start()
    server.ann = make_person(server, "ann@example.org", ("AI practitioner", "project", server.project_id("team-a")))
    server.bob = make_person(server, "bob@example.org", ("AI practitioner", "project", server.project_id("team-b")))
    server.eve = make_person(server, "eve@example.org", ("Viewer", "project", server.project_id("team-a")))
    yield server
    assert server.stop() == 0, server.tail()
    log = server.log.read_text(errors="replace")
    assert "Sanitizer" not in log and "runtime error" not in log, server.tail()
    shutil.rmtree(path)


@pytest.fixture(autouse=True)
def clean(request):
    yield
    if "site" in request.fixturenames:
        site = request.getfixturevalue("site")
        for token in (site.ann, site.bob, site.eve):
            for row in site.request("GET", SUBSCRIPTIONS, token=token).json:
                assert site.request("DELETE", f"{SUBSCRIPTIONS}/{row['id']}", token=token).status == 204
        for row in site.get(CHANNELS).json:
            assert site.delete(f"{CHANNELS}/{row['name']}").status == 204
    if "receiver" in request.fixturenames:
        receiver = request.getfixturevalue("receiver")
        receiver.answer = 200
        receiver.gate.set()


def hook(server, receiver, path, **config):
    body = {"webhookUrl": receiver.url(path), "secret": SECRET, **config}
    answer = server.post(CHANNELS, {"type": "webhook", "name": path, "config": body})
    assert answer.status == 200, answer


def post_office(server, port, **more):
    answer = server.post(CHANNELS, {"type": "email", "config": mail_config(port, **more)})
    assert answer.status == 200, answer


def subscribe(server, token, channel, events=None, **more):
    body = {"events": events or COMPLETED, "channels": [channel], **more}
    answer = server.request("POST", SUBSCRIPTIONS, body, token=token)
    assert answer.status == 200, answer
    return answer.json["id"]


def test_a_webhook_gets_a_signed_delivery(site, receiver):
    hook(site, receiver, "signed")
    subscribe(site, site.ann, "signed")
    workload = run(site, "train-signed", "team-a", site.ann)
    site.wait_for("a delivery", lambda: receiver.lines("signed"))
    ((_, headers, body),) = [call for call in receiver.calls if call[0] == "/signed"]
    assert headers["X-Prorata-Signature"] == signature(SECRET, headers["X-Prorata-Timestamp"], body)
    assert abs(int(headers["X-Prorata-Timestamp"]) - time.time()) < 60
    told = json.loads(body)
    assert told["id"] == headers["X-Prorata-Delivery"] and told["omitted"] == 0
    (line,) = told["notifications"]
    assert (line["category"], line["type"], line["workloadId"]) == (STATUS, "Completed", workload)
    assert line["message"].startswith("train-signed of project team-a is Completed")
    site.wait_for("what came of it", lambda: channel_of(site, "signed")["lastSentAt"])


def test_each_is_told_what_he_asked_for_and_may_see(site, receiver):
    for person in ("ann", "bob", "eve"):
        hook(site, receiver, f"for-{person}")
    subscribe(site, site.ann, "for-ann")
    subscribe(site, site.ann, "for-ann", scope="all")  # the same again: still one line
    subscribe(site, site.bob, "for-bob", scope="all")
    subscribe(site, site.eve, "for-eve", scope="all")
    run(site, "of-ann", "team-a", site.ann)
    run(site, "of-bob", "team-b", site.bob)
    run(site, "of-admin", "team-a", site.token)
    site.wait_for(
        "the last", lambda: "of-admin" in names(receiver, "for-eve") and "of-admin" in names(receiver, "for-ann")
    )
    site.wait_for("bob's", lambda: names(receiver, "for-bob"))
    assert names(receiver, "for-ann") == names(receiver, "for-eve") == ["of-ann", "of-admin"]
    assert names(receiver, "for-bob") == ["of-bob"], "the other project stays hidden"


def test_a_channel_that_several_share_says_it_once(site, receiver):
    hook(site, receiver, "shared")
    subscribe(site, site.ann, "shared")
    subscribe(site, site.eve, "shared", scope="all")
    run(site, "once", "team-a", site.ann)
    run(site, "twice", "team-a", site.ann)
    site.wait_for("the second", lambda: "twice" in names(receiver, "shared"))
    assert names(receiver, "shared") == ["once", "twice"]


def test_an_outage_ends_and_everything_arrives(site, receiver):
    receiver.answer = 503, b"back in a minute\r\n\x1b[31m"
    hook(site, receiver, "outage")
    subscribe(site, site.ann, "outage")
    run(site, "during", "team-a", site.ann)
    site.wait_for("three tries", lambda: len(receiver.bodies("outage")) >= 3)
    shown = channel_of(site, "outage")
    assert shown["lastError"] == "the receiver answers 503: back in a minute???[31m"
    assert site.request("GET", f"{CHANNELS}/outage", token=site.eve).status == 403, "for who sets channels alone"
    (waiting,) = deliveries(site, "Waiting")
    assert waiting["attempts"] >= 2 and waiting["channel"] == "outage" and waiting["error"] == shown["lastError"]
    receiver.answer = 200
    (sent,) = site.wait_for("it is sent", lambda: [d for d in deliveries(site, "Sent") if d["channel"] == "outage"])
    assert len({body["id"] for body in receiver.bodies("outage")}) == 1, "each try has the same id"
    assert sent["id"] == receiver.bodies("outage")[0]["id"] and channel_of(site, "outage")["lastError"] == ""


def test_a_redirect_is_not_followed(site, receiver):
    receiver.answer = 307
    hook(site, receiver, "moved")
    subscribe(site, site.ann, "moved")
    run(site, "moving", "team-a", site.ann)
    site.wait_for("an error", lambda: channel_of(site, "moved")["lastError"])
    assert channel_of(site, "moved")["lastError"] == "the receiver answers 307, and redirects are not followed"
    assert not receiver.bodies("elsewhere")


def test_who_hangs_holds_nobody_else(site, receiver):
    slow = Receiver()
    slow.gate.clear()
    hook(site, slow, "hanging")
    hook(site, receiver, "lively")
    subscribe(site, site.ann, "hanging")
    subscribe(site, site.ann, "lively")
    run(site, "first", "team-a", site.ann)
    site.wait_for("it hangs", lambda: slow.calls)
    run(site, "second", "team-a", site.ann)
    site.wait_for("the lively one has both", lambda: names(receiver, "lively") == ["first", "second"])
    assert len({body["id"] for body in slow.bodies("hanging")}) == 1, "tried again perhaps, and nothing else beside it"
    slow.stop()


def test_who_lost_his_rights_is_told_nothing_more(site, receiver):
    receiver.answer = 500
    hook(site, receiver, "rights")
    carl = make_person(site, "carl@example.org", ("AI practitioner", "project", site.project_id("team-a")))
    dora = make_person(site, "dora@example.org", ("AI practitioner", "project", site.project_id("team-a")))
    subscribe(site, carl, "rights")
    subscribe(site, dora, "rights", scope="all")
    run(site, "seen-then", "team-a", carl)
    site.wait_for("a try", lambda: receiver.bodies("rights"))
    rules = site.get("/api/v1/authorization/access-rules").json["accessRules"]
    rule = next(rule for rule in rules if rule["subjectId"] == "carl@example.org")
    assert site.delete(f"/api/v1/authorization/access-rules/{rule['id']}").status == 204
    assert site.delete(f"/api/v1/users/{id_of(site, 'dora@example.org')}").status == 204
    receiver.answer = 200
    (dropped,) = site.wait_for("it is dropped", lambda: deliveries(site, "Dropped"))
    assert (dropped["channel"], dropped["error"]) == ("rights", "nobody may see it any more")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_private_addresses_are_refused_where_no_setting_names_them(module_server, receiver, host):
    config = {"webhookUrl": f"http://{host}:{receiver.port}/private", "secret": SECRET}
    answer = module_server.post(TRY, {"type": "webhook", "config": config})
    assert (answer.status, answer.json["message"]) == (
        400,
        "the receiver: its address is of this machine or a private network, which --notify-network does not name",
    )
    config = mail_config(receiver.port, smtpHost=host)
    answer = module_server.post(TRY, {"type": "email", "config": config})
    assert answer.status == 400 and "private network" in answer.json["message"], answer
    assert not receiver.bodies("private")


def test_the_environments_proxy_is_not_taken(make_server, receiver):
    proxy = f"http://127.0.0.1:{receiver.port}"
    environment = {"http_proxy": proxy, "https_proxy": proxy, "ALL_PROXY": proxy}
    server = make_server("--quick-start", environment=environment)
    config = {"webhookUrl": "http://127.0.0.1:9/by-proxy", "secret": SECRET}
    answer = server.post(TRY, {"type": "webhook", "config": config})
    assert answer.status == 400 and "private network" in answer.json["message"], answer
    assert not any("by-proxy" in call[0] for call in receiver.calls)


def test_the_proxy_that_is_set_is_taken(make_server, receiver):
    server = make_server("--quick-start", "--notify-proxy", f"http://127.0.0.1:{receiver.port}")
    config = {"webhookUrl": "http://127.0.0.1:9/by-proxy", "secret": SECRET}
    assert server.post(TRY, {"type": "webhook", "config": config}).json is True
    assert receiver.calls[-1][0] == "http://127.0.0.1:9/by-proxy"


@pytest.mark.parametrize("tls", ["none", "starttls"])
@pytest.mark.parametrize("auth", ["auth_none", "auth_login", "auth_plain"])
def test_mail_servers_of_all_kinds(site, files, tls, auth):
    """Signed in and under TLS as was asked; a wrong password, and TLS that the server lacks, are errors."""
    server = MailServer(tls, "none" if auth == "auth_none" else "me:secret", files if tls != "none" else ())
    config = mail_config(server.port, smtpTlsEnabled=tls != "none", authType=auth)
    if auth != "auth_none":
        config |= {"username": "me", "password": "secret"}
        wrong = site.post(TRY, {"type": "email", "config": {**config, "password": "guess"}})
        assert wrong.status == 400 and "535" in wrong.json["message"], wrong
        assert "guess" not in wrong.json["message"]
    answer = site.post(TRY, {"type": "email", "config": config})
    assert (answer.status, answer.json) == (200, True), answer
    if tls == "none":
        without = site.post(TRY, {"type": "email", "config": {**config, "smtpTlsEnabled": True}})
        assert without.status == 400, "a server without TLS is not spoken to in clear"
    assert not server.rows, "trying sends nothing"
    server.stop()


def test_a_mail_says_what_happened(site, files):
    server = MailServer("starttls", "me:secret", files)
    more = {"username": "me", "password": "secret", "authType": "auth_plain", "smtpTlsEnabled": True}
    post_office(site, server.port, subject="{{ .reason }}: {{.workload}} {{ .nonsense }}", **more)
    subscribe(site, site.ann, "email")
    run(site, "mailed", "team-a", site.ann)
    site.wait_for("a mail", lambda: server.mails)
    (row,), (mail,) = server.rows, server.mails
    assert (row["user"], row["tls"], row["from"], row["to"]) == ("me", True, "gpu@lab.example", ["ann@example.org"])
    (sender,), (recipient,) = mail["From"].addresses, mail["To"].addresses
    assert (sender.display_name, sender.addr_spec) == ("Run:ai", "gpu@lab.example")
    assert (recipient.addr_spec, mail["Subject"]) == ("ann@example.org", "Completed: mailed {{ .nonsense }}")
    assert mail["Auto-Submitted"] == "auto-generated" and mail["Message-ID"].endswith("@lab.example>")
    assert "Completed: mailed of project team-a is Completed" in mail.get_content()
    assert all(len(line) <= 78 for line in row["raw"].splitlines())
    server.stop()


def test_no_name_ends_a_header(site, mail_server):
    """A display name and a subject may hold anything: lines, other alphabets, the marks of encoded words."""
    evil = "Größe \U0001f600 =?UTF-8?Q?x?=\r\nBcc: spy@example.org\r\n\r\nbody " + "ü" * 60
    post_office(site, mail_server.port, fromDisplayName=evil, subject=evil + " {{ .workload }}")
    subscribe(site, site.ann, "email")
    before = len(mail_server.rows)
    run(site, "headers", "team-a", site.ann)
    site.wait_for("a mail", lambda: len(mail_server.mails) > before)
    mail, row = mail_server.mails[-1], mail_server.rows[-1]
    assert mail["Bcc"] is None and row["to"] == ["ann@example.org"]
    assert mail.defects == [] and "spy" not in (mail["To"] or "")
    assert mail["Subject"].startswith("Größe \U0001f600 =?UTF-8?Q?x?=  Bcc: spy@example.org")
    assert mail["Subject"].endswith("ü headers")
    assert [address.addr_spec for address in mail["From"].addresses] == ["gpu@lab.example"]
    assert "headers of project team-a is Completed" in mail.get_content()
    assert max(map(len, row["raw"].splitlines())) <= 78


def test_recipients_of_the_channel_get_it_beside_the_person(site, mail_server):
    post_office(site, mail_server.port, recipients=["ops@lab.example", "gpu@lab.example"])
    subscribe(site, site.ann, "email")
    subscribe(site, site.eve, "email", scope="all")
    run(site, "copies", "team-a", site.ann)
    site.wait_for(
        "three mails", lambda: all(mail_server.to(a) for a in ("ops@lab.example", "ann@example.org", "eve@example.org"))
    )
    (row,) = [row for row in mail_server.rows if "ops@lab.example" in row["to"]]
    assert row["to"] == ["ops@lab.example", "gpu@lab.example"]
    assert len(mail_server.to("eve@example.org")) == 1


def test_an_address_that_is_refused_holds_nobody_else(site, mail_server):
    post_office(site, mail_server.port)
    nobody = make_person(site, "nobody@example.org", ("Viewer", "project", site.project_id("team-a")))
    subscribe(site, nobody, "email", scope="all")
    subscribe(site, site.ann, "email")
    before = len(mail_server.to("ann@example.org"))
    run(site, "refused", "team-a", site.ann)
    site.wait_for("ann's mail", lambda: len(mail_server.to("ann@example.org")) > before)
    (waiting,) = site.wait_for("a second try", lambda: [d for d in deliveries(site, "Waiting") if d["attempts"] > 1])
    assert waiting["recipient"] == "nobody@example.org" and "550 no such user here" in waiting["error"]
    assert channel_of(site, "email")["pausedUntil"] is None
    assert site.delete(f"/api/v1/users/{id_of(site, 'nobody@example.org')}").status == 204


def test_what_is_switched_off_is_told_nothing(site, receiver):
    hook(site, receiver, "off")
    assert site.post(CHANNELS, {"type": "slack", "config": {"webhookUrl": receiver.url("on")}}).status == 200
    assert site.request("PATCH", STATE, {"webhook": {"enabled": False}}).status == 200
    subscribe(site, site.ann, "off")
    subscribe(site, site.ann, "slack")
    run(site, "unheard", "team-a", site.ann)
    site.wait_for("the other", lambda: receiver.bodies("on"))
    assert site.request("PATCH", STATE, {"webhook": {"enabled": True}}).status == 200
    run(site, "heard", "team-a", site.ann)
    site.wait_for("the second", lambda: "heard" in names(receiver, "off"))
    assert names(receiver, "off") == ["heard"]


def test_slack_by_webhook_mentions_nobody(site, receiver):
    answer = site.post(CHANNELS, {"type": "slack", "config": {"webhookUrl": receiver.url("slack-hook")}})
    assert answer.status == 200, answer
    subscribe(site, site.ann, "slack")
    run(site, "told", "team-a", site.ann)
    site.wait_for("a message", lambda: receiver.bodies("slack-hook"))
    assert "Completed: told of project team-a is Completed" in receiver.bodies("slack-hook")[0]["text"]


def test_slack_needs_its_address_for_a_token(site):
    answer = site.post(f"{CHANNELS}/slack/create-app", {"accessToken": "xoxe"})
    assert (answer.status, answer.json["message"]) == (501, "Slack is not configured: --slack-api is not set")
    answer = site.post(TRY, {"type": "slack", "config": {"apiToken": "xoxb", "recipients": ["C1"]}})
    assert (answer.status, answer.json["message"]) == (501, "config.apiToken: --slack-api is not set")


def test_slack_by_token(make_server, receiver):
    receiver.answer = slack
    server = make_server("--quick-start", "--speed", "20", "--slack-api", receiver.url("slack"), *LOCAL)
    made = server.post(f"{CHANNELS}/slack/create-app", {"accessToken": "xoxe-1"})
    assert made.json == {"slackAppUrl": "https://slack.example/install"}, made
    assert receiver.calls[-1][1]["Authorization"] == "Bearer xoxe-1"
    config = {"apiToken": "xoxb-2", "recipients": ["C1"]}
    assert server.post(TRY, {"type": "slack", "config": config}).json is True
    assert server.post(CHANNELS, {"type": "slack", "config": config}).status == 200
    ann = make_person(server, "ann@example.org", ("AI practitioner", "project", server.project_id("team-a")))
    subscribe(server, ann, "slack")
    run(server, "chat", "team-a", ann)
    where = "slack/chat.postMessage"
    server.wait_for("both", lambda: len(receiver.bodies(where)) == 2)
    assert {body["channel"] for body in receiver.bodies(where)} == {"U1", "C1"}
    assert b"xoxb" not in server.log.read_bytes()
    assert server.stop() == 0
    done = subprocess.run([PRORATA, "keys", "rotate", "--data", server.data], capture_output=True, text=True)
    assert "1 secrets were sealed again" in done.stdout, done
    server.start()
    run(server, "chat-again", "team-a", ann)
    server.wait_for("two more", lambda: len(receiver.bodies(where)) == 4)


def test_a_flood_becomes_a_digest(make_server, receiver):
    server = make_server("--quick-start", "--speed", "50", "--notify-per-hour", "2", *LOCAL)
    hook(server, receiver, "flood")
    events = [{"category": STATUS, "types": ["Creating"]}]
    server.post(SUBSCRIPTIONS, {"events": events, "channels": ["flood"]})
    for i in range(205):
        server.submit(f"flood-{i}", "team-a", 0, spec={"compute": {"gpuDevicesRequest": 0}})
    (digest,) = server.wait_for(
        "all are counted", lambda: [d for d in deliveries(server, "Waiting") if d["omitted"] == 3]
    )
    assert digest["isDigest"] and names(receiver, "flood") == ["flood-0", "flood-1"]
    server.stop()
    with sqlite3.connect(server.data / "prorata.db") as database:
        database.execute("UPDATE notification_deliveries SET next_ms = 0 WHERE state = 'Waiting'")
    server.start()
    server.token = None
    server.wait_for("the digest", lambda: len(receiver.bodies("flood")) == 3)
    last = receiver.bodies("flood")[-1]
    assert len(last["notifications"]) == 200 and last["omitted"] == 3


def test_a_kill_loses_nothing_and_doubles_by_id_alone(make_server, receiver):
    server = make_server("--quick-start", "--speed", "50", "--notify-retry", "0.1", *LOCAL)
    hook(server, receiver, "killed")
    assert server.post(SUBSCRIPTIONS, {"events": COMPLETED, "channels": ["killed"]}).status == 200
    receiver.gate.clear()
    wanted = []
    for i in range(4):
        wanted.append(f"kill-{i}")
        run(server, wanted[-1], "team-a", server.token)
        if i == 1:
            server.wait_for("one is on its way", lambda: receiver.bodies("killed"))
        if i % 2:
            server.kill()
            server.start()
            server.sign_in()
    receiver.gate.set()
    server.wait_for("all", lambda: set(wanted) <= set(names(receiver, "killed")))
    server.wait_for("none waits", lambda: not deliveries(server, "Waiting"))
    by_id = {}
    for body in receiver.bodies("killed"):
        assert by_id.setdefault(body["id"], body) == body, "the same id is the same delivery"
    assert sorted(line["workloadName"] for body in by_id.values() for line in body["notifications"]) == wanted


def test_what_cannot_be_sent_is_given_up_visibly(make_server, receiver):
    receiver.answer = 500
    server = make_server(
        "--quick-start", "--speed", "50", "--notify-retry", "0.05", "--notify-give-up", "0.0002", *LOCAL
    )
    hook(server, receiver, "given-up")
    server.post(SUBSCRIPTIONS, {"events": COMPLETED, "channels": ["given-up"]})
    run(server, "gone", "team-a", server.token)
    (failed,) = server.wait_for("it is given up", lambda: deliveries(server, "Failed"))
    assert (failed["state"], failed["error"]) == ("Failed", "the receiver answers 500")


def test_preemption_and_quota(make_server, receiver):
    """team-a holds more than its quota, then gives way: told of both, and nothing of who got it."""
    server = make_server("--quick-start", "--speed", "20", *LOCAL)
    hook(server, receiver, "preempted")
    ann = make_person(server, "ann@example.org", ("AI practitioner", "project", server.project_id("team-a")))
    held = [server.submit(f"held-{i}", "team-a") for i in range(4)]
    for workload in held:
        server.wait_phase(workload, "Running")
    events = [
        {"category": "Preemption", "types": ["Preempted"]},
        {"category": "Quota", "types": ["Over-quota digest"]},
    ]
    subscribe(server, ann, "preempted", events, scope="all")
    quota = lambda: [line for line in receiver.lines("preempted") if line["category"] == "Quota"]  # noqa: E731
    server.wait_for("the digest", quota)
    assert quota()[0]["message"] == "Project team-a holds 4 GPUs of node pool default, 2 over its quota of 2"
    server.submit("rival", "team-b")
    lost = lambda: [line for line in receiver.lines("preempted") if line["category"] == "Preemption"]  # noqa: E731
    server.wait_for("the loss", lost)
    (line,) = lost()
    assert line["type"] == "Preempted" and line["workloadName"].startswith("held-")
    assert "rival" not in line["message"] and "team-b" not in line["message"], line
    assert len(quota()) == 1, "once a day"


def test_limits_are_told_before_and_after(site, receiver):
    body = {"name": "timed", "clusterId": site.cluster_id(), "schedulingRules": {"trainingJobTimeLimitSeconds": 1}}
    made = site.post("/api/v1/org-unit/projects", {**body, "parentId": "1", "resources": []})
    assert made.status == 201, made
    hook(site, receiver, "limits")
    events = [{"category": "Workload limits", "types": ["Time limit warning", "Stopped by a limit"]}]
    subscription = site.post(SUBSCRIPTIONS, {"events": events, "channels": ["limits"]}).json["id"]
    site.submit("too-long", "timed", 0, spec={"annotations": [{"name": "prorata.io/sim-duration", "value": "10h"}]})
    site.wait_for("both", lambda: len(receiver.lines("limits")) == 2)
    warning, stop = receiver.lines("limits")
    assert (warning["type"], stop["type"]) == ("Time limit warning", "Stopped by a limit")
    assert warning["message"].startswith("Project timed: too-long stops in ")
    assert stop["message"].startswith(
        "Project timed: too-long: Stopped: ran 1 s (training time limit of project timed)"
    )
    assert site.delete(f"{SUBSCRIPTIONS}/{subscription}").status == 204


def test_a_network_that_is_none_is_refused(folder):
    server = Server(folder, "--notify-network", "10.0.0.0/99").start(wait=False)
    assert server.process.wait(60) == 2
    assert '--notify-network: expected a network like 10.1.0.0/16, got "10.0.0.0/99"' in server.tail()
