"""`prorata replay --data`: a recorded cycle planned again, from a running server and from a stopped one."""

import json
import shutil
import struct
import subprocess
import zlib

import pytest
from servers import PRORATA, ROOT


def replay(data, *arguments):
    return subprocess.run(
        [PRORATA, "replay", "--data", str(data), *map(str, arguments)], capture_output=True, text=True, timeout=60
    )


def cycles(data, *arguments):
    done = replay(data, "--list", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["cycles"]


def allocated(server, project):
    workloads = server.get("/api/v1/workloads", limit=100).json["workloads"]
    return len([w for w in workloads if w["projectName"] == project and w["phase"] == "Running"])


@pytest.fixture
def busy(make_server):
    """A server whose scheduler has placed, waited and preempted."""
    server = make_server("--quick-start")
    for number in range(5):
        server.submit(f"early-{number}", "team-a")
    server.wait_for("team-a to hold everything", lambda: allocated(server, "team-a") == 4)
    for number in range(2):
        last = server.submit(f"late-{number}", "team-b")
        server.wait_phase(last, "Running")
    return server


def check_equal(data, row):
    done = replay(data, "--cycle", row["cycle"])
    answer = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    assert answer["equal"] is True and answer["difference"] is None
    assert answer["recorded"]["decisions"] == answer["replayed"]["decisions"]
    assert answer["recorded"]["digests"] == answer["digests"] and answer["decidedAlike"] is True
    assert (answer["cycle"], answer["time"]) == (row["cycle"], row["time"])
    assert len(answer["recorded"]["decisions"]) == row["decisions"]
    assert done.stderr.startswith(f"cycle {row['cycle']} of {row['time']}, {row['decisions']} decisions: equal")
    return answer


def test_every_cycle_gives_its_plan_again(busy):
    rows = cycles(busy.data)
    assert [r["cycle"] for r in rows] == list(range(1, len(rows) + 1))
    answers = [check_equal(busy.data, row) for row in rows]
    actions = {d["action"] for a in answers for d in a["recorded"]["decisions"]}
    assert {"allocate", "reclaim"} <= actions
    for row in rows:
        assert json.loads(replay(busy.data, "--at", row["time"]).stdout)["time"] == row["time"]
    busy.kill()
    assert cycles(busy.data)[: len(rows)] == rows
    check_equal(busy.data, rows[-1])
    busy.start()
    busy.wait_for("a cycle of the new life", lambda: len(cycles(busy.data)) > len(rows))
    later = cycles(busy.data)
    assert [r["cycle"] for r in later] == list(range(1, len(later) + 1))


def test_snapshot_for_simulate(busy, tmp_path):
    row = next(r for r in cycles(busy.data) if r["decisions"] > 0)
    path = tmp_path / "snapshot.json"
    done = replay(busy.data, "--cycle", row["cycle"], "--snapshot", path, "--pretty")
    assert done.returncode == 0
    again = subprocess.run([PRORATA, "simulate", str(path)], capture_output=True, text=True, timeout=60)
    assert json.loads(again.stdout)["cycles"][0]["decisions"] == json.loads(done.stdout)["recorded"]["decisions"]


def test_range(busy):
    rows = cycles(busy.data)
    middle = rows[len(rows) // 2]["time"]
    assert cycles(busy.data, "--from", middle) == [r for r in rows if r["time"] >= middle]
    assert cycles(busy.data, "--to", middle) == [r for r in rows if r["time"] <= middle]


BAD = [
    ("nothing asked", [], "one of --at, --cycle and --list is needed"),
    ("two things asked", ["--cycle", "1", "--list"], "one of --at, --cycle and --list is needed"),
    ("no number", ["--cycle", "one"], '--cycle: a whole number from 1 up, got "one"'),
    ("zero", ["--cycle", "0"], '--cycle: a whole number from 1 up, got "0"'),
    ("no such cycle", ["--cycle", "99999"], "the journal has no such cycle: it has 1 to "),
    ("too early", ["--at", "2001-01-01T00:00:00Z"], "the journal has no such cycle: it has 1 to "),
    ("no time", ["--at", "noon"], "--at: "),
    ("no time to begin", ["--from", "noon"], "--from: "),
    ("no time to end", ["--to", "2026-13-01T00:00:00Z"], "--to: "),
    ("a missing value", ["--cycle"], "--cycle: needs a value"),
    ("an unknown option", ["--why"], "--why: unknown option"),
    ("a trace as well", ["--list", "trace.csv"], "trace.csv: not with --data"),
    ("a snapshot of a list", ["--list", "--snapshot", "x"], "--snapshot: of one cycle only"),
]


def test_bad_arguments(busy, tmp_path):
    for name, arguments, message in BAD:
        done = replay(busy.data, *arguments)
        assert (done.returncode, done.stdout) == (2, ""), name
        assert done.stderr.startswith("prorata replay: " + message), f"{name}: {done.stderr}"
    done = replay(tmp_path / "nowhere", "--list")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no journal" in done.stderr
    row = cycles(busy.data)[0]
    assert replay(busy.data, "--cycle", row["cycle"], "--snapshot", "/nowhere/x").returncode == 1


def test_no_journal(make_server):
    server = make_server("--journal-bytes", "0")
    assert not (server.data / "journal").exists()
    assert server.request("GET", "/readyz", token=None).body == b"ok\n"


def test_metrics(busy):
    text = busy.get("/metrics").body.decode()
    figures = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("prorata_journal"))
    assert float(figures["prorata_journal_cycles_total"]) >= 1
    assert figures["prorata_journal_missed_cycles_total"] == "0" and figures["prorata_journal_writing"] == "1"
    assert float(figures["prorata_journal_bytes"]) == sum(f.stat().st_size for f in (busy.data / "journal").iterdir())


def first_record(text):
    """Where the second record begins: headers are 32 and 48 bytes, the second word of a record's header is its
    length."""
    return 32 + 48 + int.from_bytes(text[36:40], "little")


DAMAGE = [
    # what, of the first of two segments or of the last, the file's new bytes, what --list says, whether its first
    # cycle is read
    ("cut in a record", 0, lambda t: t[:-7], "it is no record; the cycles after it in this file are lost", True),
    (
        "cut in the last record",
        1,
        lambda t: t[:-7],
        "or one that is being written; a server that starts cuts it off",
        False,
    ),
    (
        "a flipped byte",
        0,
        lambda t: t[:90] + bytes([t[90] ^ 1]) + t[91:],
        "the record of cycle 1 is damaged; it and",
        False,
    ),
    ("nonsense behind a record", 0, lambda t: t[: first_record(t)] + b"x" * 500, "it is no record; the cycles", True),
    (
        "nonsense in place of a segment",
        0,
        lambda t: b"nonsense" * 100,
        "not a segment of the journal; its cycles are lost",
        False,
    ),
    ("an empty segment", 0, lambda t: b"", "not a segment of the journal; its cycles are lost", False),
    (
        "a segment of another kind",
        1,
        lambda t: b"PRORATA9" + t[8:],
        "not a segment of the journal; its cycles are lost",
        False,
    ),
]


def test_damage(busy, folder):
    busy.kill()
    before = len(cycles(busy.data))
    busy.start()
    busy.wait_for("a cycle of the new life", lambda: len(cycles(busy.data)) > before)
    busy.stop()
    rows = cycles(busy.data)
    for name, which, change, message, is_first_read in DAMAGE:
        data = folder / "damaged"
        shutil.copytree(busy.data / "journal", data / "journal")
        segments = sorted((data / "journal").iterdir())
        assert len(segments) == 2
        segments[which].write_bytes(change(segments[which].read_bytes()))
        done = replay(data, "--list")
        assert done.returncode == 0 and done.stderr.startswith(f"{segments[which]}: "), (name, done.stderr)
        assert message in done.stderr and done.stderr.count("\n") == 1, (name, done.stderr)
        other = rows[-1] if which == 0 else rows[0]
        check_equal(data, other)
        first = rows[0] if which == 0 else rows[before]
        done = replay(data, "--cycle", first["cycle"])
        if is_first_read:
            assert done.returncode == 0, name
        else:
            assert (done.returncode, done.stdout) == (2, "") and message in done.stderr, (name, done.stderr)
        shutil.rmtree(data)


def test_nothing_readable(busy, folder):
    busy.stop()
    for segment in (busy.data / "journal").iterdir():
        segment.write_bytes(b"nonsense")
    for arguments in (["--cycle", "1"], ["--at", "2100-01-01T00:00:00Z"]):
        done = replay(busy.data, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "the journal has no cycle that can be read" in done.stderr
    assert cycles_and_words(busy.data) == ([], "not a segment of the journal; its cycles are lost")
    busy.start()
    busy.wait_for("a journal again", lambda: replay(busy.data, "--cycle", "1").returncode == 0)


def cycles_and_words(data):
    done = replay(data, "--list")
    return json.loads(done.stdout)["cycles"], done.stderr.strip().split(": ", 1)[1]


# A segment's header, and a record's but for its own checksum; journal/segment.c.
SEGMENT, RECORD = struct.Struct("<8s16sII"), struct.Struct("<4I3qI")


def rewrite(path, cycle, change):
    """Lets change(changes, decisions) alter a record of the segment, with checksums as they must be."""
    text = path.read_bytes()
    out, at = text[: SEGMENT.size], SEGMENT.size
    unpack, pack = zlib.decompressobj(), zlib.compressobj(3)
    while at < len(text):
        magic, stored, _, count, number, time_ms, plan_us, _ = RECORD.unpack_from(text, at)
        at += RECORD.size + 4
        payload = unpack.decompress(text[at : at + stored])
        at += stored
        if number == cycle:
            lines = [json.loads(line) for line in payload.split(b"\n")]
            change(*lines)
            payload = b"\n".join(json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() for line in lines)
        packed = pack.compress(payload) + pack.flush(zlib.Z_SYNC_FLUSH)
        header = RECORD.pack(magic, len(packed), len(payload), count, number, time_ms, plan_us, zlib.crc32(packed))
        out += header + struct.pack("<I", zlib.crc32(header)) + packed
    path.write_bytes(out)


def rewritten(data, folder, cycle, change):
    """The answer for a cycle of a copy of the journal's only segment, where that record is altered."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(data / "journal", folder / "journal")
    (segment,) = (folder / "journal").iterdir()
    rewrite(segment, cycle, change)
    done = replay(folder, "--cycle", cycle)
    return done.returncode, json.loads(done.stdout), done.stderr


def other_words(changes, decisions):
    changes["words"] = "0" * 32
    for decision in decisions:
        decision["why"] = "In other words"


def other_node(changes, decisions):
    decisions[-1]["node"] = "nowhere"


def both(changes, decisions):
    other_words(changes, decisions)
    other_node(changes, decisions)


ALIKE, DIFFERENT, BESIDE = (
    "decided alike, in other words",
    "different",
    "The decisions are equal; what else the plan says of pods",
)
VERDICTS = [
    # what of the record is other than what is planned again, exit status, verdict, sentence, the first decision that
    # differs
    ("nothing", lambda c, d: None, 0, "equal", None, None),
    ("all words", other_words, 0, ALIKE, "Decided alike, in other words.", 0),
    ("words of explanations", lambda c, d: c.update(words="0" * 32), 0, ALIKE, "Decided alike, in other words.", None),
    ("figures", lambda c, d: c.update(decided="0" * 32), 1, DIFFERENT, BESIDE, None),
    ("the last decision", other_node, 1, DIFFERENT, "From this decision on they are not equal.", -1),
    ("the last decision, and all words", both, 1, DIFFERENT, "From this decision on they are not equal.", -1),
    ("a decision more", lambda c, d: d.append(d[0]), 1, DIFFERENT, "From this decision on they are not equal.", -1),
    (
        "decisions in another order",
        lambda c, d: d.reverse(),
        1,
        DIFFERENT,
        "From this decision on they are not equal.",
        0,
    ),
]


def test_verdicts(busy, folder):
    busy.stop()
    row = next(r for r in cycles(busy.data) if r["decisions"] >= 2)
    for name, change, status, verdict, sentence, at in VERDICTS:
        code, answer, words = rewritten(busy.data, folder / "rewritten", row["cycle"], change)
        assert (code, answer["equal"], answer["decidedAlike"]) == (status, verdict == "equal", status == 0), (
            name,
            words,
        )
        assert words == f"cycle {row['cycle']} of {row['time']}, {row['decisions']} decisions: {verdict}\n", name
        difference = answer["difference"] or {"sentence": None}
        assert difference["sentence"] == sentence or difference["sentence"].startswith(sentence), (name, difference)
        if at is None:
            assert "decision" not in difference, (name, difference)
        else:
            decisions = answer["recorded"]["decisions"]
            assert difference["decision"] == at % len(decisions) and difference["recorded"] == decisions[at], (
                name,
                difference,
            )


# A journal of the last release whose records have one digest of decisions and words together.
BEFORE = ROOT / "tests/journal/one-digest"
ONE = "decided alike, in other words or figures beside the decisions (its release kept one digest of both)"


def test_one_digest(folder):
    rows = cycles(BEFORE)
    assert [r["decisions"] for r in rows] == [0, 2, 2, 2, 1, 0]
    for row in rows:
        done = replay(BEFORE, "--cycle", row["cycle"])
        answer = json.loads(done.stdout)
        assert done.returncode == 0 and answer["decidedAlike"] is True, done.stderr
        now = {"digest": answer["digest"]}, answer["replayed"]["decisions"]

        def as_planned_now(changes, decisions, now=now):
            changes.update(now[0])
            decisions[:] = now[1]

        def other_digest(changes, decisions):
            changes["digest"] = "0" * 32

        code, answer, words = rewritten(BEFORE, folder / "rewritten", row["cycle"], as_planned_now)
        assert (code, answer["equal"], answer["difference"]) == (0, True, None), words
        assert ": equal\n" in words and answer["recorded"]["digest"] == answer["digest"]
        code, answer, words = rewritten(BEFORE, folder / "rewritten", row["cycle"], other_digest)
        assert (code, answer["equal"], answer["decidedAlike"]) == (0, False, True) and f": {ONE}" in words, words
        if row["decisions"] > 0:
            code, answer, words = rewritten(BEFORE, folder / "rewritten", row["cycle"], other_node)
            assert (code, answer["decidedAlike"]) == (1, False) and ": different" in words, words


def test_a_server_goes_on_after_segments_of_before(busy):
    busy.stop()
    shutil.rmtree(busy.data / "journal")
    shutil.copytree(BEFORE / "journal", busy.data / "journal")
    before = cycles(busy.data)
    busy.start()
    busy.wait_for("a cycle of the new life", lambda: len(cycles(busy.data)) > len(before))
    busy.stop()
    rows = cycles(busy.data)
    assert rows[: len(before)] == before and rows[len(before)]["cycle"] == before[-1]["cycle"] + 1
    check_equal(busy.data, rows[-1])
    assert json.loads(replay(busy.data, "--cycle", before[-1]["cycle"]).stdout)["decidedAlike"] is True
    assert [f.read_bytes()[:8] for f in sorted((busy.data / "journal").iterdir())] == [b"PRORATA1", b"PRORATA2"]
