"""What runs though rows or folders say nothing of it: it goes on, keeps its devices, and is for people to end."""
import shutil
import sqlite3

import pytest

from conftest import Client
from test_exec import RESEARCHER, token_of
from test_local import local, processes_of, stop_command, submit, supervisors_of, wait_log  # noqa: F401

RUNS = "trap 'exit 0' TERM; echo up devices=$CUDA_VISIBLE_DEVICES; while true; do sleep 0.05; done"


@pytest.fixture
def server(local):  # noqa: F811
    """Whatever a test leaves behind ends with it."""
    yield local
    local.kill()
    assert stop_command(local, "--pods", "--grace", "1s").returncode == 0
    local.start()


def run(server, name, gpus=1):
    workload = submit(server, name, RUNS, gpus=gpus)
    wait_log(server, workload, "up")
    server.wait_phase(workload, "Running")
    return workload


def pod_of(server, workload):
    return server.get(f"/api/v1/workloads/{workload}/pods").json["pods"][0]["id"]


def strays(server):
    return server.get("/api/v1/admin/pods").json["pods"]


def node_events(server):
    return [event["message"] for event in server.get("/api/v1/events").json["events"] if event["involvedObject"]["kind"] == "Node"]


@pytest.fixture
def restored(server):
    """`before` is in the backup; `after`, with two GPUs, is not, and runs."""
    run(server, "before")
    server.kill()
    copy = server.data.parent / "copy.db"
    with sqlite3.connect(server.data / "prorata.db") as database:
        database.execute("VACUUM INTO ?", (str(copy),))
    database.close()
    server.start()
    server.after = pod_of(server, run(server, "after", gpus=2))
    server.kill()
    for name in ("prorata.db-wal", "prorata.db-shm"):
        (server.data / name).unlink(missing_ok=True)
    shutil.copy(copy, server.data / "prorata.db")
    return server


def test_a_pod_newer_than_the_backup_goes_on_with_its_devices(restored, folder):
    supervisors = supervisors_of(restored)
    restored.start()
    pod, = strays(restored)
    assert (pod["id"], pod["projectName"], pod["workloadName"], pod["processId"]) == (restored.after, "team-a", "after", supervisors[restored.after])
    assert pod["devicesAreKnown"] and len(pod["devices"]) == 2 and not pod["ending"] and pod["startedAt"]
    assert supervisors_of(restored) == supervisors, "one was ended"
    assert "warning: pods=1 run that no workload asks for" in restored.get("/readyz").body.decode()
    assert "prorata_stray_pods 1\n" in restored.get("/metrics").body.decode()
    restored.wait_for("an event", lambda: any(restored.after in message for message in node_events(restored)))
    first, second = (submit(restored, name, RUNS) for name in ("first", "second"))
    device = wait_log(restored, first, "up").split("devices=")[1].strip()
    assert int(device) not in pod["devices"]
    restored.wait_for("the second to wait", lambda: restored.workload(second)["phase"] == "Pending" and restored.get(f"/api/v1/workloads/{second}/explanation").status == 200)
    client = Client(restored, folder / "home").sign_in()
    assert any(line.split()[:4] == [restored.after, "team-a", "after", ",".join(map(str, pod["devices"]))] for line in client.run("pods", "list").splitlines())
    assert "is told to stop" in client.run("pods", "end", restored.after)
    restored.wait_phase(second, "Running")
    assert processes_of(restored.after) == [] and strays(restored) == []
    assert not (restored.data / "pods" / restored.after / "state").exists()


def test_who_may_end_it(restored):
    restored.start()
    restored.kill()
    restored.start()
    token = token_of(restored, "other", RESEARCHER, "team-a")
    path = f"/api/v1/admin/pods/{restored.after}"
    assert restored.request("GET", "/api/v1/admin/pods", token=token).status == 403
    assert restored.request("DELETE", path, token=token).status == 403
    assert restored.delete("/api/v1/admin/pods/1f0e5c1e-0000-4000-8000-000000000001").status == 404
    known = next(uuid for uuid in supervisors_of(restored) if uuid != restored.after)
    assert restored.delete(f"/api/v1/admin/pods/{known}").status == 404, "a workload asks for it"
    assert restored.delete(path).status == 202
    restored.wait_for("its end", lambda: strays(restored) == [] and processes_of(restored.after) == [])


def test_a_pod_that_its_row_wants_to_be_over_is_ended(server):
    pod = pod_of(server, run(server, "ended"))
    server.kill()
    with sqlite3.connect(server.data / "prorata.db") as database:
        database.execute("UPDATE pods SET status = 'Deleted', completed_ms = created_ms, deleted_ms = created_ms WHERE uuid = ?", (pod,))
    database.close()
    server.start()
    server.wait_for("its end", lambda: processes_of(pod) == [])
    assert strays(server) == []


def test_a_pod_whose_folder_is_lost_is_not_started_beside_itself(server):
    workload = run(server, "kept", gpus=2)
    pod, before = pod_of(server, workload), supervisors_of(server)
    server.kill()
    shutil.rmtree(server.data / "pods" / pod)
    server.start()
    server.wait_for("a warning", lambda: "its folder was lost" in server.get(f"/api/v1/workloads/{workload}/events").body.decode())
    assert server.workload(workload)["phase"] == "Running" and pod_of(server, workload) == pod
    assert before[pod] in processes_of(pod) and supervisors_of(server) == {} and strays(server) == []
    server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    server.wait_phase(workload, "Stopped")
    assert processes_of(pod) == []


def test_without_row_and_folder_all_devices_are_kept(restored):
    shutil.rmtree(restored.data / "pods" / restored.after)
    restored.start()
    pod, = strays(restored)
    assert pod["id"] == restored.after and not pod["devicesAreKnown"] and pod["devices"] == []
    waits = submit(restored, "waits", RUNS)
    restored.wait_phase(waits, "Pending")
    assert restored.delete(f"/api/v1/admin/pods/{restored.after}").status == 202
    restored.wait_phase(waits, "Running")
    assert processes_of(restored.after) == []
