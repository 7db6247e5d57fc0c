"""HTTP benchmarks: the server, beside bare civetweb and bare SQLite doing the same in the same run. Prints a table."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from servers import Server  # noqa: E402

SECONDS = int(os.environ.get("BENCH_SECONDS", "8"))
BUILD = ROOT / "build"


def wrk(port, script, connections, **environment):
    out = subprocess.run(
        [
            "wrk",
            "-t2",
            f"-c{connections}",
            f"-d{SECONDS}s",
            "--latency",
            "-s",
            str(ROOT / "bench/http" / script),
            f"http://127.0.0.1:{port}/",
        ],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=True,
    )
    line = next(row for row in out.stdout.splitlines() if row.startswith("RESULT"))
    rate, p50, p99, errors = line.split()[1:]
    return float(rate), float(p50), float(p99), int(errors)


def show(name, value, setup):
    print(f"{name:<44} {value:<46} {setup}", flush=True)


def show_wrk(name, result, setup):
    rate, p50, p99, errors = result
    show(
        name, f"{rate:>8.0f}/s  p50 {p50:6.2f} ms  p99 {p99:6.2f} ms" + (f"  {errors} errors" if errors else ""), setup
    )


def cold_start(folder):
    times = []
    for _number in range(5):
        server = Server(pathlib.Path(tempfile.mkdtemp(dir=folder)), "--quick-start")
        server.start()
        server.stop()
        begin = time.monotonic()
        server.start(wait=False)
        while True:
            try:
                if server.request("GET", "/readyz", token=None).status == 200:
                    break
            except OSError:
                pass
            time.sleep(0.0005)
        times.append((time.monotonic() - begin) * 1000)
        server.stop()
    return sorted(times)[len(times) // 2]


def resident_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_ms_of_an_answer(server, path, **environment):
    before = cpu_seconds(server.process.pid)
    rate = wrk(server.port, "get.lua", 4, PRORATA_TOKEN=server.token, PRORATA_PATH=path, **environment)[0]
    return (cpu_seconds(server.process.pid) - before) / (rate * SECONDS) * 1000


def show_packing(server, name, path):
    plain = server.get(path)
    packed = server.request("GET", path, headers={"Accept-Encoding": "gzip"})
    show(
        f"{name}, gzip",
        f"{len(plain.body) / 1024:.1f} KB as {len(packed.body) / 1024:.1f} KB; "
        f"{cpu_ms_of_an_answer(server, path, PRORATA_ENCODING='gzip'):.2f} ms of CPU",
        f"4 connections; plain: {cpu_ms_of_an_answer(server, path):.2f} ms",
    )


def submit_to_running(server, project, cluster):
    times = []
    for number in range(50):
        body = {
            "name": f"latency-{number}",
            "projectId": project,
            "clusterId": cluster,
            "spec": {"image": "x", "compute": {"gpuDevicesRequest": 1}},
        }
        begin = time.monotonic()
        workload = server.post("/api/v1/workloads/trainings", body).json["workloadId"]
        while server.workload(workload)["phase"] != "Running":
            pass
        times.append((time.monotonic() - begin) * 1000)
        server.delete(f"/api/v1/workloads/trainings/{workload}")
        while server.request("GET", f"/api/v1/workloads/{workload}").json.get("deletedAt") is None:
            pass
    times.sort()
    return times[len(times) // 2], times[int(len(times) * 0.99)]


def fill(server, project, cluster, count):
    """Workloads that ask for more than there is, so that they only wait."""
    wrk_seconds = 0
    while server.get("/api/v1/workloads/count").json["count"] < count and wrk_seconds < 120:
        begin = time.monotonic()
        wrk(
            server.port,
            "submit.lua",
            32,
            PRORATA_TOKEN=server.token,
            PRORATA_PROJECT=project,
            PRORATA_CLUSTER=cluster,
            PRORATA_RUN=f"f{int(begin * 1000)}",
        )
        wrk_seconds += time.monotonic() - begin


def main():
    folder = tempfile.mkdtemp(prefix="prorata-bench-")
    print(f"# {os.cpu_count()} cores, wrk on the same machine, {SECONDS} s a row, data on {folder}")
    try:
        show("cold start to first good /readyz", f"{cold_start(folder):.0f} ms (median of 5)", "existing data, 2 nodes")
        server = Server(
            pathlib.Path(tempfile.mkdtemp(dir=folder)),
            "--quick-start",
            "--workloads-per-project",
            "0",
            "--workloads-per-person",
            "0",
        ).start()
        time.sleep(1)
        server.sign_in()
        show("idle memory", f"{resident_mib(server.process.pid):.1f} MiB resident", "2 nodes, nobody signed in but one")
        project, cluster = server.project_id("team-a"), server.cluster_id()
        p50, p99 = submit_to_running(server, project, cluster)
        show("submit to Running", f"p50 {p50:.1f} ms  p99 {p99:.1f} ms", "idle simulated cluster; 50 times; polled")

        bare = subprocess.run(
            [BUILD / "bench_bare_sqlite", f"{folder}/bare.db", str(SECONDS), "16"],
            capture_output=True,
            text=True,
            check=True,
        )
        show("bare SQLite: same rows", f"{float(bare.stdout):>8.0f}/s", "16 submissions a commit, WAL, FULL")
        submit = {"PRORATA_TOKEN": server.token, "PRORATA_PROJECT": project, "PRORATA_CLUSTER": cluster}
        show_wrk(
            "POST trainings, durable", wrk(server.port, "submit.lua", 32, PRORATA_RUN="a", **submit), "32 connections"
        )

        fill(server, project, cluster, 50000)
        count = server.get("/api/v1/workloads/count").json["count"]
        time.sleep(2)
        list_path, project_path = "/api/v1/workloads?limit=50", f"/api/v1/org-unit/projects/{project}"
        for name, path in (("GET one project", project_path), (f"GET 50 of {count} workloads", list_path)):
            size = len(server.get(path).body)
            bare = subprocess.Popen([BUILD / "bench_bare_civetweb", "18999", str(size)], stdin=subprocess.PIPE)
            time.sleep(0.3)
            show_wrk(f"bare civetweb: {size} bytes", wrk(18999, "get.lua", 32), "32 connections, 256 threads")
            bare.communicate()
            show_wrk(
                name,
                wrk(server.port, "get.lua", 32, PRORATA_TOKEN=server.token, PRORATA_PATH=path),
                "32 connections, 256 threads",
            )
        for name, path in (
            (f"GET 50 of {count} workloads", list_path),
            ("GET 500 workloads", "/api/v1/workloads?limit=500"),
            ("GET overview", "/api/v1/overview"),
        ):
            show_packing(server, name, path)
        show(
            "memory with these workloads", f"{resident_mib(server.process.pid):.1f} MiB resident", f"{count} workloads"
        )
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
