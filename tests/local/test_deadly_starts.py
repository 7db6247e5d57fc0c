"""A start order that ends the server is an error of its workload, and never of each next start."""

import pytest
from pods import events_of, give, submit

WORDS = "the server ended twice while it started this pod"


@pytest.fixture
def deadly(start, build_shim, folder):
    """(server, order): while the file order is there, starts of workloads whose specification says so end the
    server."""
    order = folder / "deadly-order"
    server = start("--retry-delay", "0.01", **build_shim("deadly_start"), DEADLY=str(order))
    server.sign_in()
    order.write_text("")
    return server, order


def die(server):
    """Waits until the server has died of SIGABRT."""
    assert server.process.wait(30) == -6, server.tail()


def submit_deadly(server, where, name="deadly"):
    if where == "in its start":  # where the supervisor is started
        return submit(server, name, "echo deadly", gpus=0)
    give(server, "secrets", "keys", deadly="x")  # where the specification is read
    return submit(
        server,
        name,
        "true",
        gpus=0,
        spec={"environmentVariables": [{"name": "KEY", "secret": {"name": "keys", "key": "deadly"}}]},
    )


@pytest.mark.parametrize("where", ["in its order", "in its start"])
def test_a_start_that_ends_the_server_is_not_made_a_third_time(deadly, where):
    server, order = deadly
    workload = submit_deadly(server, where)
    die(server)
    server.start(wait=False)
    die(server)
    server.start()
    server.wait_phase(workload, "Failed")
    assert WORDS in server.workload(workload)["phaseMessage"] and any(
        WORDS in message for message in events_of(server, workload)
    )
    after = submit(server, "after", "true", gpus=0)
    server.wait_phase(after, "Completed")
    server.kill()
    server.start()
    assert server.workload(workload)["phase"] == "Failed"


def test_one_death_is_forgiven(deadly):
    server, order = deadly
    workload = submit_deadly(server, "in its start")
    die(server)
    order.unlink()
    for _ in range(2):  # the second proves that the first is forgotten
        server.start()
        server.wait_phase(workload, "Completed")
        server.kill()
    server.start()
    order.write_text("")
    again = submit_deadly(server, "in its start", name="again")
    die(server)
    order.unlink()
    server.start()
    server.wait_phase(again, "Completed")


def test_a_file_of_marks_that_says_anything_is_no_harm(deadly):
    server, order = deadly
    marks = server.data / "pods/starting"
    for text in (b"", b"0", b"\xff" * 9000, b"9" * 5000 + b"\n", b"0 x y\n3 \n" * 400):
        server.kill()
        marks.write_bytes(text)
        server.start()
    server.kill()
    marks.unlink()
    marks.mkdir()
    server.start()
    assert "will be tried at each start" in server.tail()
    server.wait_phase(submit(server, "after", "true", gpus=0), "Completed")
