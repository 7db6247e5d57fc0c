"""A server for kube_client: each path says what it answers. Word: http, or the folder of a certificate for https."""

import collections
import http.server
import json
import os
import ssl
import sys
import threading
import time
import urllib.parse

SEEN = collections.Counter()
LOCK = threading.Lock()
GOOD_TOKEN = "good"


def status(code, **more):
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, **more}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, code, body, kind="application/json", headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = "".join(f"{name}: {value}\r\n" for name, value in headers)
        kind = f"Content-Type: {kind}\r\n" if kind else ""
        self.wfile.write(f"HTTP/1.1 {code} X\r\n{kind}{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)

    def handle_call(self):
        self.sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        address = urllib.parse.urlsplit(self.path)
        words = [urllib.parse.unquote(word) for word in address.path.split("/")[1:]]
        with LOCK:
            SEEN[words[1] if len(words) > 1 else words[0]] += 1
        getattr(self, f"on_{words[0]}")(address, *words[1:])

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_call

    def on_echo(self, address, *_):
        headers = {name.lower(): value for name, value in self.headers.items()}
        told = {"method": self.command, "path": self.path, "headers": headers, "sent": self.sent.decode()}
        self.answer(200, told, headers=[("Warning", '299 - "unknown field \\"x\\""')])

    def on_seen(self, _address, name):
        self.answer(200, {"seen": SEEN[name] - 1})

    def on_flaky(self, _address, name, code, times, retry_after=None):
        """A failure so many times, then good."""
        if SEEN[name] > int(times):
            self.answer(200, {"after": SEEN[name]})
        else:
            headers = [("Retry-After", retry_after)] if retry_after else []
            self.answer(int(code), status(int(code), reason="Flaky", message="not now"), headers=headers)

    def on_budget(self, _address, _name):
        causes = [{"reason": "DisruptionBudget", "message": "needs 2 healthy pods", "field": "f"}]
        details = {"kind": "pods", "name": "p", "causes": causes, "retryAfterSeconds": 10}
        self.answer(429, status(429, reason="TooManyRequests", message="would violate", details=details))

    def on_token(self, _address, _name):
        good = self.headers.get("Authorization") == f"Bearer {GOOD_TOKEN}"
        self.answer(200 if good else 401, {"ok": 1} if good else status(401, reason="Unauthorized"))

    def on_kindless(self, _address):
        self.answer(504, {"metadata": {}, "status": "Failure", "message": "request timed out", "code": 504})

    def on_empty(self, _address, code):
        self.answer(int(code), b"", kind=None)

    def on_text(self, _address):
        self.answer(200, b"line one\nline two\n", kind="text/plain")

    def on_plain(self, _address):
        self.answer(404, b"404 page not found\n", kind="text/plain")

    def on_rubbish(self, _address):
        self.answer(200, b'{"a":')

    def on_big(self, _address, size):
        self.answer(200, b'"' + b"x" * int(size) + b'"')

    def on_slow(self, _address, seconds):
        time.sleep(float(seconds))
        self.answer(200, {})

    def on_cut(self, _address, _name):
        self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a"')
        self.close_connection = True

    def on_redirect(self, _address):
        self.answer(302, b"", headers=[("Location", "/echo")])


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        pass


def main():
    server = Server(("127.0.0.1", 0), Handler)
    if sys.argv[1] != "http":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{sys.argv[1]}/server.pem", f"{sys.argv[1]}/server.key")
        context.load_verify_locations(f"{sys.argv[1]}/ca.pem")
        context.verify_mode = ssl.CERT_OPTIONAL
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()
    os._exit(0)


main()
