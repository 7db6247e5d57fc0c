"""`--begin` and `--after`: what a submission waits for, as people write it."""

import datetime
import json

import pytest

UTC = datetime.UTC


def start_of(client, *words, status=0):
    said = client.run(
        "training", "submit", "x", "-i", "i", "-p", "team-a", "--dry-run", "--begin", *words, status=status
    )
    return (
        said if status else datetime.datetime.fromisoformat(json.loads(said)["spec"]["startAt"].replace("Z", "+00:00"))
    )


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("2099-01-31T22:00:00Z", "2099-01-31T22:00:00.000+00:00"),
        ("2099-01-31T22:00:00+01:00", "2099-01-31T21:00:00.000+00:00"),
        ("2099-01-31T22:00", "2099-01-31T20:00:00.000+00:00"),
        ("2099-01-31T22:00:30", "2099-01-31T20:00:30.000+00:00"),
        ("2099-01-31", "2099-01-30T22:00:00.000+00:00"),
    ],
)
def test_a_start_time_is_of_this_machines_zone(client, monkeypatch, text, wanted):
    monkeypatch.setenv("TZ", "EET-2")
    assert start_of(client, text).isoformat(timespec="milliseconds") == wanted


@pytest.mark.parametrize(
    "text, clock", [("22:00", "22:00:00"), ("06:30:15", "06:30:15"), ("noon", "12:00:00"), ("midnight", "00:00:00")]
)
def test_a_start_time_is_the_next_of_its_clock(client, monkeypatch, text, clock):
    monkeypatch.setenv("TZ", "EET-2")
    before = datetime.datetime.now(UTC)
    start = start_of(client, text)
    after = datetime.datetime.now(UTC)
    assert before < start <= after + datetime.timedelta(days=1)
    assert (start + datetime.timedelta(hours=2)).time().isoformat() == clock


def test_a_start_time_is_from_now_on(client):
    before = datetime.datetime.now(UTC) - datetime.timedelta(milliseconds=1)
    start = start_of(client, "now+1h30m") - datetime.timedelta(minutes=90)
    assert before <= start <= datetime.datetime.now(UTC)


@pytest.mark.parametrize("text", ["", "soon", "25:00", "now+", "now-1h", "2099-02-31", "2099-13-01", "22", "22:00 x"])
def test_a_start_time_that_is_none_is_named(client, text):
    assert f"--begin: {text} is no time such as" in start_of(client, text, status=1)


def test_after_names_workloads_and_their_ends(client):
    submit = ("training", "submit", "x", "-i", "i", "-p", "team-a", "--dry-run")
    said = client.run(*submit, "--after", "prep", "--after", "a:any,b:failed")
    assert json.loads(said)["spec"]["after"] == [
        {"name": "prep"},
        {"name": "a", "when": "any"},
        {"name": "b", "when": "failed"},
    ]
    client.run("training", "submit", "prep", "-i", "i", "-g", "1", "-p", "team-a")
    assert "spec.after[0].when" in client.run(*submit[:-1], "--after", "prep:soon", status=1)
    assert "the project has no workload gone" in client.run(*submit[:-1], "--after", "gone", status=1)
    client.run(*submit[:-1], "--after", "prep")
    client.server.wait_for(
        "the reason", lambda: "Waits for prep to complete" in client.run("workload", "explain", "x", "-p", "team-a")
    )


def test_what_if_says_the_time_once(client):
    words = ("training", "submit", "x", "-i", "i", "-g", "1", "-p", "team-a", "--what-if")
    said = client.run(*words, "--begin", "2099-01-31T22:00:00Z", status=3)
    (when,) = [line for line in said.splitlines() if line.startswith("When:")]
    assert when.count("2099-01-31T22:00:00.000Z") == 1
