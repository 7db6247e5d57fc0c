"""Setting up an identity provider: what may be its address, and what it may not lead the server to."""

import pytest
from issuer import CALLBACK, PROVIDER


def test_setting_it_up(site):
    issuer = site.issuer

    def put(**more):
        return site.request("PUT", PROVIDER, issuer.settings(**more))

    without = {k: v for k, v in issuer.settings().items() if k != "clientSecret"}
    assert site.request("PUT", PROVIDER, without).json["hasClientSecret"] is True, "left out: it stays"
    for more, word in [
        ({"issuer": "http://id.lab.example"}, "issuer"),
        ({"issuer": "file:///etc/passwd"}, "issuer"),
        ({"issuer": "https://user@id.lab.example"}, "issuer"),
        ({"redirectUrl": "http://gpu.lab.example" + CALLBACK}, "redirectUrl"),
        ({"redirectUrl": site.url + "/elsewhere"}, "redirectUrl"),
        ({"scopes": "email openidx"}, "scopes"),
        ({"issuer": issuer.url + "/"}, "issuer"),
        ({"issuer": "http://127.0.0.1:9"}, "issuer"),
        ({"refreshSeconds": 0}, "refreshSeconds"),
    ]:
        answer = put(**more)
        assert answer.status == 400 and word in answer.json["message"], (more, answer)
    other = {**without, "issuer": issuer.url + "/"}
    assert "clientSecret" in site.request("PUT", PROVIDER, other).json["message"], "no secret goes to another issuer"
    for key in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        document = {
            "issuer": issuer.url,
            "authorization_endpoint": issuer.url,
            "token_endpoint": issuer.url,
            "jwks_uri": issuer.url + "/jwks",
            key: "http://evil.example/",
        }
        issuer.trouble(discovery=document)
        assert key in put().json["message"]
    issuer.trouble()
    assert put().status == 200


@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "169.254.1.1:1", "[fe80::1]", "[::ffff:169.254.169.254]", "2852039166", "0xa9.254.169.254"],
)
def test_an_issuer_at_a_link_local_address_is_not_asked(site, host):
    """So that a setting tells nothing of what answers there: clouds keep secrets of their machines at such places."""
    answer = site.request("PUT", PROVIDER, site.issuer.settings(issuer=f"https://{host}/"))
    assert answer.status == 400, answer
    assert answer.json["message"].endswith(": its address is link-local, where no other machine is asked"), answer


def test_an_issuer_sends_nobody_to_a_link_local_address(site):
    site.issuer.trouble(
        discovery={
            "issuer": site.issuer.url,
            "authorization_endpoint": site.issuer.url,
            "token_endpoint": site.issuer.url,
            "jwks_uri": "https://169.254.169.254/keys",
        }
    )
    answer = site.request("PUT", PROVIDER, site.issuer.settings())
    assert answer.status == 400 and "its address is link-local" in answer.json["message"], answer
