"""What pods print takes a bounded part of the disk: of a pod, of a project and in all; and goes with its workload."""

import contextlib
import itertools
import json
import os
import re
import shutil
import subprocess
import time
import urllib.request

import pytest
from metric_names import check_metrics
from pods import log_of, pods_of, submit, wait_log
from servers import PRORATA

MIB = 1 << 20
UNKNOWN = "11111111-2222-4333-8444-555555555555"
CUT = re.compile(r"\[earlier output was removed: the bound of (.*) is (.*)\]")


def prints(mib, then="true"):
    """A script that prints so much in numbered lines of 100 bytes."""
    return f"seq -f '%099.0f' {int(mib * MIB) // 100}; echo last words; {then}"


def bytes_of_logs(server):
    total = 0
    for path in (server.data / "pods").glob("*/log/*"):
        with contextlib.suppress(OSError):
            total += path.stat().st_size
    return total


def folder_of(server, workload):
    return server.data / "pods" / pods_of(server, workload)[0]["id"]


def complete(server, name, mib, project="team-a"):
    workload = submit(server, name, prints(mib), project=project, gpus=0)
    server.wait_phase(workload, "Completed")
    return workload


def metrics_of(server):
    text = server.get("/metrics").body.decode()
    return {
        line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if not line.startswith("#")
    }


def events_of_nodes(server):
    return [
        e["message"] for e in server.get("/api/v1/events", limit=500).json["events"] if e["reason"] == "LogsRemoved"
    ]


@pytest.fixture
def bounded(make_server):
    """bounded(*arguments): a server with projects team-a and team-b; a pod's log takes 1 MiB."""
    return lambda *arguments: make_server(
        "--backend", "local", "--local-gpus", "0", "--quick-start", "--local-log-pod", "1Mi", *arguments
    )


def test_a_pod_that_prints_much_says_what_is_missing(bounded):
    server = bounded()
    workload = complete(server, "talks", 3)
    lines = log_of(server, workload).splitlines()
    assert CUT.match(lines[0]).groups() == ("a pod's log", "1Mi") and lines[-1] == "last words"
    numbers = [int(line) for line in lines[1:-1]]
    assert numbers == list(range(numbers[0], 3 * MIB // 100 + 1)), "what is left is whole"
    assert log_of(server, workload, tail=2).splitlines() == [lines[-2], "last words"], "nothing is missing of these"
    stamped = log_of(server, workload, timestamps="true").splitlines()
    assert stamped[0][:2] == "20" and CUT.search(stamped[0]) and stamped[0].split()[0] == stamped[1].split()[0]
    assert bytes_of_logs(server) <= MIB + 64 * 1024


def test_a_projects_oldest_logs_go_first_and_say_so(bounded):
    server = bounded("--local-log-project", "3Mi")
    workloads = [complete(server, f"talks-{number}", 1) for number in range(5)]
    server.wait_for("the bound holds", lambda: bytes_of_logs(server) <= 3 * MIB)
    assert CUT.fullmatch(log_of(server, workloads[0]).strip()).groups() == ("the project's logs", "3Mi")
    assert log_of(server, workloads[-1]).endswith("last words\n")
    assert server.wait_for("an event", lambda: events_of_nodes(server)) == [
        "old logs of project team-a were removed: logs may take 3Mi (--local-log-project)"
    ]
    check_metrics(server.get("/metrics").body.decode(), "local")
    measured = metrics_of(server)
    assert (
        0
        < measured["prorata_log_bytes"]
        == measured['prorata_project_log_bytes{project="team-a"}']
        <= 3 * MIB
        < 4 * MIB
        < (measured["prorata_log_bytes"] + measured["prorata_log_removed_bytes_total"])
    )
    doctor = subprocess.run(
        [
            PRORATA,
            "doctor",
            "--data",
            str(server.data),
            "--backend",
            "local",
            "--local-gpus",
            "0",
            "--local-log-pod",
            "1Mi",
            "--local-log-project",
            "3Mi",
            "--json",
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    (says,) = [finding["message"] for finding in json.loads(doctor.stdout)["findings"] if finding["check"] == "logs"]
    assert re.match(r"logs of pods take [12] MiB; bounds: 1Mi a pod, 3Mi a project, ", says)
    server.kill()
    server.start()
    assert CUT.fullmatch(log_of(server, workloads[0]).strip()), "known after a restart too"


def test_of_pods_that_run_the_oldest_part_goes(bounded):
    server = bounded("--local-log-project", "2Mi")
    ended = complete(server, "ended", 1)
    running = [submit(server, f"runs-{number}", prints(1, "sleep 1000"), gpus=0) for number in range(4)]
    for workload in running:
        wait_log(server, workload, "last words")
    server.wait_for("the bound holds", lambda: bytes_of_logs(server) <= 2 * MIB)
    logs = [log_of(server, workload) for workload in running]
    assert all(log.endswith("last words\n") for log in logs)
    cut = [workload for workload, log in zip(running, logs, strict=True) if CUT.match(log)]
    assert cut and CUT.fullmatch(log_of(server, ended).strip())
    server.wait_for(
        "an event",
        lambda: any(e["reason"] == "LogCut" for e in server.get(f"/api/v1/workloads/{cut[0]}/events").json["events"]),
    )


def test_who_prints_much_makes_no_other_projects_logs_go(bounded):
    server = bounded("--local-log-project", "0", "--local-log-total", "4Mi")
    quiet = complete(server, "quiet", 0.5, project="team-b")
    loud = [complete(server, f"loud-{number}", 1) for number in range(6)]
    server.wait_for("the bound holds", lambda: bytes_of_logs(server) <= 4 * MIB)
    assert len(log_of(server, quiet).splitlines()) == MIB // 200 + 1
    assert CUT.fullmatch(log_of(server, loud[0]).strip()).groups() == ("all logs", "4Mi")


def test_a_log_goes_with_its_workload(bounded):
    server = bounded()
    ended, stays = complete(server, "ended", 1), complete(server, "stays", 1)
    runs = submit(server, "runs", prints(1, "sleep 1000"), gpus=0, spec={"terminationGracePeriodSeconds": 1})
    wait_log(server, runs, "last words")
    folders = [folder_of(server, workload) for workload in (ended, runs)]
    kept = folder_of(server, stays)
    for workload in (ended, runs):
        assert server.delete(f"/api/v1/workloads/trainings/{workload}").status == 202
    server.wait_for("both folders are gone", lambda: not any(folder.exists() for folder in folders))
    assert log_of(server, ended) == ""
    assert log_of(server, stays).endswith("last words\n") and kept.exists()


def test_what_deleted_workloads_left_goes_at_the_start(bounded):
    server = bounded()
    stays, old = complete(server, "stays", 1), complete(server, "old", 1)
    pods, aged = server.data / "pods", folder_of(server, old)
    server.kill()
    shutil.copytree(aged, pods / UNKNOWN)
    (pods / "notes").mkdir()
    (pods / "notes" / "mine").write_text("not prorata's")
    server.start()
    server.wait_for("the log of nobody is gone", lambda: not (pods / UNKNOWN).exists())
    assert (pods / "notes" / "mine").exists() and log_of(server, stays).endswith("last words\n")
    server.kill()
    week_ago = time.time() - 8 * 86400
    for path in (aged / "log").iterdir():
        os.utime(path, (week_ago, week_ago))
    server.start()
    server.wait_for("a log of last week is gone", lambda: not aged.exists())
    assert log_of(server, old) == "" and log_of(server, stays).endswith("last words\n")


def test_a_follower_goes_on_where_its_lines_have_gone(bounded, folder):
    server = bounded()
    folder.chmod(0o755)
    script = "echo begun; until test -e go; do sleep 0.05; done; " + prints(20, "sleep 1; echo behind; sleep 1000")
    workload = submit(server, "talks", script, gpus=0, spec={"workingDir": str(folder)})
    wait_log(server, workload, "begun")
    request = urllib.request.Request(
        f"{server.url}/api/v1/workloads/{workload}/logs?follow=true",
        headers={"Authorization": "Bearer " + server.token},
    )
    with urllib.request.urlopen(request, timeout=60) as stream:
        lines = [stream.readline().decode().rstrip("\n")]
        (folder / "go").touch()
        wait_log(server, workload, "last words", 60)
        while "behind" not in lines:
            lines.append(stream.readline().decode().rstrip("\n"))
    gaps = [line for line in lines if CUT.fullmatch(line)]
    assert lines[0] == "begun" and gaps, "it was too slow, and is told"
    for part in re.split(f"(?m)^{CUT.pattern}\n", "\n".join(lines[1:-2]) + "\n")[::3]:
        numbers = [int(line) for line in part.splitlines() if len(line) == 99]  # a gap may cut the line before it short
        assert [number - at for at, number in enumerate(numbers)] == numbers[:1] * len(numbers) and len(
            part.splitlines()
        ) - len(numbers) <= 1


def test_killed_while_logs_are_cut(bounded):
    """Whenever it is killed, the next start holds the bounds, and what is left of a log is whole."""
    server = bounded("--local-log-project", "3Mi")
    loud = [
        submit(
            server, f"loud-{number}", 'i=0; while true; do i=$((i+1)); seq -f "$i %0.0f" 2000; sleep 0.02; done', gpus=0
        )
        for number in range(4)
    ]
    for workload in loud:
        wait_log(server, workload, "1 1")
    for round_number in range(6):
        ended = submit(server, f"ended-{round_number}", prints(1), gpus=0)
        time.sleep(0.05 * (round_number + 1))
        server.kill()
        server.start()
        server.wait_phase(ended, "Completed")
    for workload in loud:
        server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
        server.wait_phase(workload, "Stopped")
    server.wait_for("the bound holds", lambda: bytes_of_logs(server) <= 3 * MIB)
    for workload in loud:
        log = log_of(server, workload)
        lines = log[: log.rfind("\n") + 1].splitlines()  # the stop comes in the midst of a last line
        numbers = [tuple(map(int, line.split())) for line in lines if not CUT.match(line)]
        for before, after in itertools.pairwise(numbers):
            assert after in ((before[0], before[1] + 1), (before[0] + 1, 1))


@pytest.mark.parametrize(
    "flag, value, says",
    [
        ("--local-log-pod", "100Ki", "local-log-pod: at least 1Mi, got 100Ki"),
        ("--local-log-project", "much", "local-log-project: "),
        ("--local-log-total", "-1", "local-log-total: "),
        ("--local-log-days", "0", "--local-log-days: "),
    ],
)
def test_a_bound_that_is_none_is_refused(folder, flag, value, says):
    ended = subprocess.run(
        [
            PRORATA,
            "serve",
            "--data",
            str(folder / "data"),
            "--backend",
            "local",
            "--local-gpus",
            "0",
            "--listen",
            "127.0.0.1:0",
            flag,
            value,
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 2 and says in ended.stderr, ended
