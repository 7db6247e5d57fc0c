"""The own account by the command line: a temporary password, sessions, the second factor."""

import os
import pty
import re
import subprocess
import termios
import time

from people import PEOPLES_PASSWORD, code_of, make_person, make_user, reuse_code
from servers import PRORATA

ANN = "ann@example.org"


def at_a_terminal(client, dialogue, *words):
    """Runs a command with a terminal as its input, and types each answer once its question stands there."""
    lead, follow = pty.openpty()
    child = subprocess.Popen(
        [PRORATA, *words],
        stdin=follow,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "HOME": str(client.home)},
    )
    told = b""
    for question, answer in dialogue:
        while not told.endswith(question.encode()):
            more = os.read(child.stderr.fileno(), 1)
            assert more, told
            told += more
        until = time.monotonic() + 60
        while not question.startswith("Code") and termios.tcgetattr(lead)[3] & termios.ECHO:
            assert time.monotonic() < until, "the echo stays on"
            time.sleep(0.005)  # what is typed before the echo is off is thrown away
        os.write(lead, answer.encode() + b"\n")
    out, rest = child.communicate(timeout=60)
    os.close(lead)
    os.close(follow)
    return child.returncode, out.decode(), (told + rest).decode()


def test_signing_in_with_a_temporary_password_asks_for_another(client):
    temporary = make_user(client.server, ANN)["tempPassword"]
    dialogue = [("Password: ", temporary), ("New password: ", PEOPLES_PASSWORD), ("The same again: ", PEOPLES_PASSWORD)]
    status, out, told = at_a_terminal(client, dialogue, "login", "user", "-u", ANN)
    assert status == 0 and out.startswith(f"Logged in as {ANN}\n") and "temporary" in told, (out, told)
    assert "Logged in" in client.run("login", "user", "-u", ANN, "-p", PEOPLES_PASSWORD)


def test_without_a_terminal_it_is_said_or_given(client):
    temporary = make_user(client.server, ANN)["tempPassword"]
    assert "temporary one" in client.run("login", "user", "-u", ANN, "-p", temporary)
    assert "must be changed first" in client.run("workload", "list", "-A", status=1)
    refused = client.run("account", "password", "-p", temporary, "--new-password", "password", status=1)
    assert "tried first" in refused
    client.run("login", "user", "-u", ANN, "-p", temporary, "--new-password", PEOPLES_PASSWORD)
    assert "Logged in" in client.run("login", "user", "-u", ANN, "-p", PEOPLES_PASSWORD)


def test_sessions_are_listed_and_ended(client):
    make_person(client.server, ANN)
    client.run("login", "user", "-u", ANN, "-p", PEOPLES_PASSWORD)
    listed = client.run("account", "sessions")
    assert listed.count("127.0.0.1") == 2 and listed.count("this one") == 1
    other = next(line for line in listed.splitlines() if "127.0.0.1" in line and "this one" not in line)
    client.run("account", "sessions", "end", re.search(r"[0-9a-f-]{36}", other).group())
    assert client.run("account", "sessions").count("127.0.0.1") == 1
    client.run("account", "sessions", "end", "others")
    assert "not found" in client.run("account", "sessions", "end", "x", status=1)


def test_the_second_factor_is_enabled_asked_for_and_disabled(client):
    make_person(client.server, ANN)
    client.run("login", "user", "-u", ANN, "-p", PEOPLES_PASSWORD)
    assert client.run("account", "otp") == "Second factor: off\n"
    begun = client.run("account", "otp", "enable", "-p", PEOPLES_PASSWORD)
    secret = re.search(r"^Secret:  ([A-Z2-7]{32})$", begun, re.M).group(1)
    assert "otpauth://totp/prorata:ann%40example.org?secret=" + secret in begun
    assert "code: wrong" in client.run("account", "otp", "confirm", "--code", "000000", status=1)
    codes = re.findall(r"^  ([a-z2-7-]{19})$", client.run("account", "otp", "confirm", "--code", code_of(secret)), re.M)
    reuse_code(client.server)
    assert len(codes) == 10 and "10 recovery codes left" in client.run("account", "otp")
    assert "otp: required" in client.run("login", "user", "-u", ANN, "-p", PEOPLES_PASSWORD, status=1)
    client.run("login", "user", "-u", ANN, "-p", PEOPLES_PASSWORD, "--otp", code_of(secret))
    dialogue = [("Code of the app, or a recovery code: ", codes[0])]
    status, out, told = at_a_terminal(client, dialogue, "login", "user", "-u", ANN, "-p", PEOPLES_PASSWORD)
    assert status == 0 and out == f"Logged in as {ANN}\n", told
    assert "password needs no code" in client.run(
        "account", "otp", "disable", "-p", PEOPLES_PASSWORD, "--code", codes[1]
    )
    assert "Logged in" in client.run("login", "user", "-u", ANN, "-p", PEOPLES_PASSWORD)
