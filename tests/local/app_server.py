"""A pod's server: HTTP with a body of any size, server-sent events, and a WebSocket that says back what it hears."""

import base64
import hashlib
import http.server
import json
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, body, kind="text/html", **headers):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.headers.get("Upgrade") == "websocket" and not self.path.endswith("deaf"):
            self.websocket()
        elif self.path.endswith("/events"):
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for beat in range(3):
                self.wfile.write(f"data: {beat}\n\n".encode())
            self.rfile.read(1)  # until the browser leaves
            self.close_connection = True
        elif self.path.endswith("/away"):
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            seen = {"path": self.path, "headers": [[name.lower(), value] for name, value in self.headers.items()]}
            self.answer(json.dumps(seen).encode(), "application/json")

    def do_POST(self):
        length, digest, left = (
            int(self.headers["Content-Length"]),
            hashlib.sha256(),
            int(self.headers["Content-Length"]),
        )
        while left:
            piece = self.rfile.read(min(left, 65536))
            digest.update(piece)
            left -= len(piece)
        self.answer(f"{length} {digest.hexdigest()}".encode(), "text/plain")

    def websocket(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        while True:
            head = self.rfile.read(2)
            if len(head) < 2 or head[0] & 15 == 8:
                self.close_connection = True
                return
            size, mask = head[1] & 127, self.rfile.read(4)
            text = bytes(c ^ mask[i % 4] for i, c in enumerate(self.rfile.read(size)))
            self.wfile.write(bytes([0x81, len(text)]) + text)


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print("listens", flush=True)
    server.serve_forever()
