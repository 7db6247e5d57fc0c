"""`exec --stdin` from scripts: no terminal, any bytes, as many as there are, the end of them, the program's status."""

import hashlib
import os
import subprocess

import pytest
from pods import submit, wait_log
from servers import PRORATA, Client

EVERY_BYTE = bytes(range(256)) + b"\r\n\x00\x04\x03\xff\xfe" + bytes(reversed(range(256)))


@pytest.fixture
def machine(start):
    return start()


@pytest.fixture
def job(machine, folder):
    """A client, and a workload that runs with its own folder."""
    folder.chmod(0o755)
    workload = submit(
        machine, "job", "echo up; while true; do sleep 0.05; done", gpus=0, spec={"workingDir": str(folder)}
    )
    wait_log(machine, workload, "up")
    machine.wait_phase(workload, "Running")
    client = Client(machine, folder / "home").sign_in()
    client.run("config", "project", "team-a", program=client.runai)
    return client


def pipe(client, *words, data=b"", status=0):
    done = subprocess.run(
        [PRORATA, "exec", "job", "-i", "--", *words],
        capture_output=True,
        input=data,
        env={**os.environ, "HOME": str(client.home)},
        timeout=300,
    )
    assert done.returncode == status, (done.returncode, done.stderr[-500:])
    return done.stdout


def test_every_byte_comes_through_and_back(job):
    assert pipe(job, "cat", data=EVERY_BYTE) == EVERY_BYTE


def test_the_end_of_the_input_reaches_the_program_and_its_answer_comes_after(job):
    assert pipe(job, "sha256sum", data=EVERY_BYTE * 1000).split()[0].decode() == (
        hashlib.sha256(EVERY_BYTE * 1000).hexdigest()
    )
    assert pipe(job, "/bin/sh", "-c", "cat >/dev/null; echo over; exit 9", data=b"x", status=9) == b"over\n"


def test_no_input_at_all_is_an_end_too(job):
    assert pipe(job, "/bin/sh", "-c", "cat; echo over") == b"over\n"


def test_many_megabytes_come_back_as_they_went(job):
    block = hashlib.shake_256(b"seed").digest(1 << 20)
    data = b"".join(bytes([number]) + block[1:] for number in range(16))
    assert hashlib.sha256(pipe(job, "cat", data=data)).digest() == hashlib.sha256(data).digest()


def test_who_stops_reading_early_ends_as_it_wants(job):
    assert pipe(job, "/bin/sh", "-c", "head -c 3; exit 4", data=b"x" * 5_000_000, status=4) == b"xxx"


def test_a_program_that_reads_late_loses_nothing(job, folder):
    """The server waits 10 s for a reader; who comes after that is still served."""
    data = b"late" * 100_000
    late = f"until test -e {folder}/go; do sleep 0.05; done; sha256sum"
    (folder / "data").write_bytes(data)
    with open(folder / "data", "rb") as input:
        process = subprocess.Popen(
            [PRORATA, "exec", "job", "-i", "--", "/bin/sh", "-c", late],
            stdin=input,
            stdout=subprocess.PIPE,
            env={**os.environ, "HOME": str(job.home)},
        )
    taken = b'prorata_http_requests_total{operation="create_exec_input",status="200"}'
    job.server.wait_for("a call that was taken in part", lambda: taken in job.server.get("/metrics").body)
    (folder / "go").touch()
    assert process.communicate(timeout=60)[0].split()[0].decode() == hashlib.sha256(data).hexdigest()
