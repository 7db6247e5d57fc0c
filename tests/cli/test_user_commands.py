"""Users by the command line: made, listed, given a new password, signed out, deleted."""

import json
import re

ANN = "ann@example.org"


def password_of(text):
    return re.search(r"^Temporary password: (\S+)$", text, re.M).group(1)


def test_a_user_is_made_listed_and_deleted(client):
    first = password_of(client.run("user", "create", ANN))
    listed = client.run("user", "list")
    assert re.search(rf"^ {ANN} +local +", listed, re.M) and first not in listed
    assert "there is a user" in client.run("user", "create", ANN, status=1)
    second = password_of(client.run("user", "reset-password", ANN.upper()))
    assert first != second
    assert client.run("user", "logout", ANN) == f"all sessions of {ANN} are ended\n"
    assert "no second factor" in client.run("user", "reset-otp", ANN, status=1)
    assert client.run("user", "delete", ANN) == f"user {ANN} deleted successfully\n"
    assert ANN not in client.run("user", "list")


def test_the_list_goes_by_pages_and_ends_where_it_is_told_to(client):
    mails = [f"user{number}@example.org" for number in range(5)]
    for mail in mails:
        client.run("user", "create", mail)

    def listed(*flags):
        return [user["username"] for user in json.loads(client.run("user", "list", "--json", *flags))]

    by_pages = listed("--page-size", "2")
    asked = "three full pages and an empty one: nobody asked before"  # a line is written after its answer
    client.server.wait_for(asked, lambda: client.server.log.read_text().count("operation=get_users") == 4)
    everybody = listed()
    assert by_pages == everybody
    assert set(mails) < set(everybody) and len(everybody) == len(set(everybody)) == 6
    for size in ("1", "2", "3", "6"):
        assert listed("--page-size", size) == everybody, size
    assert listed("--max-items", "4", "--page-size", "3") == everybody[:4]


def test_what_is_wrong_is_named(client):
    assert f"no user was found with the name {ANN}" in client.run("user", "delete", ANN, status=1)
    assert "Error:" in client.run("user", "delete", "no-id", status=1)
    assert "Error:" in client.run("user", "create", "no address", status=1)
    assert "a name is missing" in client.run("user", "create", status=1)
