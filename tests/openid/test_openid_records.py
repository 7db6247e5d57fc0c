"""Sign-ins that are refused: where they lead, and what the audit keeps of each."""

import json
import sqlite3
import urllib.parse

from issuer import CALLBACK, SIGN_IN, Browser, where


def refused_at_the_issuer(browser, site):
    back = urllib.parse.urlsplit(browser.follow(site.url + SIGN_IN, site.url + CALLBACK))
    state = urllib.parse.parse_qs(back.query)["state"][0]
    return browser.get(f"{site.url}{CALLBACK}?error=access_denied&state={state}")


def with_another_state(browser, site):
    back = browser.follow(site.url + SIGN_IN, site.url + CALLBACK)
    return browser.get(back.replace("state=", "state=x"))


def from_another_issuer(browser, site):
    back = browser.follow(site.url + SIGN_IN, site.url + CALLBACK)
    return browser.get(back.replace(urllib.parse.quote(site.issuer.url, safe=""), "https%3A%2F%2Fother.example"))


def with_token(**token):
    def sign_in(browser, site):
        site.issuer.trouble(token=token)
        answer = browser.sign_in(site)
        site.issuer.trouble(token={})
        return answer

    return sign_in


def with_a_used_code(browser, site):
    back = browser.follow(site.url + SIGN_IN, site.url + CALLBACK)
    cookies = json.loads(json.dumps(browser.cookies))
    browser.get(back)
    browser.cookies = cookies
    return browser.get(back)


def with_a_name_that_is_taken_twice(browser, site):
    """Its own name, and the one made of issuer and subject, are others' accounts."""
    browser.sign_in(site)
    name = browser.session(site)["name"]
    site.stop()
    with sqlite3.connect(site.data / "prorata.db") as database:
        database.execute("DELETE FROM external_identities")
        database.execute("UPDATE users SET is_local = 1")
    database.close()
    site.start()
    assert name == "ann@lab.example"
    Browser().sign_in(site)  # the name made of issuer and subject
    with sqlite3.connect(site.data / "prorata.db") as database:
        database.execute("DELETE FROM external_identities")
    database.close()
    return browser.sign_in(site)


# What is done, where it leads, the reason in the record.
REFUSED = [
    (lambda browser, site: browser.get(site.url + CALLBACK + "?code=x&state=y"), "expired", "began no such sign-in"),
    (with_another_state, "expired", "began no such sign-in"),
    (refused_at_the_issuer, "refused", "the issuer says access_denied"),
    (from_another_issuer, "refused", "names another issuer"),
    (with_token(claims={"nonce": "x"}), "refused", "nonce is not that of this sign-in"),
    (with_token(claims={"iss": "https://other.example"}), "refused", "iss is another issuer"),
    (with_token(claims={"aud": "other"}), "refused", "aud is another client"),
    (with_token(claims={"exp": 1700000000}), "refused", "expired"),
    (with_token(**{"with": "stranger"}), "refused", "the signature is wrong"),
    (with_a_used_code, "refused", "invalid_grant"),
    (with_a_name_that_is_taken_twice, "taken", "there is a user"),
]


def test_every_refused_sign_in_has_a_record_with_its_reason(make_site):
    """Each from an address of its own: tries of one address within a minute are folded."""
    site = make_site("--trusted-proxy", "127.0.0.1")
    for number, (try_it, word, _) in enumerate(REFUSED):
        answer = try_it(Browser(f"10.0.0.{number}"), site)
        assert where(answer) == f"/?signIn={word}", (number, answer.place, site.tail())

    def records():
        path = "/api/v1/audit/log?start=2020-01-01T00:00:00Z&end=2100-01-01T00:00:00Z&numberOfSamples=1000"
        found = site.request("GET", f"{path}&filterBy=action==sign-in,result==Failed").json["audit_logs"]
        return {r["source_ip"]: r for r in found if r["metadata"]["operation"] == "finish_openid_sign_in"}

    site.wait_for("their records", lambda: len(records()) == len(REFUSED))
    assert records()["10.0.0.10"]["subject"] == "ann@lab.example", "a person that the issuer vouched for is named"
    for number, (_, _, reason) in enumerate(REFUSED):
        record = records()[f"10.0.0.{number}"]
        assert reason in record["metadata"]["reason"] and record["metadata"]["grant"] == "openid", record
