"""Public traces, converted: samples in the form that their authors describe, replayed."""

import csv
import io
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRORATA = os.environ.get("PRORATA", str(ROOT / "build/prorata"))


def convert(form, path, out):
    text = subprocess.run(
        ["/usr/bin/python3", ROOT / "bench/replay/convert.py", form, path], capture_output=True, text=True, check=True
    ).stdout
    out.write_text(text)
    return list(csv.DictReader(io.StringIO(text)))


def replay(jobs, nodes):
    result = subprocess.run([PRORATA, "replay", jobs, "--nodes", nodes], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    return result.stdout


def attempt(start, end, *places):
    return {
        "start_time": start,
        "end_time": end,
        "detail": [{"ip": f"m{i}", "gpus": [f"gpu{g}" for g in range(n)]} for i, n in enumerate(places)],
    }


def test_philly(tmp_path):
    day = "2017-10-07 "
    log = [
        {
            "status": "Pass",
            "vc": "b",
            "jobid": "application_2",
            "user": "u",
            "submitted_time": day + "01:00:10",
            "attempts": [
                attempt(day + "01:00:20", day + "01:01:20", 8, 4),
                attempt(day + "01:02:00", day + "01:02:30 PDT", 8, 4),
            ],
        },
        {
            "status": "Killed",
            "vc": "a",
            "jobid": "application_1",
            "user": "v",
            "submitted_time": day + "01:00:00",
            "attempts": [attempt(day + "01:00:00", day + "01:00:05", 1)],
        },
        {
            "status": "Failed",
            "vc": "a",
            "jobid": "application_3",
            "user": "v",
            "submitted_time": day + "01:00:00",
            "attempts": [],
        },
        {
            "status": "Killed",
            "vc": "a",
            "jobid": "application_4",
            "user": "v",
            "submitted_time": day + "01:00:00",
            "attempts": [attempt(day + "01:00:00", None, 1)],
        },
        {
            "status": "Killed",
            "vc": "a",
            "jobid": "application_5",
            "user": "v",
            "submitted_time": "None",
            "attempts": [attempt(day + "01:00:00", day + "01:00:05", 1)],
        },
    ]
    (tmp_path / "log").write_text(json.dumps(log))
    rows = convert("philly", tmp_path / "log", tmp_path / "jobs.csv")
    assert [
        (r["id"], r["submit_s"], r["duration_s"], r["project"], r["pods"], r["gpus_per_pod"], r["cpu_milli"])
        for r in rows
    ] == [
        ("philly-000000", "0", "5", "vc-a", "1", "1", "6000"),
        ("philly-000001", "10", "90", "vc-b", "2", "6", "36000"),
    ]
    assert "2 jobs of 2 projects" in replay(tmp_path / "jobs.csv", "2x8")


def test_openb(tmp_path):
    (tmp_path / "pods").write_text(
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
        "p-17,88000,327680,8,1000,,Burstable,Succeeded,9437497,10769854,9437497.0\n"
        "p-22,4000,15258,1,220,,BE,Running,9679175,9973826,9679180.0\n"
        "p-35,16000,32768,1,1000,V100M16|V100M32,LS,Pending,9967058,9968575,\n"
        "p-40,4000,1024,0,0,,Guaranteed,Failed,9967060,9967070,9967060.0\n"
    )
    (tmp_path / "machines").write_text(
        "sn,cpu_milli,memory_mib,gpu,model\nn-0,32000,262144,0,\nn-1,128000,786432,8,G3\nn-2,96000,786432,8,V100M32\n"
    )
    rows = convert("openb-jobs", tmp_path / "pods", tmp_path / "jobs.csv")
    assert [
        (r["submit_s"], r["duration_s"], r["wait_s"], r["project"], r["priority"], r["preemptible"], r["gpu_models"])
        for r in rows
    ] == [
        ("0", "1332357", "0", "train-multi", "medium", "1", ""),
        ("241678", "294646", "5", "batch-frac", "low", "1", ""),
        ("529561", "1517", "", "inference-one", "very-high", "0", "V100M16|V100M32"),
        ("529563", "10", "0", "build-cpu", "high", "0", ""),
    ]
    nodes = convert("openb-nodes", tmp_path / "machines", tmp_path / "nodes.csv")
    assert [(n["node"], n["pool"], n["gpu_model"], n["gpus"]) for n in nodes] == [
        ("n-0", "cpu", "", "0"),
        ("n-1", "g3", "G3", "8"),
        ("n-2", "v100m32", "V100M32", "8"),
    ]
    assert "4 jobs of 4 projects" in replay(tmp_path / "jobs.csv", tmp_path / "nodes.csv")
