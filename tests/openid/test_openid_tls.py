"""An issuer behind TLS with a certificate of a private authority: trusted where --openid-ca names it, and only then."""

import socket
import ssl
import subprocess
import threading
import urllib.parse

import pytest
from issuer import CALLBACK, PROVIDER, Browser, Issuer, where


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """A folder with ca.pem, ca.key, and what sign() makes."""
    folder = tmp_path_factory.mktemp("authority")
    for name in ("ca", "other"):
        openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", f"/CN=test authority {name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")  # fmt: skip
    return folder


def sign(folder, name, address, start="20200101000000Z", end="20900101000000Z"):
    """A certificate for an address; its file, with the key in it."""
    (folder / "index.txt").write_text("")
    (folder / "serial").write_text("01\n")
    (folder / "new").mkdir(exist_ok=True)
    (folder / "ca.conf").write_text(
        "[ca]\ndefault_ca=here\n[here]\ndatabase=index.txt\nserial=serial\nnew_certs_dir=new\ndefault_md=sha256\n"
        "policy=any\ncertificate=ca.pem\nprivate_key=ca.key\nunique_subject=no\n[any]\ncommonName=supplied\n"
        f"[names]\nsubjectAltName={address}\n"
    )
    openssl(folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
            "-keyout", f"{name}.key", "-out", f"{name}.csr")  # fmt: skip
    openssl(folder, "ca", "-batch", "-notext", "-config", "ca.conf", "-extensions", "names", "-startdate", start,
            "-enddate", end, "-in", f"{name}.csr", "-out", f"{name}.crt")  # fmt: skip
    chain = folder / f"{name}.pem"
    chain.write_text((folder / f"{name}.crt").read_text() + (folder / f"{name}.key").read_text())
    return chain


class Front:
    """TLS in front of a port of this machine, one certificate at a time."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.socket.getsockname()[1]}"
        self.behind = None
        self.certificate = None
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate)
        try:
            with context.wrap_socket(connection, server_side=True) as inside:
                self.relay(inside)
        except OSError:
            connection.close()

    def relay(self, inside):
        """One request and its answer, which ends with the connection."""
        asked = b""
        while b"\r\n\r\n" not in asked:
            asked += inside.recv(65536)
        head, _, body = asked.partition(b"\r\n\r\n")
        length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")), 0)
        while len(body) < length:
            body += inside.recv(65536)
        with socket.create_connection(self.behind) as outside:
            outside.sendall(head + b"\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n" + body)
            while piece := outside.recv(65536):
                inside.sendall(piece)

    def stop(self):
        self.socket.close()


@pytest.fixture(scope="module")
def front(authority):
    front = Front()
    front.certificate = sign(authority, "good", "IP:127.0.0.1")
    yield front
    front.stop()


@pytest.fixture(scope="module")
def issuer(front):
    issuer = Issuer(front.url)
    parts = urllib.parse.urlsplit(issuer.own_url)
    front.behind = (parts.hostname, parts.port)
    yield issuer
    issuer.stop()


def set_up(server, issuer):
    issuer.reset(server.url + CALLBACK)
    return server.request("PUT", PROVIDER, issuer.settings())


def test_with_its_authority_people_sign_in(make_server, issuer, authority):
    server = make_server("--quick-start", "--openid-ca", str(authority / "ca.pem"))
    answer = set_up(server, issuer)
    assert answer.status == 200, answer
    ann = Browser(trust=authority / "ca.pem")
    assert where(ann.sign_in(server)) == "/" and ann.session(server)["name"] == "ann@lab.example", server.tail()


# Whom the server trusts, what the issuer shows, and a word of what the administrator hears.
REFUSED = [
    ("without the authority", None, ("good", "IP:127.0.0.1"), "certificate"),
    ("another authority", "other.pem", ("good", "IP:127.0.0.1"), "certificate"),
    ("another name", "ca.pem", ("elsewhere", "DNS:id.lab.example"), "127.0.0.1"),
    ("expired", "ca.pem", ("old", "IP:127.0.0.1", "20200101000000Z", "20210101000000Z"), "expired"),
    ("not valid yet", "ca.pem", ("early", "IP:127.0.0.1", "20800101000000Z"), "not yet valid"),
]


@pytest.mark.parametrize("trusted, shown, word", [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_is_not_to_be_trusted_is_refused(make_server, issuer, front, authority, trusted, shown, word):
    flags = ["--openid-ca", str(authority / trusted)] if trusted else []
    server = make_server("--quick-start", *flags)
    usual, front.certificate = front.certificate, sign(authority, *shown)
    try:
        answer = set_up(server, issuer)
    finally:
        front.certificate = usual
    assert answer.status == 400 and word in answer.json["message"], answer
    assert front.url in answer.json["message"], "which server it was"
    assert "--openid-ca" in answer.json["details"], "and the way out"
    assert server.get(PROVIDER).status == 404, "and nothing is kept"


def test_a_file_of_authorities_that_is_none_is_told(make_server, issuer, folder):
    (folder / "empty.pem").write_text("")
    for path in (folder / "empty.pem", folder / "missing.pem"):
        server = make_server("--quick-start", "--openid-ca", str(path))
        answer = set_up(server, issuer)
        assert answer.status == 400 and path.name in answer.json["message"] + answer.json["details"], answer
        server.stop()
