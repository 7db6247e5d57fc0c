"""prorata doctor: what is possible here and how to get more, without changing anything."""

import json
import os
import pathlib
import sqlite3
import subprocess

import pytest
from servers import PRORATA, program_for_others

LIBRARY = pathlib.Path(PRORATA).with_name("fake_nvml.so")
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def doctor(*words, status=0, prefix=(), **environment):
    done = subprocess.run(
        [*prefix, program_for_others() if prefix else PRORATA, "doctor", "--listen", "127.0.0.1:0", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )
    assert done.returncode == status, done
    return done.stdout if status != 2 else done.stderr


def findings(*words, **options):
    answer = json.loads(doctor("--json", *words, **options))
    assert answer["ok"] == (options.get("status", 0) == 0)
    assert all(finding["level"] in ("good", "note", "problem") and finding["message"] for finding in answer["findings"])
    return answer["findings"]


def about(found, check):
    return " / ".join(
        f"{finding['level']}: {finding['message']} -> {finding.get('advice')}"
        for finding in found
        if finding["check"] == check
    )


def program(folder, name, script):
    path = folder / name
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)


def test_text_is_for_people(folder):
    text = doctor("--data", str(folder / "new"))
    assert "works here" in text and "the first start makes it" in text
    assert not (folder / "new").exists(), "it changed something"


def test_without_a_folder_it_says_so():
    assert "--data DIR" in about(findings(), "data")


def test_bad_settings_are_refused():
    assert "unknown option" in doctor("--no-such", status=2)


def test_help():
    assert (
        "exit status"
        in subprocess.run([PRORATA, "doctor", "--help"], capture_output=True, text=True, check=True).stdout
    )


def test_without_a_driver(folder):
    (folder / "gpus").write_text("nodriver\n")
    text = about(findings("--local-nvml", str(LIBRARY), PRORATA_FAKE_NVML=str(folder / "gpus")), "gpus")
    assert text.startswith("note: no NVIDIA driver answers") and "--local-gpus" in text


def test_pretended_gpus():
    assert "3 GPUs are pretended" in about(findings("--local-gpus", "3"), "gpus")


def test_gpus_of_the_driver(folder):
    (folder / "gpus").write_text(f"gpu GPU-a 81920\ngpu GPU-b 81920 lost\ngpu GPU-c 81920 proc={os.getpid()}:10\n")
    text = about(findings("--local-nvml", str(LIBRARY), PRORATA_FAKE_NVML=str(folder / "gpus")), "gpus")
    assert "good: GPU 0: Fake GPU 80 GB, GPU-a, 81920 MiB" in text
    assert "GPUs are held: a pod can open its own" in text or "GPUs are only asked for (CUDA_VISIBLE_DEVICES)" in text
    assert (
        "GPU 1: does not answer: NVML: device 1: GPU is lost" in text
        and "GPU 2: Fake GPU 80 GB, GPU-c, 81920 MiB: 1 processes use it now" in text
    )


def test_a_library_that_cannot_be_used_is_a_problem(folder):
    (folder / "text.so").write_text("this is no library")
    assert "problem" in about(findings("--local-nvml", str(folder / "text.so"), status=1), "machine")


def test_runtimes_are_asked(folder):
    program(folder, "podman", "echo a warning >&2; echo 4.9.3")
    program(folder, "docker", "echo Cannot connect to the Docker daemon >&2; exit 1")
    text = about(findings(PATH=f"{folder}:/usr/bin:/bin"), "images")
    assert f"good: podman ({folder}/podman) answers: 4.9.3" in text
    assert f"note: docker ({folder}/docker) does not answer: Cannot connect" in text
    assert "no container runtime" not in text


def test_without_runtimes_and_git(folder):
    found = findings(PATH=str(folder))
    assert "no container runtime answers" in about(found, "images") and "not installed" in about(found, "git")


def test_required_images_need_a_runtime(folder):
    assert "problem: no container runtime answers" in about(
        findings("--local-images", "required", PATH=str(folder), status=1), "images"
    )


def test_limits(folder):
    done = subprocess.run(
        ["sh", "-c", f"ulimit -n 512; exec {PRORATA} doctor --json --listen 127.0.0.1:0"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "open files: 512" in done.stdout and "LimitNOFILE" in done.stdout


@needs_root
def test_what_pods_have_to_themselves_is_told():
    assert about(findings(), "isolation").startswith("good: each pod has a /tmp of its own")
    assert "/tmp is the machine's" in about(findings("--local-private-tmp", "off"), "isolation")
    assert "the server is not root" in about(findings(prefix=NOBODY), "isolation")
    assert "share of the machine's" in about(findings(), "memory") or "nothing bounds" in about(findings(), "memory")


def test_cgroups_are_told():
    assert about(findings(), "cgroups")


@needs_root
def test_root_runs_pods_as_somebody_else():
    assert "pods of each project run as a user of its own" in about(findings(), "users")
    assert "root, and pods never are" in about(findings("--local-user", "root", status=1), "users")
    assert "no user nobody-here" in about(findings("--local-user", "nobody-here", status=1), "users")


@needs_root
def test_another_user_is_told_what_that_means():
    found = findings(prefix=NOBODY)
    assert "not root" in about(found, "users") and "data folder" in about(found, "users")
    assert "Delegate=yes" in about(found, "cgroups")


@needs_root
def test_a_folder_of_another(folder):
    (folder / "data").mkdir(mode=0o700)
    folder.chmod(0o755)
    assert "cannot write" in about(findings("--data", str(folder / "data"), prefix=NOBODY, status=1), "data")


def test_a_server_that_runs(server):
    found = findings("--data", str(server.data), "--listen", f"127.0.0.1:{server.port}")
    assert f"a server holds it, process {server.process.pid}" in about(found, "data")
    assert "whole" in about(found, "database") and "in use" in about(found, "port")
    assert about(found, "backend").startswith("good: simulated")


def test_a_port_that_another_has(server, folder):
    text = about(findings("--listen", f"127.0.0.1:{server.port}", status=1), "port")
    assert "problem" in text and "--listen" in text


def test_a_folder_that_belongs_to_another_backend(server):
    server.stop()
    assert "belongs to the backend simulated" in about(
        findings("--data", str(server.data), "--backend", "local", status=1), "backend"
    )


@needs_root
def test_nothing_of_root_is_left_in_the_folder(server):
    server.stop()
    for path in [server.data, *server.data.rglob("*")]:
        os.chown(path, 65534, 65534)
    server.folder.chmod(0o755)
    server.folder.parent.chmod(0o755)
    findings("--data", str(server.data))
    assert {path.stat().st_uid for path in server.data.rglob("*")} == {65534}


@pytest.mark.parametrize(
    "harm, says",
    [
        (lambda path: path.write_bytes(b"not a database, " * 1000), "a prorata.db that is no database"),
        (lambda path: damage(path), "damaged"),
        (lambda path: newer(path), "its schema is 9999"),
    ],
)
def test_a_database_that_is_not_well(server, harm, says):
    server.stop()
    harm(server.data / "prorata.db")
    assert says in about(findings("--data", str(server.data), status=1), "database")


def damage(path):
    with sqlite3.connect(path) as base:
        page = base.execute("PRAGMA page_size").fetchone()[0]
        root = base.execute("SELECT rootpage FROM sqlite_master WHERE name = 'projects'").fetchone()[0]
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with open(path, "r+b") as file:
        file.seek((root - 1) * page)
        file.write(os.urandom(page))


def newer(path):
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA user_version = 9999")
