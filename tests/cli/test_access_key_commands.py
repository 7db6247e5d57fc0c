"""Access keys by the command line: made, listed, renewed, deleted; signing in with one."""

import re


def secret_of(text):
    return re.search(r"^Client secret: +(\S{43})$", text, re.M).group(1)


def test_a_key_is_made_used_renewed_and_deleted(client, tmp_path):
    made = client.run("access-key", "create", "laptop")
    client_id = re.search(r"^Client ID: +(\S{36})$", made, re.M).group(1)
    listed = client.run("access-key", "list")
    assert "laptop" in listed and client_id in listed and secret_of(made) not in listed
    file = tmp_path / "secret"
    file.write_text(secret_of(client.run("access-key", "regenerate", "laptop")) + "\n")
    refused = client.run("login", "access-key", "--client-id", client_id, "--secret", secret_of(made), status=1)
    assert "unknown client or wrong secret" in refused
    signed_in = client.run("login", "access-key", "--client-id", client_id, "--secret-file", str(file))
    assert signed_in == f"Logged in as {client_id}\n"
    assert "User: admin@prorata.local" in client.run("whoami")
    assert client.run("access-key", "delete", "laptop") == "access key laptop deleted successfully\n"
    assert "Error:" in client.run("whoami", status=1), "the key's sessions end with it"


def test_what_is_wrong_is_named(client):
    assert "--client-id is missing" in client.run("login", "access-key", status=1)
    assert "--secret or --secret-file is missing" in client.run("login", "access-key", "--client-id", "x", status=1)
    assert "no access key was found with the name x1" in client.run("access-key", "delete", "x1", status=1)
    assert "no access key was found with the name x1" in client.run("access-key", "regenerate", "x1", status=1)
    assert "Error: name" in client.run("access-key", "create", "X", status=1)
