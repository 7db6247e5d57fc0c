"""What packaging/ ships: the nginx configuration in front of a real server, the systemd unit, the image's package
names."""

import http.client
import json
import re
import socket
import ssl
import subprocess
import time

import pytest
from servers import PASSWORD, ROOT


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_nginx(folder, server, port, key, certificate):
    shipped = (ROOT / "packaging/nginx.conf").read_text()
    adapted = (
        shipped.replace("127.0.0.1:8080", f"127.0.0.1:{server.port}")
        .replace("listen 443", f"listen 127.0.0.1:{port}")
        .replace("/etc/ssl/certs/prorata.pem", str(certificate))
        .replace("/etc/ssl/private/prorata.key", str(key))
    )
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"pid {folder}/nginx.pid; error_log {folder}/error.log; daemon off; worker_processes 1;\n"
        f"events {{}} http {{ access_log off; {temporary}\n{adapted}\n}}"
    )
    return subprocess.Popen(["/usr/sbin/nginx", "-c", folder / "nginx.conf", "-p", folder], stderr=subprocess.PIPE)


def answers(nginx, port, until):
    """Whether it listens; false: it has ended."""
    while nginx.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.02)
    return False


@pytest.fixture
def front(make_server, folder):
    """(server, port): nginx with the shipped file; only paths, ports and the certificate are the test's."""
    server = make_server("--quick-start", "--trusted-proxy", "127.0.0.1")
    key, certificate = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            key,
            "-out",
            certificate,
            "-days",
            "1",
            "-subj",
            "/CN=prorata.example",
        ],
        check=True,
        capture_output=True,
    )
    until = time.monotonic() + 60
    while True:
        port = free_port()
        nginx = start_nginx(folder, server, port, key, certificate)
        if answers(nginx, port, until):
            break
        said = nginx.stderr.read().decode()  # another has the port since
        assert "Address already in use" in said and time.monotonic() < until, said
    yield server, port
    nginx.terminate()
    nginx.wait(60)
    nginx.stderr.close()


def ask(port, method, path, body=None, token=None):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=30)
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = "Bearer " + token
    connection.request(method, path, json.dumps(body) if body else None, headers)
    return connection, connection.getresponse()


def test_nginx_in_front(front):
    server, port = front
    connection, answer = ask(
        port,
        "POST",
        "/api/v1/token",
        {"grantType": "password", "username": "admin@prorata.local", "password": PASSWORD},
    )
    assert answer.status == 200
    token = json.loads(answer.read())["accessToken"]
    connection.close()
    connection, answer = ask(port, "GET", "/api/v1/clusters", token=token)
    assert answer.status == 200 and answer.headers["Strict-Transport-Security"]
    connection.close()
    assert "remote=127.0.0.1" in server.log.read_text()

    # A change comes through the stream at once, not when a buffer is full.
    connection, stream = ask(port, "GET", "/api/v1/events/stream", token=token)
    assert stream.status == 200
    workload = server.submit("seen", "team-a")
    seen = b""
    while workload.encode() not in seen:
        line = stream.readline()
        assert line, "the stream ended"
        seen += line
    connection.close()


def test_half_sent_uploads_hold_up_nobody(front):
    server, port = front
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    slow = []
    for _ in range(60):
        peer = context.wrap_socket(socket.create_connection(("127.0.0.1", port)))
        peer.sendall(
            b"POST /api/v1/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
        )
        slow.append(peer)
    connection, answer = ask(port, "GET", "/healthz")
    assert answer.status == 200
    connection.close()
    for peer in slow:
        peer.close()


def test_the_systemd_unit_starts_what_exists(make_server):
    unit = (ROOT / "packaging/prorata.service").read_text()
    words = re.search(r"^ExecStart=/usr/local/bin/prorata (.+)$", unit, re.M).group(1).split()
    assert words[0] == "serve" and words[1] == "--data"
    for setting in (
        "DynamicUser=yes",
        "NoNewPrivileges=yes",
        "ProtectSystem=strict",
        "StateDirectoryMode=0700",
        "Type=notify",
        "WatchdogSec=120",
    ):
        assert setting in unit
    assert make_server(*words[5:]).stop() == 0


def test_a_restart_of_the_unit_leaves_pods_alone():
    lines = (ROOT / "packaging/prorata-local.conf").read_text().splitlines()
    assert {"KillMode=process", "Delegate=yes", "TasksMax=infinity", "OOMPolicy=continue"} <= set(lines)


def test_the_unit_shuts_no_device_of_pods():
    """The base unit's ProtectClock=yes brings a list of allowed devices with it."""
    lines = (ROOT / "packaging/prorata-local.conf").read_text().splitlines()
    assert {"PrivateDevices=no", "ProtectClock=no", "DevicePolicy=auto", "DeviceAllow="} <= set(lines)


def test_the_image_names_packages_that_exist():
    text = (ROOT / "Dockerfile").read_text()
    packages = list(re.search(r"--no-install-recommends (lib[^\\]+?) \\", text).group(1).split())
    assert "libcivetweb1" in packages
    for package in packages:
        assert subprocess.run(["dpkg-query", "-W", package], capture_output=True).returncode == 0, package
    binary = subprocess.run(["ldd", ROOT / "build/prorata"], capture_output=True, text=True).stdout
    for library in ("civetweb", "jansson", "jwt", "sqlite3", "sodium", "yaml", "curl"):
        assert re.search(rf"lib{library}\S*\.so", binary), f"{library} is named in the image but not linked"


def test_the_image_starts_with_the_quick_start_as_it_is_said(make_server):
    """The variable that Dockerfile and README name."""
    words = {
        re.search(r"-e (\w+)=(\w+) prorata", (ROOT / name).read_text()).groups() for name in ("Dockerfile", "README.md")
    }
    ((name, value),) = words
    server = make_server(environment={name: value})
    projects = {p["name"] for p in server.get("/api/v1/org-unit/projects").json["projects"]}
    assert projects == {"default", "team-a", "team-b"}
