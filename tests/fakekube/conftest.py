import re

import pytest
from fake_kube import FakeKube


@pytest.fixture(scope="module")
def fake(tmp_path_factory):
    fake = FakeKube(tmp_path_factory.mktemp("fakekube"), "--nodes", 2)
    yield fake
    fake.close()


@pytest.fixture
def namespace(fake, request):
    """A namespace of the test's own; faults end with it."""
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[:60].strip("-")
    assert fake.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}}).code == 201
    yield name
    fake.control("DELETE", "faults")
