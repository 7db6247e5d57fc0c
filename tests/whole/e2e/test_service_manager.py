"""What systemd is told, by the datagrams of sd_notify(3)."""

import pytest
from servers import Server


@pytest.fixture
def tell(folder, manager):
    """tell(watchdog_us=0, environment={}): a server that knows the manager; not started."""
    made = []

    def make(watchdog_us=0, environment=None):
        variables = {**(environment or {}), "NOTIFY_SOCKET": manager.path}
        if watchdog_us:
            variables["WATCHDOG_USEC"] = str(watchdog_us)
        made.append(Server(folder, "--quick-start", environment=variables))
        return made[-1]

    yield make
    for server in made:
        server.stop()


@pytest.mark.parametrize("manager", ["@prorata-FOLDER"], indirect=True)
def test_ready_and_stopping(tell, manager):
    server = tell().start()
    server.wait_for("READY", lambda: "READY=1" in manager.hear())
    assert server.stop() == 0
    lines = manager.hear()
    assert lines.count("READY=1") == 1 and lines.count("STOPPING=1") == 1 and "WATCHDOG=1" not in lines
    assert lines.index("READY=1") < lines.index("STOPPING=1")


def test_the_status_says_what_readyz_says(tell, manager, failing_disk):
    environment, order = failing_disk
    server = tell(environment=environment).start()
    server.wait_for("the status", lambda: "STATUS=serving" in manager.hear())
    server.sign_in()
    order.write_text("write")
    assert server.post("/api/v1/service-accounts", {"name": "xx"}).status == 503
    server.wait_for("the status", lambda: "STATUS=the disk that holds the database refuses writes" in manager.hear())
    order.unlink()


def test_signs_of_life_end_when_the_writer_hangs(tell, manager, failing_disk):
    environment, order = failing_disk
    server = tell(watchdog_us=200000, environment=environment).start()
    server.sign_in()
    server.wait_for("signs of life", lambda: manager.hear().count("WATCHDOG=1") >= 3)
    order.write_text("hold prorata.db-wal")
    with pytest.raises(TimeoutError):
        server.request("POST", "/api/v1/service-accounts", {"name": "xx"}, timeout=1)

    def is_silent():
        manager.lines = []
        with pytest.raises(TimeoutError):  # while this waits signs of life would come
            server.request("POST", "/api/v1/service-accounts", {"name": "yy"}, timeout=1)
        return "WATCHDOG=1" not in manager.hear()

    server.wait_for("silence", is_silent)
    assert server.request("GET", "/healthz", token=None).status == 200
    order.unlink()
    server.wait_for("signs of life", lambda: "WATCHDOG=1" in manager.hear())


def test_nobody_is_told_where_nobody_listens(folder, make_server):
    server = make_server(environment={"NOTIFY_SOCKET": str(folder / "nobody")})
    assert "the service manager is not told anything" in server.tail()
    assert server.stop() == 0
