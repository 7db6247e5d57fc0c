"""What the local backend costs, printed with its set-up: no-op jobs that are really forked, accounted and durably
recorded; the time from submission to the process's first instruction; what running pods cost.

    bench/local/bench_local.py [--jobs N] [--pods N]     the binary is $PRORATA, else build/prorata
"""

import argparse
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import re
import selectors
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time

import others

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRORATA = os.environ.get("PRORATA", str(ROOT / "build" / "prorata"))
PASSWORD = "a password for the bench"


class Server:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="prorata-bench-")
        self.log = open(os.path.join(self.folder, "log"), "wb+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [
                PRORATA,
                "serve",
                "--data",
                self.folder + "/data",
                "--listen",
                "127.0.0.1:0",
                "--backend",
                "local",
                "--local-gpus",
                "8",
                "--log-level",
                "warn",
            ],
            stdout=self.log,
            stderr=self.log,
            env=dict(os.environ, PRORATA_ADMIN_PASSWORD=PASSWORD),
        )
        self.port = self.wait_port()
        self.local = threading.local()
        self.token = None
        answer = self.call(
            "POST", "/api/v1/token", {"grantType": "password", "username": "admin@prorata.local", "password": PASSWORD}
        )
        self.token = answer["accessToken"]
        self.cluster = self.call("GET", "/api/v1/clusters")[0]["uuid"]
        self.project = self.call("GET", "/api/v1/org-unit/projects")["projects"][0]["id"]

    def wait_port(self):
        while True:
            self.log.seek(0)
            found = re.search(rb"http://127\.0\.0\.1:(\d+)", self.log.read())
            if found:
                return int(found[1])
            time.sleep(0.01)

    def call(self, method, path, body=None):
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port)
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        text = json.dumps(body) if body is not None else None
        try:
            self.local.connection.request(method, path, text, headers)
            answer = self.local.connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):  # it was idle for too long
            self.local.connection.close()
            self.local.connection.request(method, path, text, headers)
            answer = self.local.connection.getresponse()
        text = answer.read()
        assert answer.status < 300, (path, answer.status, text)
        return json.loads(text) if text else None

    def submission(self, name, command):
        """A whole request, as bytes."""
        spec = {"image": "none", "command": command, "compute": {"cpuCoreRequest": 0.001, "cpuMemoryRequest": "1Mi"}}
        body = json.dumps({"name": name, "projectId": self.project, "clusterId": self.cluster, "spec": spec})
        return (
            f"POST /api/v1/workloads/trainings HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        ).encode()

    def submit(self, name, command, args=None):
        spec = {
            "image": "none",
            "command": command,
            "args": args,
            "compute": {"cpuCoreRequest": 0.001, "cpuMemoryRequest": "1Mi"},
        }
        if args is None:
            del spec["args"]
        body = {"name": name, "projectId": self.project, "clusterId": self.cluster, "spec": spec}
        return self.call("POST", "/api/v1/workloads/trainings", body)["workloadId"]

    def count(self, phase):
        return self.call("GET", f"/api/v1/workloads/count?filterBy=phase=={phase}")["count"]

    def close(self):
        self.process.terminate()
        self.process.wait()
        for state in pathlib.Path(self.folder).glob("data/pods/*/state"):
            with contextlib.suppress(OSError, IndexError, ValueError):
                os.kill(int(state.read_text().split()[1]), 9)
        shutil.rmtree(self.folder, ignore_errors=True)


class Sender:
    """Requests written beforehand, sent over several connections by one thread: what it costs is not the server's."""

    def __init__(self, server, count, connections=16):
        self.waiting = [server.submission(f"job-{i}", "/bin/true") for i in range(count)]
        self.server, self.connections = server, connections

    def run(self):
        selector = selectors.DefaultSelector()
        for _ in range(self.connections):
            connection = socket.create_connection(("127.0.0.1", self.server.port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(self.waiting.pop())
            selector.register(connection, selectors.EVENT_READ)
        open_connections = self.connections
        while open_connections:
            for key, _ in selector.select():
                answer = key.fileobj.recv(65536)
                assert answer.startswith(b"HTTP/1.1 202"), answer[:400]
                if self.waiting:
                    key.fileobj.sendall(self.waiting.pop())
                    continue
                selector.unregister(key.fileobj)
                key.fileobj.close()
                open_connections -= 1


def processor_seconds(pid):
    """Of a process, and of its children that it has waited for."""
    fields = [
        int(field) / os.sysconf("SC_CLK_TCK")
        for field in pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:15]
    ]
    return fields[0] + fields[1], fields[2] + fields[3]


def no_op_jobs(count):
    server = Server()
    try:
        sender = Sender(server, count)
        before, begun = processor_seconds(server.process.pid), time.monotonic()
        sender.run()
        submitted = time.monotonic() - begun
        while server.count("Completed") < count:
            time.sleep(0.02)
        spent = time.monotonic() - begun
        own, children = [
            (after - was) / count * 1e6
            for after, was in zip(processor_seconds(server.process.pid), before, strict=True)
        ]
        print(
            f"no-op jobs: {count} submitted over HTTP on 16 connections in {submitted:.2f} s, all forked, ended "
            f"and on disk after {spent:.2f} s: "
            f"{count / spent:.0f} jobs/s; processor time of a job: {own:.0f} us the server, {children:.0f} us "
            f"supervisor and command"
        )
    finally:
        server.close()


def start_latency(count):
    server = Server()
    try:
        times = []
        for i in range(count):
            mark = os.path.join(tempfile.gettempdir(), f"prorata-bench-mark-{os.getpid()}-{i}")
            begun = time.time()
            server.submit(f"mark-{i}", "/bin/sh -c", f"'date +%s.%N > {mark}.part; mv {mark}.part {mark}'")
            while not os.path.exists(mark):
                time.sleep(0.0005)
            times.append((float(pathlib.Path(mark).read_text()) - begun) * 1000)
            os.unlink(mark)
        times.sort()
        print(
            f"submit to process start: p50 {statistics.median(times):.1f} ms, p99 "
            f"{times[int(len(times) * 0.99)]:.1f} ms over {count}, one after another, HTTP included"
        )
    finally:
        server.close()


def ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def memory(pid):
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


def running_pods(count):
    server = Server()
    try:
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda i: server.submit(f"sleeper-{i}", "sleep 100000"), range(count)))
        while server.count("Running") < count:
            time.sleep(0.1)
        time.sleep(5)
        supervisors = [
            int(state.read_text().split()[1]) for state in pathlib.Path(server.folder).glob("data/pods/*/state")
        ]
        before, begun = ticks(server.process.pid) + sum(map(ticks, supervisors)), time.monotonic()
        time.sleep(10)
        spent = (ticks(server.process.pid) + sum(map(ticks, supervisors)) - before) / os.sysconf("SC_CLK_TCK")
        per_pod = sum(map(memory, supervisors)) / len(supervisors)
        print(
            f"{count} running pods: server and supervisors use {100 * spent / (time.monotonic() - begun):.2f} % "
            f"of one core; {per_pod:.0f} KiB a supervisor (PSS), {memory(server.process.pid) / 1024:.1f} MiB the server"
        )
    finally:
        server.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=2000)
    parser.add_argument("--starts", type=int, default=200)
    options = parser.parse_args()
    print(f"local backend: {os.cpu_count()} cores, {PRORATA}")
    start_latency(options.starts)
    no_op_jobs(options.jobs)
    others.task_spooler(options.jobs)
    others.slurm(options.jobs // 10, options.starts // 10)
    running_pods(options.pods)


if __name__ == "__main__":
    main()
