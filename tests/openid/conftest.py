"""An issuer, a server that signs people in there, and one of the people."""

import pytest
from issuer import CALLBACK, PROVIDER, Browser, Issuer


@pytest.fixture(scope="module")
def issuer():
    issuer = Issuer()
    yield issuer
    issuer.stop()


@pytest.fixture
def make_site(make_server, issuer):
    """make_site(*arguments, **settings): a server that the issuer, site.issuer, is set up at."""

    def make(*arguments, **settings):
        server = make_server("--quick-start", *arguments)
        server.issuer = issuer
        issuer.reset(server.url + CALLBACK)
        answer = server.request("PUT", PROVIDER, issuer.settings(**settings))
        assert answer.status == 200, answer
        return server

    return make


@pytest.fixture
def site(make_site):
    return make_site()


@pytest.fixture
def ann():
    return Browser()
