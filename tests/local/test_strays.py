"""What runs though rows or folders say nothing of it: it goes on, keeps its devices, and is for people to end."""

import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import threading

import pytest
from pods import log_of, processes_of, quoted, stop_command, submit, supervisors_of, wait_log
from servers import PRORATA, Client
from test_exec import RESEARCHER, token_of

RUNS = "trap 'exit 0' TERM; echo up devices=$CUDA_VISIBLE_DEVICES; while true; do sleep 0.05; done"


@pytest.fixture
def server(local):
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


def prorata(*words):
    return subprocess.run([PRORATA, *map(str, words)], capture_output=True, text=True, timeout=60)


def strays(server):
    return server.get("/api/v1/admin/pods").json["pods"]


def node_events(server):
    return [
        event["message"]
        for event in server.get("/api/v1/events").json["events"]
        if event["involvedObject"]["kind"] == "Node"
    ]


def copy_database(server):
    """With whoever is signed in. The server is stopped by it."""
    server.get("/api/v1/workloads")
    server.kill()
    (server.data.parent / "copy.db").unlink(missing_ok=True)
    with sqlite3.connect(server.data / "prorata.db") as database:
        database.execute("VACUUM INTO ?", (str(server.data.parent / "copy.db"),))
    database.close()


def put_back(server):
    server.kill()
    for name in ("prorata.db-wal", "prorata.db-shm"):
        (server.data / name).unlink(missing_ok=True)
    shutil.copy(server.data.parent / "copy.db", server.data / "prorata.db")


@pytest.fixture
def restored(server):
    """`before` is in the backup; `after`, with two GPUs, is not, and runs."""
    run(server, "before")
    copy_database(server)
    server.start()
    server.after = pod_of(server, run(server, "after", gpus=2))
    put_back(server)
    return server


def test_a_pod_newer_than_the_backup_goes_on_with_its_devices(restored, folder):
    supervisors = supervisors_of(restored)
    restored.start()
    (pod,) = strays(restored)
    assert (pod["id"], pod["projectName"], pod["workloadName"], pod["processId"]) == (
        restored.after,
        "team-a",
        "after",
        supervisors[restored.after],
    )
    assert pod["devicesAreKnown"] and len(pod["devices"]) == 2 and not pod["ending"] and pod["startedAt"]
    assert supervisors_of(restored) == supervisors, "one was ended"
    assert "warning: pods=1 run that no workload asks for" in restored.get("/readyz").body.decode()
    assert "prorata_stray_pods 1\n" in restored.get("/metrics").body.decode()
    restored.wait_for("an event", lambda: any(restored.after in message for message in node_events(restored)))
    first, second = (submit(restored, name, RUNS) for name in ("first", "second"))
    device = wait_log(restored, first, "up").split("devices=")[1].strip()
    assert int(device) not in pod["devices"]
    restored.wait_for(
        "the second to wait",
        lambda: (
            restored.workload(second)["phase"] == "Pending"
            and restored.get(f"/api/v1/workloads/{second}/explanation").status == 200
        ),
    )
    client = Client(restored, folder / "home").sign_in()
    assert any(
        line.split()[:4] == [restored.after, "team-a", "after", ",".join(map(str, pod["devices"]))]
        for line in client.run("pods", "list").splitlines()
    )
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
        database.execute(
            "UPDATE pods SET status = 'Deleted', completed_ms = created_ms, deleted_ms = created_ms WHERE uuid = ?",
            (pod,),
        )
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
    server.wait_for(
        "a warning", lambda: "its folder was lost" in server.get(f"/api/v1/workloads/{workload}/events").body.decode()
    )
    assert server.workload(workload)["phase"] == "Running" and pod_of(server, workload) == pod
    assert before[pod] in processes_of(pod) and supervisors_of(server) == {} and strays(server) == []
    server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    server.wait_phase(workload, "Stopped")
    assert processes_of(pod) == []


def test_without_row_and_folder_all_devices_are_kept(restored):
    shutil.rmtree(restored.data / "pods" / restored.after)
    restored.start()
    (pod,) = strays(restored)
    assert pod["id"] == restored.after and not pod["devicesAreKnown"] and pod["devices"] == []
    waits = submit(restored, "waits", RUNS)
    restored.wait_phase(waits, "Pending")
    assert restored.delete(f"/api/v1/admin/pods/{restored.after}").status == 202
    restored.wait_phase(waits, "Running")
    assert processes_of(restored.after) == []


def adopt(server, pod, **body):
    return server.post(f"/api/v1/admin/pods/{pod}/adopt", body)


def row_of(server, name):
    found = [w for w in server.get("/api/v1/workloads").json["workloads"] if w["name"] == name]
    return found[0] if found else None


def test_an_adopted_pod_is_a_workload_like_others(restored, folder):
    supervisors = supervisors_of(restored)
    restored.start()
    (pod,) = strays(restored)
    client = Client(restored, folder / "home").sign_in()
    assert "after is adopted: 1 pod" in client.run("pods", "adopt", "after")
    row = row_of(restored, "after")
    (shown,) = restored.get(f"/api/v1/workloads/{row['id']}/pods").json["pods"]
    assert (row["phase"], row["type"], row["projectName"], shown["id"]) == (
        "Running",
        "Training",
        "team-a",
        restored.after,
    )
    assert strays(restored) == [] and supervisors_of(restored) == supervisors
    restored.wait_for(
        "its devices",
        lambda: (
            [
                d["index"]
                for n in restored.get("/api/v1/nodes").json["nodes"]
                for d in n["prorata"]["devices"]
                if any(w["name"] == "after" for w in d["workloads"])
            ]
            == pod["devices"]
        ),
    )
    assert "devices=" in log_of(restored, row["id"])
    events = restored.get(f"/api/v1/workloads/{row['id']}/events").body.decode()
    assert "adopted by" in events
    restored.wait_for("no warning", lambda: "warning" not in restored.get("/readyz").body.decode())
    restored.kill()
    restored.start()
    assert strays(restored) == [] and supervisors_of(restored) == supervisors
    restored.post(f"/api/v1/workloads/trainings/{row['id']}/suspend")
    restored.wait_phase(row["id"], "Stopped")
    assert processes_of(restored.after) == []
    restored.post(f"/api/v1/workloads/trainings/{row['id']}/resume")
    restored.wait_phase(row["id"], "Running")


def test_an_adopted_pod_ends_with_its_own_exit_code(restored):
    restored.start()
    adopt(restored, restored.after)
    workload = row_of(restored, "after")["id"]
    process = next(pid for pid in processes_of(restored.after) if pid not in supervisors_of(restored).values())
    os.kill(process, signal.SIGTERM)
    restored.wait_phase(workload, "Completed")


def test_who_may_adopt_and_what_cannot_be(restored):
    restored.start()
    token = token_of(restored, "other", RESEARCHER, "team-a")
    path = f"/api/v1/admin/pods/{restored.after}/adopt"
    assert restored.request("POST", path, {}, token=token).status == 403
    assert adopt(restored, "1f0e5c1e-0000-4000-8000-000000000001").status == 404
    known = next(uuid for uuid in supervisors_of(restored) if uuid != restored.after)
    assert adopt(restored, known).status == 404, "a workload asks for it"
    assert "no project 999" in adopt(restored, restored.after, projectId="999").json["message"]
    taken = submit(restored, "after", "sleep 60", gpus=0)
    answer = adopt(restored, restored.after)
    assert answer.status == 409 and "already" in answer.json["message"]
    restored.delete(f"/api/v1/workloads/trainings/{taken}")
    restored.wait_for("the name to be free", lambda: row_of(restored, "after") is None)
    assert len(strays(restored)) == 1
    assert adopt(restored, restored.after).status == 200
    assert adopt(restored, restored.after).status == 404, "it has a row now"


def test_a_project_that_is_no_more_is_replaced_by_one_that_is_named(server, folder):
    copy_database(server)
    server.start()
    parent = server.get("/api/v1/org-unit/projects", filterBy="name==team-a").json["projects"][0]["parentId"]
    assert (
        server.post(
            "/api/v1/org-unit/projects",
            {"name": "team-c", "clusterId": server.cluster_id(), "parentId": parent, "resources": []},
        ).status
        == 201
    )
    workload = submit(server, "orphan", RUNS, project="team-c", gpus=0)
    wait_log(server, workload, "up")
    pod = pod_of(server, workload)
    put_back(server)
    server.start()
    answer = adopt(server, pod)
    assert answer.status == 409 and "team-c" in answer.json["message"]
    client = Client(server, folder / "home").sign_in()
    assert "is adopted" in client.run("pods", "adopt", pod, "-p", "team-b")
    row = row_of(server, "orphan")
    assert (row["id"], row["projectName"]) == (workload, "team-b")


def test_a_gang_is_adopted_whole_and_shares_of_a_device_stay_shared(server):
    copy_database(server)
    server.start()
    half = {"compute": {"gpuRequestType": "portion", "gpuDevicesRequest": 1, "gpuPortionRequest": 0.5}}
    spec = {"command": "/bin/sh -c", "args": quoted(RUNS), "numWorkers": 2, "distributedFramework": "PyTorch", **half}
    gang = server.submit("gang", "team-a", 1, kind="distributed", spec=spec, masterSpecSameAsWorker=True)
    server.wait_for(
        "three pods", lambda: len(supervisors_of(server)) == 3 and server.workload(gang)["phase"] == "Running"
    )
    before = {pod["id"]: pod["name"] for pod in server.get(f"/api/v1/workloads/{gang}/pods").json["pods"]}
    put_back(server)
    server.start()
    assert len(strays(server)) == 3
    assert sorted(adopt(server, next(iter(before))).json["pods"]) == sorted(before)
    assert {pod["id"]: pod["name"] for pod in server.get(f"/api/v1/workloads/{gang}/pods").json["pods"]} == before
    assert strays(server) == [] and server.workload(gang)["phase"] == "Running"
    other = submit(server, "other", RUNS, spec=half)
    server.wait_phase(other, "Running")
    assert "red" not in server.get("/readyz").body.decode()


def test_a_pod_whose_row_waits_for_a_place_is_taken_up_as_it_runs(server):
    blocker = run(server, "blocker", gpus=4)
    waits = submit(server, "waits", RUNS, gpus=4)
    server.wait_phase(waits, "Pending")
    copy_database(server)
    server.start()
    server.delete(f"/api/v1/workloads/trainings/{blocker}")
    server.wait_phase(waits, "Running")
    pod, before = pod_of(server, waits), supervisors_of(server)
    put_back(server)
    server.start()
    server.wait_phase(waits, "Running")
    server.wait_for("the list without it", lambda: strays(server) == [])
    assert pod_of(server, waits) == pod and supervisors_of(server) == before
    assert "blocker" in server.get("/api/v1/workloads").body.decode()


@pytest.mark.parametrize(
    "harm, says",
    [
        (lambda row: row.unlink(), None),
        (lambda row: row.write_text("{"), "what was noted of it: "),
        (lambda row: row.write_text('{"version": 9}'), "another release"),
    ],
    ids=["of before", "damaged", "newer"],
)
def test_a_pod_of_which_little_was_noted(restored, harm, says):
    harm(restored.data / "pods" / restored.after / "row")
    restored.start()
    answer = adopt(restored, restored.after)
    if says:
        assert answer.status == 400 and says in answer.json["message"], answer
        assert len(strays(restored)) == 1
        return
    row = row_of(restored, "after")
    spec = restored.get(f"/api/v1/workloads/trainings/{row['id']}").json["spec"]
    assert (row["phase"], row["projectName"], spec["preemptibility"], spec["backoffLimit"]) == (
        "Running",
        "team-a",
        "non-preemptible",
        0,
    )
    restored.delete(f"/api/v1/workloads/trainings/{row['id']}")
    restored.wait_for("its end", lambda: processes_of(restored.after) == [])


def test_the_drill_a_machine_is_lost_and_what_runs_is_adopted_or_ended(server, folder):
    """A backup under load; the data folder is lost; newer pods run on beside what is restored, and nobody ends them
    unasked."""
    run(server, "before")
    stop, load = (
        threading.Event(),
        threading.Thread(
            target=lambda: [submit(server, f"load-{i}", "true", gpus=0) for i in range(200) if not stop.is_set()]
        ),
    )
    load.start()
    try:
        server.wait_for("load", lambda: row_of(server, "load-3"))
        assert prorata("backup", "--data", server.data, folder / "site.tar").returncode == 0
    finally:
        stop.set()
        load.join()
    kept, ended = pod_of(server, run(server, "kept")), pod_of(server, run(server, "ended"))
    supervisors = {
        uuid: pid
        for uuid, pid in supervisors_of(server).items()
        if uuid in (kept, ended, pod_of(server, row_of(server, "before")["id"]))
    }
    server.kill()
    server.data.rename(folder / "lost")
    assert prorata("restore", "--data", server.data, folder / "site.tar").returncode == 0
    (folder / "lost" / "pods").rename(server.data / "pods")
    server.start()
    assert supervisors.items() <= supervisors_of(server).items(), "one was ended"
    found = {pod["workloadName"]: pod for pod in strays(server) if not pod["workloadName"].startswith("load-")}
    assert set(found) == {"kept", "ended"} and all(len(pod["devices"]) == 1 for pod in found.values())
    assert row_of(server, "before")["phase"] == "Running"
    new = submit(server, "new", RUNS)
    taken = {device for pod in found.values() for device in pod["devices"]}
    assert int(wait_log(server, new, "up").split("devices=")[1].split()[0]) not in taken
    assert adopt(server, kept).status == 200 and row_of(server, "kept")["phase"] == "Running"
    assert server.delete(f"/api/v1/admin/pods/{ended}").status == 202
    server.wait_for("its end", lambda: processes_of(ended) == [])
    server.wait_phase(submit(server, "newer", RUNS), "Running")
    assert supervisors[kept] in processes_of(kept) and row_of(server, "ended") is None


def test_restored_where_nothing_runs_its_pods_begin_anew(server, folder):
    workload = run(server, "before")
    assert prorata("backup", "--data", server.data, folder / "site.tar").returncode == 0
    server.kill()
    assert stop_command(server, "--pods", "--grace", "1s").returncode == 0
    server.data.rename(folder / "lost")
    assert prorata("restore", "--data", server.data, folder / "site.tar").returncode == 0
    server.start()
    server.wait_phase(workload, "Running")
    assert strays(server) == []
    events = server.get(f"/api/v1/workloads/{workload}/events").body.decode()
    assert "how it ended is unknown" in events


LEAVES = "sleep 1000 & echo left $!; echo devices=$CUDA_VISIBLE_DEVICES; wait"


def lives(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def leave_behind(server, name):
    """Of the pod only a process is left, which its cgroup still names: supervisor and folder are gone."""
    workload = submit(server, name, LEAVES, gpus=4)
    left = int(wait_log(server, workload, "left ").split("left ")[1].split()[0])
    server.wait_phase(workload, "Running")
    pod = pod_of(server, workload)
    if not any(pod in line for line in pathlib.Path(f"/proc/{left}/cgroup").read_text().splitlines()):
        pytest.skip("pods have no cgroups here")
    supervisor = supervisors_of(server)[pod]
    server.kill()
    os.kill(supervisor, signal.SIGKILL)
    shutil.rmtree(server.data / "pods" / pod)
    assert lives(left)
    return workload, pod, left


def test_what_only_a_cgroup_shows_keeps_all_devices_until_people_end_it(server):
    copy_database(server)
    server.start()
    _, pod, left = leave_behind(server, "lost")
    put_back(server)
    server.start()
    (found,) = strays(server)
    assert (found["id"], found["processId"], found["devicesAreKnown"]) == (pod, left, False) and lives(left)
    waits = submit(server, "waits", RUNS)
    server.wait_phase(waits, "Pending")
    assert "nobody knows what it is" in adopt(server, pod).json["message"]
    assert server.delete(f"/api/v1/admin/pods/{pod}").status == 202
    server.wait_phase(waits, "Running")
    assert not lives(left) and strays(server) == []


def test_what_only_its_row_and_a_cgroup_show_ends_before_its_devices_are_given_on(server):
    workload, pod, left = leave_behind(server, "left")
    server.start()
    server.wait_for(
        "another try",
        lambda: (
            server.workload(workload)["phase"] == "Running"
            and any(
                p["id"] != pod and p["k8sPhase"] == "Running"
                for p in server.get(f"/api/v1/workloads/{workload}/pods").json["pods"]
            )
        ),
        60,
    )
    assert not lives(left)


def test_stop_ends_pods_whose_folder_is_lost_too(server):
    pod = pod_of(server, run(server, "kept"))
    server.kill()
    shutil.rmtree(server.data / "pods" / pod)
    done = stop_command(server, "--pods", "--grace", "1s")
    assert done.returncode == 0 and "1 pods have ended" in done.stdout and processes_of(pod) == []
    shutil.rmtree(server.data / "pods")
    assert stop_command(server, "--pods", "--grace", "1s").returncode == 0
    server.start()
