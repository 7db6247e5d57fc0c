"""A data folder of the first schema (43ca360) with a local pod that runs and 45,000 workloads opens with everything in
it."""

import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import time

import old_folder
import pytest
from handover import HANDOVER_FD, handover
from servers import PRORATA, Server

COMPLETED, STOPPED = 30000, 15000
NOW_MS = "(1000 * unixepoch())"
POD = "925623c6-8e56-45b4-89b9-e6888f0f1b74"  # tests/db/local_1.sql
WORKLOAD = "5e38c854-f44d-4866-a94d-ee8285abaad4"
SCRIPT = 'trap "exit 7" USR1; echo up; while :; do sleep 0.1; done'


def many(count, first, name, phase, desired, pod_status):
    """SQL: workloads of this phase, each with a pod and an event."""
    prefix, row = f"{first:08x}", f"t.id + {first} + i"
    times = dict.fromkeys(("created_ms", "updated_ms", "completed_ms"), f"{NOW_MS} - 3600000")
    return "\n".join(
        [
            old_folder.copies(
                "workloads",
                count,
                id=row,
                uuid=old_folder.uuids(prefix),
                name=f"'{name}-' || i",
                requested_name=f"'{name}-' || i",
                desired_phase=f"'{desired}'",
                phase=f"'{phase}'",
                k8s_phase=f"'{phase}'",
                gpu_allocated_milli="0",
                pods_running="0",
                listing_json=f"""replace(replace(t.listing_json, '"old"', '"{name}-' || i || '"'), t.uuid, """
                f"{old_folder.uuids(prefix)})",
                **times,
            ),
            old_folder.copies(
                "pods",
                count,
                id=row,
                uuid=old_folder.uuids(f"{first + 1:08x}"),
                workload_id=f"t.workload_id + {first} + i",
                name=f"'{name}-' || i || '-0-0'",
                status=f"'{pod_status}'",
                gpu_allocated_milli="0",
                gpu_indices_json="'[]'",
                created_ms=times["created_ms"],
                completed_ms=times["completed_ms"],
                deleted_ms=f"{NOW_MS} - 3600000" if pod_status == "Deleted" else "0",
            ),
            old_folder.copies(
                "events",
                count,
                id=f"t.id + 10 + {first} + i",
                uuid=old_folder.uuids(f"{first + 2:08x}"),
                workload_id=f"t.workload_id + {first} + i",
            ),
        ]
    )


class OldPod:
    """A pod as the first program started it: the words that its supervisor shows, its descriptors and lock. What it
    says, too, came with its words then, and comes by a descriptor now: the supervisor itself is this version's."""

    def __init__(self, home):
        self.folder = home / POD
        self.folder.mkdir(parents=True, mode=0o700)
        home.chmod(0o700)
        supervisor = pathlib.Path(PRORATA).with_name("prorata-supervisor")
        variables = {"PATH": os.environ["PATH"], "HOME": "/tmp", "PRORATA_POD": POD}
        handed = handover(["/bin/sh", "-c", SCRIPT], variables, "/tmp")
        self.process = subprocess.Popen(
            [
                "bash",
                "-c",
                f"exec {HANDOVER_FD}<&{handed} 3>>{self.folder}/state 4<{self.folder} 5<{home}; "
                'flock -n 3 || exit 1; exec "$@"',
                "bash",
                str(supervisor),
                "--uuid",
                POD,
                "--log-file-max",
                "16777216",
                "--log-total-max",
                "134217728",
                "--grace",
                "30000",
            ],
            pass_fds=[handed],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=variables,
            start_new_session=True,
        )
        os.close(handed)
        until = time.monotonic() + 60
        while not (self.folder / "state").exists() or not self.pid():
            assert time.monotonic() < until and self.process.poll() is None
            time.sleep(0.02)

    def pid(self):
        """Of its command; 0: it does not run yet."""
        found = re.search(r"^running (\d+) ", (self.folder / "state").read_text(), re.M)
        return int(found.group(1)) if found else 0


@pytest.fixture
def upgraded(folder):
    """(server, pod): not started."""
    server = Server(folder, "--backend", "local", "--local-gpus", "4")
    old_folder.write(
        server.data,
        many(COMPLETED, 100000, "done", "Completed", "Running", "Succeeded"),
        many(STOPPED, 200000, "paused", "Stopped", "Stopped", "Deleted"),
        rows="local_1.sql",
    )
    pod = OldPod(server.data / "pods")
    yield server, pod
    server.stop()
    if pod.process.poll() is None:
        pod.process.terminate()
        pod.process.wait(60)


def count(server, phase):
    return server.get("/api/v1/workloads/count", filterBy=f"phase=={phase}").json["count"]


def test_a_folder_of_the_first_release_opens_with_everything_in_it(upgraded):
    server, pod = upgraded
    server.start()
    pid = pod.pid()
    assert pod.process.poll() is None and pathlib.Path(f"/proc/{pid}").exists()
    assert old_folder.version(server.data) == old_folder.NUMBERS[-1]
    assert (count(server, "Running"), count(server, "Completed"), count(server, "Stopped")) == (1, COMPLETED, STOPPED)
    with sqlite3.connect(server.data / "prorata.db.before-2") as copy:
        assert (
            copy.execute("SELECT (SELECT count(*) FROM workloads), (SELECT count(*) FROM pods)").fetchone()
            == (COMPLETED + STOPPED + 1,) * 2
        )
    copy.close()
    last = server.workload(f"{200000:08x}-0000-4000-8000-{STOPPED:012x}")
    assert last["name"] == f"paused-{STOPPED}" and last["phase"] == "Stopped"
    # What ran runs on, as the same process, and holds its device.
    assert server.workload(WORKLOAD)["phase"] == "Running" and pod.pid() == pid
    pods = server.get(f"/api/v1/workloads/{WORKLOAD}/pods").json["pods"]
    assert [(row["id"], row["k8sPhase"], row["gpuIndices"]) for row in pods] == [(POD, "Running", [0])]
    assert server.request("GET", f"/api/v1/workloads/{WORKLOAD}/logs").body.decode().startswith("up")
    # It ends as it wants, also while no server runs, and how is known.
    server.kill()
    os.kill(pid, signal.SIGUSR1)
    assert pod.process.wait(60) == 0
    server.start()
    server.wait_phase(WORKLOAD, "Failed")
    events = [event["message"] for event in server.get(f"/api/v1/workloads/{WORKLOAD}/events").json["events"]]
    assert any("exit code 7" in message for message in events), events
