"""Logs that are followed end with their workload: over restarts of the server, over attempts, and not with a clock."""

import contextlib
import http.client
import re
import struct

import pytest
from pods import log_of, pods_of, submit, wait_log
from servers import moved_clock

# Numbers, until the file `end` is there; then the last of them once more.
COUNTS = "i=0; until test -e end; do i=$((i+1)); echo $i; sleep 0.005; done; echo last $i"


@pytest.fixture
def counting(local, folder):
    """A workload that counts until end() is called."""
    folder.chmod(0o755)
    workload = submit(local, "counts", COUNTS, gpus=0, spec={"workingDir": str(folder)})
    wait_log(local, workload, "10\n")
    return workload, lambda: (folder / "end").touch()


def reasons_of(server, workload):
    return [event["reason"] for event in server.get(f"/api/v1/workloads/{workload}/events").json["events"]]


def check_whole(lines):
    assert lines[-1].startswith("last "), lines[-3:]
    assert lines[:-1] == [str(number) for number in range(1, int(lines[-1].split()[1]) + 1)]


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_a_follower_loses_and_doubles_no_line_where_the_server_starts_again(local, counting, follow, end):
    workload, finish = counting
    follower = follow(local, "logs", "counts", "--follow")
    for _ in range(3):
        seen = len(follower.lines())
        local.wait_for("it goes on", lambda seen=seen: len(follower.lines()) > seen)
        getattr(local, end)()
        local.start()
    seen = len(follower.lines())
    local.wait_for("it goes on", lambda: len(follower.lines()) > seen)
    finish()
    status, lines, errors = follower.end()
    assert (status, errors) == (0, "")
    check_whole(lines)


def test_a_follower_begins_where_it_was_told_and_goes_on_behind(local, counting, follow):
    workload, finish = counting
    begun = int(log_of(local, workload).split()[-1])
    follower = follow(local, "logs", "counts", "--follow", "--tail", "0")
    attached = follow(local, "attach", "counts")
    for one in (follower, attached):
        local.wait_for("a line", one.lines)
    local.kill()
    local.start()
    finish()
    for one in (follower, attached):
        status, lines, _ = one.end()
        assert status == 0 and int(lines[0]) > begun - 10
        check_whole([str(number) for number in range(1, int(lines[0]))] + lines)
    assert reasons_of(local, workload).count("Attached") == 1, "who comes again is known"


def read_plain(server, path):
    """The text of a followed log, and whether HTTP says that it is whole."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", path, headers={"Authorization": "Bearer " + server.token})
    answer = connection.getresponse()
    assert answer.status == 200 and answer.headers["Transfer-Encoding"] == "chunked"
    first = answer.readline()

    def rest():
        with contextlib.closing(connection):
            try:
                return (first + answer.read()).decode(), True
            except http.client.IncompleteRead as broken:
                return (first + broken.partial).decode(), False

    return rest


def test_an_answer_that_breaks_off_says_so_to_who_reads_it_by_hand(local, counting):
    workload, finish = counting
    path = f"/api/v1/workloads/{workload}/logs?follow=true"
    rest = read_plain(local, path)
    assert local.stop() == 0
    text, is_whole = rest()
    assert not is_whole
    assert text.splitlines()[-1] == "[the log goes on, this answer breaks off: the server stops]"
    local.start()
    rest = read_plain(local, path)
    finish()
    text, is_whole = rest()
    assert is_whole
    check_whole(text.splitlines())


def test_a_place_leads_on_wherever_the_stream_was_left(local, counting):
    """From each place that was told: the rest, and nothing before it."""
    workload, finish = counting
    finish()
    local.wait_phase(workload, "Completed")
    whole = log_of(local, workload).encode()
    path = f"/api/v1/workloads/{workload}/logs?follow=true&frames=true"

    def frames(more=""):
        body = local.get(path + more).body
        while body:
            (length,) = struct.unpack(">I", body[1:5])
            yield body[:1], body[5 : 5 + length]
            body = body[5 + length :]

    said = list(frames())
    assert said[-1] == (b"x", b"0 ") and {kind for kind, _ in said[:-1]} <= {b"l", b" "}
    read = b""
    for place, _, text in (data.partition(b"\n") for kind, data in said if kind == b"l"):
        read += text
        rest = b"".join(
            data.partition(b"\n")[2] for kind, data in frames(f"&position={place.decode()}") if kind == b"l"
        )
        assert read + rest == whole
    pod = pods_of(local, workload)[0]["id"]
    for far in (len(whole) * 4, 10**18, 2**63 - 1, 10**19 - 1):
        assert list(frames(f"&position={pod}.{far}"))[-1] == (b"x", b"0 "), "a place that never was is behind the end"
    gone = "11111111-2222-4333-8444-555555555555.5"
    assert local.get(path + f"&position={gone}").status == 404
    assert local.get(path + "&position=here").status == 400


# Each pod's first attempt fails, once it may.
FAILS_ONCE = """echo begun
if test ! -e tried$RANK; then until test -e fail; do sleep 0.05; done; touch tried$RANK; echo oops; exit 3; fi
until test -e end; do sleep 0.05; done; echo done"""


@pytest.fixture
def work(folder):
    """A folder that pods may write to."""
    folder.chmod(0o755)
    path = folder / "work"
    path.mkdir()
    path.chmod(0o777)
    return path


@pytest.fixture
def quick(start):
    return start("--retry-delay", "0.2")


def test_a_follower_goes_on_with_the_next_attempt(quick, work, follow):
    workload = submit(quick, "again", FAILS_ONCE, gpus=0, spec={"workingDir": str(work), "backoffLimit": 2})
    follower = follow(quick, "logs", "again", "--follow")
    quick.wait_for("the first attempt", follower.lines)
    (work / "fail").touch()
    quick.wait_for("the second attempt", lambda: len(follower.lines()) >= 3)
    rest = read_plain(quick, f"/api/v1/workloads/{workload}/logs?follow=true")
    (work / "end").touch()
    status, lines, errors = follower.end()
    assert (status, lines) == (0, ["begun", "oops", "begun", "done"])
    assert errors == "--- again-0-0 ended: Error; attempt 2 is again-0-1 ---\n"
    assert rest() == ("begun\ndone\n", True)
    named = follow(quick, "logs", "again", "--follow", "--pod", "again-0-0")
    assert named.end() == (0, ["begun", "oops"], ""), "who names a pod gets that pod's"


def test_a_follower_of_a_gang_goes_on_with_the_next_attempt(quick, work, follow):
    submit(quick, "gang", FAILS_ONCE, gpus=0, kind="distributed",
           spec={"workingDir": str(work), "backoffLimit": 4, "numWorkers": 2, "noMaster": True})  # fmt: skip
    named = follow(quick, "logs", "gang", "--follow", "--pod", "gang-worker-1")
    newest = follow(quick, "logs", "gang", "--follow")
    for one in (named, newest):
        quick.wait_for("the first attempt", one.lines)
    (work / "fail").touch()
    for one in (named, newest):
        quick.wait_for("the second attempt", lambda one=one: one.lines().count("begun") == 2)
    (work / "end").touch()
    for one, name in ((named, "gang-worker-1"), (newest, "gang-worker-0")):
        status, lines, errors = one.end()
        assert status == 0 and lines[-1] == "done"
        assert re.match(rf"--- {name} ended: \w+; attempt 2 is {name} ---\n", errors)


def test_a_follower_ends_where_the_workload_is_deleted_or_stopped(quick, follow):
    for name, end in (("gone", "DELETE"), ("stopped", "suspend")):
        workload = submit(quick, name, "echo up; sleep 1000", gpus=0)
        follower = follow(quick, "logs", name, "--follow")
        quick.wait_for("a line", follower.lines)
        path = f"/api/v1/workloads/trainings/{workload}"
        answer = quick.delete(path) if end == "DELETE" else quick.post(f"{path}/{end}")
        assert answer.status == 202
        assert follower.end() == (0, ["up"], "")


def test_a_follower_that_waited_loses_no_attempt(quick, follow):
    """Between two looks the pod starts, fails and starts again."""
    holds = submit(quick, "holds", "sleep 1000", gpus=4)
    quick.wait_phase(holds, "Running")
    waits = submit(quick, "waits", "echo begun; echo oops; exit 3", gpus=4, spec={"backoffLimit": 3})
    follower = follow(quick, "attach", "waits")
    quick.wait_for("it follows", lambda: "Attached" in reasons_of(quick, waits))
    quick.delete(f"/api/v1/workloads/trainings/{holds}")
    status, lines, errors = follower.end()
    assert status == 0 and lines == ["begun", "oops"] * 4
    assert re.findall(r"attempt (\d) is", errors) == ["2", "3", "4"]


def test_a_follower_ends_with_a_workload_that_never_started(quick, follow):
    holds = submit(quick, "holds", "sleep 1000", gpus=4)
    quick.wait_phase(holds, "Running")
    waits = submit(quick, "waits", "echo mine", gpus=4)
    follower = follow(quick, "attach", "waits")
    quick.wait_for("it follows", lambda: "Attached" in reasons_of(quick, waits))
    assert quick.post(f"/api/v1/workloads/trainings/{waits}/suspend").status == 202
    assert follower.end() == (0, [], "")


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_a_command_that_is_lost_with_the_server_says_so(local, counting, follow, end):
    inside = follow(local, "exec", "counts", "--", "/bin/sh", "-c", "echo in; sleep 1000")
    local.wait_for("a line", inside.lines)
    getattr(local, end)()
    status, lines, errors = inside.end()
    assert (status, lines) == (1, ["in"]) and errors.startswith("Error: ")


def test_a_follower_waits_for_a_workload_that_waits(quick, follow):
    holds = submit(quick, "holds", "sleep 1000", gpus=4)
    quick.wait_phase(holds, "Running")
    waits = submit(quick, "waits", "echo mine", gpus=4)
    follower = follow(quick, "attach", "waits")
    quick.wait_for("it follows", lambda: "Attached" in reasons_of(quick, waits))
    assert quick.post(f"/api/v1/workloads/trainings/{holds}/suspend").status == 202
    assert follower.end() == (0, ["mine"], "")


@pytest.fixture
def hasty(start, folder):
    """A server whose tokens end after a minute, and move(seconds): its clock goes on."""
    clock = folder / "clock"
    clock.write_text("0")
    folder.chmod(0o755)  # pods have that clock, too
    server = start("--token-lifetime", "60", **moved_clock(clock))

    def move(seconds):
        clock.write_text(str(int(clock.read_text()) + seconds))
        server.token = None

    return server, move


def test_who_follows_beyond_their_token_is_told_and_who_signs_in_again_goes_on(hasty, follow, folder):
    server, move = hasty
    workload = submit(server, "counts", COUNTS, gpus=0, spec={"workingDir": str(folder)})
    wait_log(server, workload, "10\n")
    told, renewed = (follow(server, "logs", "counts", "--follow") for _ in range(2))
    inside = follow(server, "exec", "counts", "--", "/bin/sh", "-c", "echo in; sleep 1000")
    rest = read_plain(server, f"/api/v1/workloads/{workload}/logs?follow=true")
    for one in (told, renewed, inside):
        server.wait_for("a line", one.lines)
    move(30)
    renewed.client.sign_in()
    move(31)
    status, lines, errors = told.end()
    assert status == 1 and lines
    assert errors.startswith("Error: the log is not at its end: your sign-in has ended\n") and "login user" in errors
    status, lines, errors = inside.end()
    assert (status, lines) == (1, ["in"]) and errors.startswith("Error: ") and "login user" in errors
    text, is_whole = rest()
    assert not is_whole and "[the log goes on, this answer breaks off: your sign-in has ended" in text
    seen = len(renewed.lines())
    server.wait_for("it goes on", lambda: len(renewed.lines()) > seen)
    (folder / "end").touch()
    status, lines, errors = renewed.end()
    assert (status, errors) == (0, "")
    check_whole(lines)
