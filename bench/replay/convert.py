#!/usr/bin/env python3
"""Public traces into the columns of docs/replay.md, on standard output.

convert.py philly cluster_job_log                    github.com/msr-fiddle/philly-traces
convert.py openb-jobs openb_pod_list_default.csv     github.com/alibaba/clusterdata, cluster-trace-gpu-v2023/csv
convert.py openb-nodes openb_node_list_all_node.csv  the same
"""

import collections
import csv
import datetime
import json
import sys

JOB = [
    "id",
    "submit_s",
    "duration_s",
    "wait_s",
    "department",
    "project",
    "user",
    "priority",
    "preemptible",
    "pods",
    "gpus_per_pod",
    "gpu_milli",
    "cpu_milli",
    "mem_mib",
    "gpu_models",
    "phase",
]
NODE = ["node", "pool", "gpu_model", "gpus", "cpu_milli", "mem_mib"]
DEVICES = 8  # of a Philly node; larger jobs are gangs
LARGE = 4  # so many virtual clusters, those with most jobs, are the department `research`, the others `product`
# Quality of service: department, priority, preemptible.
CLASSES = {
    "LS": ("inference", "very-high", 0),
    "Burstable": ("train", "medium", 1),
    "BE": ("batch", "low", 1),
    "Guaranteed": ("build", "high", 0),
}


def write(columns, rows):
    out = csv.DictWriter(sys.stdout, columns, restval="", lineterminator="\n")
    out.writeheader()
    out.writerows(rows)


def seconds(text):
    """None where the log has no time, or one that is none; some end in the name of a time zone."""
    try:
        return int(datetime.datetime.fromisoformat(text[:19]).replace(tzinfo=datetime.UTC).timestamp())
    except (TypeError, ValueError):
        return None


def philly_job(job):
    """When it came, how long its attempts took together, and the GPUs of the first; None where the log does not say."""
    came, took, gpus = seconds(job["submitted_time"]), 0, 0
    for attempt in job["attempts"]:
        began, ended = seconds(attempt["start_time"]), seconds(attempt["end_time"])
        if began is not None and ended is not None and ended >= began:
            took += ended - began
            gpus = gpus or sum(len(place["gpus"]) for place in attempt["detail"])
    return (came, took, gpus, job) if came is not None and took > 0 and gpus > 0 else None


def philly(path):
    with open(path, encoding="utf-8") as file:
        jobs = [job for job in map(philly_job, json.load(file)) if job]
    jobs.sort(key=lambda job: (job[0], job[3]["jobid"]))
    large = {vc for vc, _ in collections.Counter(job[3]["vc"] for job in jobs).most_common(LARGE)}
    rows = []
    for i, (came, took, gpus, job) in enumerate(jobs):
        pods = -(-gpus // DEVICES)
        each = -(-gpus // pods)
        rows.append(
            {
                "id": f"philly-{i:06}",
                "submit_s": came - jobs[0][0],
                "duration_s": took,
                "department": "research" if job["vc"] in large else "product",
                "project": f"vc-{job['vc']}",
                "user": job["user"],
                "priority": "medium",
                "preemptible": 1,
                "pods": pods,
                "gpus_per_pod": each,
                "gpu_milli": 1000,
                "cpu_milli": 6000 * each,
                "mem_mib": 62500 * each,
                "phase": job["status"],
            }
        )
    write(JOB, rows)


def number(text):
    return int(float(text)) if text and text != "nan" else None


def size(pod):
    if int(pod["num_gpu"]) == 0:
        return "cpu"
    if int(pod["num_gpu"]) > 1:
        return "multi"
    return "one" if int(pod["gpu_milli"]) == 1000 else "frac"


def openb_jobs(path):
    rows = []
    with open(path, encoding="utf-8", newline="") as file:
        for pod in csv.DictReader(file):
            department, priority, preemptible = CLASSES[pod["qos"]]
            came, began, ended = (number(pod[key]) for key in ("creation_time", "scheduled_time", "deletion_time"))
            rows.append(
                {
                    "id": pod["name"],
                    "submit_s": came,
                    "duration_s": ended - (began or came),
                    "wait_s": "" if began is None else began - came,
                    "department": department,
                    "project": f"{department}-{size(pod)}",
                    "priority": priority,
                    "preemptible": preemptible,
                    "pods": 1,
                    "gpus_per_pod": pod["num_gpu"],
                    "gpu_milli": pod["gpu_milli"],
                    "cpu_milli": pod["cpu_milli"],
                    "mem_mib": pod["memory_mib"],
                    "gpu_models": "" if pod["gpu_spec"] == "nan" else pod["gpu_spec"],
                    "phase": pod["pod_phase"],
                }
            )
    first = min(row["submit_s"] for row in rows)
    for row in rows:
        row["submit_s"] -= first
    write(JOB, rows)


def openb_nodes(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["model"] = "" if row["model"] == "nan" else row["model"]
    write(
        NODE,
        (
            {
                "node": row["sn"],
                "pool": row["model"].lower() or "cpu",
                "gpu_model": row["model"],
                "gpus": row["gpu"],
                "cpu_milli": row["cpu_milli"],
                "mem_mib": row["memory_mib"],
            }
            for row in rows
        ),
    )


FORMS = {"philly": philly, "openb-jobs": openb_jobs, "openb-nodes": openb_nodes}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in FORMS:
        sys.exit(__doc__.strip())
    FORMS[sys.argv[1]](sys.argv[2])
