"""Volumes on a machine without containers: paths of the machine, empty folders, the scratch folder."""

import os
import pathlib
import subprocess

import pytest
from pods import run, submit, supervisors_of, wait_log
from servers import PRORATA
from test_spec import ROOT


def test_a_path_of_the_machine(machine, folder):
    folder.chmod(0o755)
    (folder / "data").mkdir()
    (folder / "data" / "a file").write_text("content\n")
    log, events = run(
        machine,
        'cat "$PRORATA_PATH_DATA_SETS/a file"; pwd',
        spec={
            "workingDir": "/data/sets",
            "storage": {"hostPath": [{"path": str(folder / "data"), "mountPath": "/data/sets"}]},
        },
    )
    assert log == f"content\n{folder}/data\n"
    log, events = run(machine, "ls /usr >/dev/null && echo there", spec={"storage": {"hostPath": [{"path": "/usr"}]}})
    assert log == "there\n" and not any("not mounted" in event for event in events)


@pytest.mark.parametrize("mode, message", [(None, "No such file"), (0o700, "Permission denied")])
def test_a_path_that_cannot_be_entered_fails_the_pod(machine, folder, mode, message):
    if mode and not ROOT:
        pytest.skip("needs root")
    folder.chmod(0o755)
    if mode:
        (folder / "closed").mkdir(mode=mode)
    _, events = run(
        machine,
        "true",
        phase="Failed",
        spec={"storage": {"hostPath": [{"path": str(folder / "closed"), "mountPath": "/data"}]}},
    )
    assert any("closed" in event and message in event for event in events), events


def test_an_empty_folder_is_the_pods_own_and_goes_with_it(machine):
    log, _ = run(
        machine,
        "cd $PRORATA_PATH_SCRATCH && ls -A && stat -c %a . && echo x > file && pwd",
        spec={"storage": {"emptyDirVolume": [{"path": "/scratch"}]}},
    )
    mode, place = log.splitlines()
    assert mode == "700" and not pathlib.Path(place).parent.exists()


def test_a_home(machine):
    log, _ = run(machine, "cd && touch file && ls && pwd", spec={"createHomeDir": True})
    assert log.startswith("file\n") and not pathlib.Path(log.splitlines()[1]).exists()


def test_nothing_of_a_volume_is_left_after_a_stop_and_a_restart(machine):
    workload = submit(
        machine,
        "stays",
        "echo $PRORATA_PATH_SCRATCH; mkdir -p $PRORATA_PATH_SCRATCH/a/b; ln -s / $PRORATA_PATH_SCRATCH/root; echo "
        "up; sleep 1000",
        gpus=0,
        spec={"storage": {"emptyDirVolume": [{"path": "/scratch"}]}},
    )
    place = pathlib.Path(wait_log(machine, workload, "up").splitlines()[0])
    machine.kill()
    assert place.is_dir()
    machine.start()
    machine.wait_phase(workload, "Running")
    assert (place / "a/b").is_dir()
    machine.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    machine.wait_phase(workload, "Stopped")
    assert not place.parent.exists() and pathlib.Path("/usr").exists()


def test_volumes_of_pods_that_nobody_ended_are_removed_at_the_start(machine):
    workload = submit(
        machine,
        "stays",
        "echo $PRORATA_PATH_SCRATCH; echo up; sleep 1000",
        gpus=0,
        spec={"backoffLimit": 0, "storage": {"emptyDirVolume": [{"path": "/scratch"}]}},
    )
    place = pathlib.Path(wait_log(machine, workload, "up").splitlines()[0])
    machine.kill()
    for pid in supervisors_of(machine).values():
        os.kill(pid, 9)
    machine.start()
    machine.wait_phase(workload, "Failed")
    assert not place.parent.exists()


KEEPS_A_FILE = {"storage": {"emptyDirVolume": [{"path": "/scratch"}]}}
PRINTS_ITS_PLACE = "cd $PRORATA_PATH_SCRATCH && echo x > file && pwd && echo up && sleep 1000"


def place_of(server, workload):
    return pathlib.Path(wait_log(server, workload, "up").splitlines()[0])


def test_volumes_go_with_a_pod_whose_supervisor_was_killed(machine):
    workload = submit(machine, "a", PRINTS_ITS_PLACE, gpus=0, spec={"backoffLimit": 0, **KEEPS_A_FILE})
    place = place_of(machine, workload)
    os.kill(next(iter(supervisors_of(machine).values())), 9)
    machine.wait_phase(workload, "Failed")
    assert not place.parent.exists()


def test_nothing_else_below_the_scratch_folder_is_touched(start, tmp_path):
    nvme = tmp_path / "nvme"
    (nvme / "alice/results").mkdir(parents=True)
    (nvme / "1f0e5c1e-0000-4000-8000-000000000001").mkdir()
    (nvme / "alice/results/model.pt").write_text("a year of work")
    before = nvme.stat().st_mode
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o1)
    first = start("--local-scratch", str(nvme))
    place = place_of(first, submit(first, "a", PRINTS_ITS_PLACE, gpus=0, spec=KEEPS_A_FILE))
    second = start("--local-scratch", str(nvme))
    second.kill()
    second.start()
    first.kill()
    first.start()
    assert place.is_relative_to(nvme) and (place / "file").exists()
    assert (nvme / "alice/results/model.pt").read_text() == "a year of work" and nvme.stat().st_mode == before
    assert (nvme / "1f0e5c1e-0000-4000-8000-000000000001").is_dir()


def test_a_scratch_folder_that_others_use_is_refused_by_name(machine, tmp_path):
    workload = submit(machine, "a", PRINTS_ITS_PLACE, gpus=0, spec=KEEPS_A_FILE)
    scratch = place_of(machine, workload).parent.parent
    machine.kill()
    (scratch / "thesis.tex").write_text("x")
    refused = subprocess.run(
        [PRORATA, "serve", "--data", str(machine.data), "--listen", "127.0.0.1:0", *machine.arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert refused.returncode != 0 and f"{scratch}: holds thesis.tex, which is no pod's" in refused.stderr
    (scratch / "thesis.tex").unlink()
    machine.start()
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    doctor = subprocess.run(
        [PRORATA, "doctor", "--backend", "local", "--local-scratch", str(open_to_all)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "others can write to it" in doctor.stdout and doctor.returncode == 1


def test_a_folder_of_any_depth_is_removed(machine):
    workload = submit(
        machine,
        "deep",
        "cd $PRORATA_PATH_SCRATCH && pwd; for i in $(seq 400); do mkdir d && cd d; done; touch end; echo up; "
        "sleep 1000",
        gpus=0,
        spec={"backoffLimit": 0, **KEEPS_A_FILE},
    )
    place = place_of(machine, workload)
    machine.kill()
    for pid in supervisors_of(machine).values():
        os.kill(pid, 9)
    machine.start()
    machine.wait_phase(workload, "Failed")
    assert not place.parent.exists()


def paths(count, last):
    return [{"path": "/usr", "mountPath": f"/m{i}"} for i in range(count - 1)] + [
        {"path": str(last), "mountPath": "/last"}
    ]


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_the_last_of_many_paths_is_looked_at_too(machine, folder):
    folder.chmod(0o755)
    (folder / "closed").mkdir(mode=0o700)
    _, events = run(machine, "true", phase="Failed", spec={"storage": {"hostPath": paths(32, folder / "closed")}})
    assert any("closed" in event and "Permission denied" in event for event in events), events
