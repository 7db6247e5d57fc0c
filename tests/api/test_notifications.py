"""Notification channels and subscriptions by their operations: who may, what is refused, and that no secret comes
out."""

import pytest
from contract import check_answer
from people import make_person

TYPES = "/api/v1/notification-types"
STATE = "/api/v1/notification-state"
CHANNELS = "/api/v1/notification-channels"
SUBSCRIPTIONS = "/api/v1/subscriptions"
EMAIL = {
    "smtpHost": "mail.lab.example",
    "authType": "auth_plain",
    "username": "prorata",
    "password": "hunter2hunter2",
    "from": "gpu@lab.example",
}
HOOK = {"webhookUrl": "https://hooks.lab.example/as-good-as-a-password", "secret": "0123456789abcdef"}
SECRETS = (b"hunter2hunter2", b"as-good-as-a-password", b"0123456789abcdef")
FAILED = {"category": "Workload status change", "types": ["Failed"]}


@pytest.fixture
def site(module_server):
    yield module_server
    for channel in module_server.get(CHANNELS).json:
        assert module_server.delete(f"{CHANNELS}/{channel['name']}").status == 204


@pytest.fixture(scope="module")
def ann(module_server):
    return make_person(
        module_server, "ann@example.org", ("AI practitioner", "project", module_server.project_id("team-a"))
    )


def put_up(server, kind="email", config=None, **more):
    answer = server.post(CHANNELS, {"type": kind, "config": config or EMAIL, **more})
    assert answer.status == 200, answer


def config_of(server, name="email"):
    answer = server.get(f"{CHANNELS}/{name}")
    check_answer("getNotificationChannelConfig", answer)
    return answer.json["config"]


def subscribe(server, token, **more):
    answer = server.request("POST", SUBSCRIPTIONS, {"events": [FAILED], "channels": ["hook"], **more}, token=token)
    assert answer.status == 200, answer
    check_answer("createSubscription", answer)
    return answer.json


def test_types_are_for_everybody(site, ann):
    answer = site.request("GET", TYPES, token=ann)
    check_answer("getNotificationTypes", answer)
    kinds = {(row["category"], row["type"]) for row in answer.json}
    assert len(kinds) == len(answer.json) >= 19
    assert ("Workload status change", "Failed") in kinds and ("Preemption", "Preempted") in kinds


def test_a_channel_is_set_changed_and_removed_and_its_secrets_stay_inside(site):
    put_up(site)
    put_up(site, "webhook", HOOK, name="hook")
    assert site.post(CHANNELS, {"type": "email", "config": EMAIL}).status == 409
    listed = site.get(CHANNELS)
    check_answer("getNotificationChannels", listed)
    assert [row["name"] for row in listed.json] == ["email", "hook"]
    shown = config_of(site)
    assert shown["smtpPort"] == 587 and shown["smtpTlsEnabled"] and shown["fromDisplayName"] == "Run:ai"
    assert config_of(site, "hook")["webhookHost"] == "hooks.lab.example"
    patched = site.request("PATCH", f"{CHANNELS}/email", {"config": {"fromDisplayName": "GPU cluster"}})
    assert patched.status == 200, patched
    assert config_of(site) == {**shown, "fromDisplayName": "GPU cluster"}
    again = {"type": "email", "config": {k: v for k, v in EMAIL.items() if k != "password"}}
    assert site.request("PUT", f"{CHANNELS}/email", again).status == 200
    assert config_of(site) == shown and site.get(f"{CHANNELS}/email").json["hasSecrets"]
    now = "start=2020-01-01T00:00:00Z&end=2100-01-01T00:00:00Z&numberOfSamples=100"
    seen = site.get(f"{CHANNELS}/email").body + site.get(f"{CHANNELS}/hook").body
    seen += site.get(f"/api/v1/audit/log?{now}").body + site.log.read_bytes() + listed.body
    seen += b"".join(path.read_bytes() for path in site.data.glob("prorata.db*"))
    assert b"hooks.lab.example" in seen, "what may be shown is there"
    for secret in SECRETS:
        assert secret not in seen
    assert site.delete(f"{CHANNELS}/hook").status == 204
    assert site.delete(f"{CHANNELS}/hook").status == 404
    assert site.get(f"{CHANNELS}/hook").status == 404


@pytest.mark.parametrize(
    "change",
    [{"smtpHost": "mail.evil.example"}, {"smtpPort": 2525}, {"username": "other"}, {"smtpTlsEnabled": False}],
    ids=lambda change: next(iter(change)),
)
def test_a_password_goes_to_no_other_server(site, change):
    put_up(site)
    answer = site.request("PATCH", f"{CHANNELS}/email", {"config": change})
    assert (answer.status, answer.json["message"]) == (
        400,
        "config.password: required with auth_plain; auth_none needs none",
    )


REFUSED = [
    ({"type": "email", "config": {}}, 'config.smtpHost: expected the name of a host, got ""'),
    ({"type": "email", "config": {**EMAIL, "smtpHost": "a b"}}, "config.smtpHost: expected the name of a host"),
    ({"type": "email", "config": {**EMAIL, "smtpHost": "mail/x"}}, "config.smtpHost: expected the name of a host"),
    ({"type": "email", "config": {**EMAIL, "from": "gpu"}}, 'config.from: expected an e-mail address, got "gpu"'),
    ({"type": "email", "config": {**EMAIL, "from": "a@b>\r\nRCPT TO:<c@d"}}, "config.from: expected an e-mail address"),
    ({"type": "email", "config": {**EMAIL, "recipients": ["a@b\r\nx"]}}, "config.recipients[0]: expected an e-mail"),
    ({"type": "email", "config": {**EMAIL, "password": ""}}, "config.password: required with auth_plain"),
    ({"type": "email", "config": {**EMAIL, "directNotifications": False}}, "config.recipients: required where"),
    ({"type": "email", "config": EMAIL, "name": "post"}, "name: the channel of type email is called email"),
    ({"type": "email", "config": {**EMAIL, "smtpPort": 0}}, "config.smtpPort"),
    ({"type": "email", "config": {**EMAIL, "authType": "auth_magic"}}, "config.authType"),
    ({"type": "fax", "config": {}}, "type"),
    ({"type": "slack", "config": {}}, "config.webhookUrl: required, or apiToken with recipients"),
    ({"type": "slack", "config": {"webhookUrl": "ftp://x.example/"}}, "config.webhookUrl: expected an address"),
    ({"type": "slack", "config": {"apiToken": "x", "directNotifications": False}}, "config.recipients: required"),
    ({"type": "webhook", "config": {"secret": HOOK["secret"]}}, "config.webhookUrl: required"),
    ({"type": "webhook", "config": {**HOOK, "secret": "short"}}, "config.secret: at least 16 characters, got 5"),
    ({"type": "webhook", "config": {**HOOK, "webhookUrl": "http://10.0.0.1/"}}, "config.webhookUrl: expected an"),
    ({"type": "webhook", "config": {**HOOK, "webhookUrl": "https://me:pw@x.example/"}}, "config.webhookUrl: expected"),
    ({"type": "webhook", "config": HOOK, "name": "email"}, "name: email is that of another type"),
    ({"type": "webhook", "config": HOOK, "name": "A b"}, "name"),
]


@pytest.mark.parametrize(("body", "message"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_channels_that_are_refused(site, body, message):
    answer = site.post(CHANNELS, body)
    assert answer.status == 400 and answer.json["message"].startswith(message), answer
    assert site.get(CHANNELS).json == []


def test_kinds_are_switched_on_and_off(site):
    off = {"enabled": False, "email": {"enabled": False}}
    off |= {"slack": {"enabled": False, "workspaceName": None}, "webhook": {"enabled": False}}
    state = site.get(STATE)
    check_answer("getNotificationState", state)
    assert state.json == off
    refused = site.request("PATCH", STATE, {"email": {"enabled": True}})
    assert (refused.status, refused.json["message"]) == (501, "email.enabled: no channel of this kind is set up")
    put_up(site)
    assert site.get(STATE).json == {**off, "enabled": True, "email": {"enabled": True}}
    answer = site.request("PATCH", STATE, {"email": {"enabled": False}})
    check_answer("updateNotificationState", answer)
    assert answer.json == off
    assert site.get(CHANNELS).json == [{"name": "email", "type": "email", "enabled": False}]


def test_a_person_has_subscriptions_of_his_own(site, ann):
    put_up(site, "webhook", HOOK, name="hook")
    mine = subscribe(site, ann)
    assert {**mine, "id": ""} == {"id": "", "scope": "own", "events": [FAILED], "channels": ["hook"]}
    listed = site.request("GET", SUBSCRIPTIONS, token=ann)
    check_answer("getMySubscriptions", listed)
    assert listed.json == [mine]
    assert site.get(SUBSCRIPTIONS).json == [], "the administrator's are others"
    where = f"{SUBSCRIPTIONS}/{mine['id']}"
    wider = {"events": [FAILED], "channels": ["hook"], "scope": "all"}
    assert site.request("PUT", where, wider).status == 404 and site.request("DELETE", where).status == 404
    changed = site.request("PUT", where, wider, token=ann)
    check_answer("updateSubscription", changed)
    assert changed.json == {**mine, "scope": "all"}
    assert site.request("DELETE", where, token=ann).status == 204
    assert site.request("DELETE", where, token=ann).status == 404


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"channels": ["email"]}, 501, "channels[0]: no channel email is set up; an administrator can do it"),
        ({"channels": ["slack"]}, 501, "channels[0]: no channel slack is set up; an administrator can do it"),
        ({"channels": ["pigeon"]}, 400, 'channels[0]: no channel "pigeon"'),
        (
            {"events": [{"category": "Weather", "types": ["Rain"]}]},
            400,
            'events[0]: no type "Rain" in category "Weather"',
        ),
        ({"scope": "mine"}, 400, "scope: "),
    ],
)
def test_subscriptions_that_are_refused(site, ann, change, status, message):
    body = {"events": [FAILED], "channels": [], **change}
    answer = site.request("POST", SUBSCRIPTIONS, body, token=ann)
    assert answer.status == status and answer.json["message"].startswith(message), answer


def test_subscriptions_of_a_person_are_bounded(site, ann):
    made = [subscribe(site, ann, channels=[])["id"] for _ in range(50)]
    answer = site.request("POST", SUBSCRIPTIONS, {"events": [], "channels": []}, token=ann)
    assert (answer.status, answer.json["message"]) == (
        409,
        "subscriptions: you have 50, the most there may be; delete one first",
    )
    for uuid in made:
        assert site.request("DELETE", f"{SUBSCRIPTIONS}/{uuid}", token=ann).status == 204
