"""A replica for tests: answers at $PORT, and shows metrics at $METRICS_PORT and at /metrics.

GET / says who answers. What /metrics says is the file that is named, else a gauge of nothing; `endless` never ends,
`counting` answers ten requests of 250 ms a second by its own clock, however often it is looked at; `huge` is larger
than anybody reads, `silent` answers nothing."""

import http.server
import os
import pathlib
import sys
import threading
import time

PAGE = sys.argv[1] if len(sys.argv) > 1 else ""


BEGIN = time.monotonic()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path != "/metrics":
            self.answer(os.environ["POD_NAME"].encode())
        elif PAGE in ("endless", "huge"):
            self.send_response(200)
            self.end_headers()
            try:
                for _ in range(1 << 30 if PAGE == "endless" else 64):
                    self.wfile.write(b"queue_depth 99\n" * 4096)
            except OSError:
                self.close_connection = True
        elif PAGE == "counting":
            count = 10 * (time.monotonic() - BEGIN)
            figures = {"requests_total": 1, "request_duration_seconds_count": 1, "request_duration_seconds_sum": 0.25}
            self.answer("".join(f"http_{name} {count * each:.6f}\n" for name, each in figures.items()).encode())
        elif PAGE == "silent":
            threading.Event().wait(60)
        else:
            self.answer(pathlib.Path(PAGE).read_bytes() if PAGE else b"queue_depth 0\n")


def serve(name):
    http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ[name])), Handler).serve_forever()


threading.Thread(target=serve, args=("METRICS_PORT",), daemon=True).start()
serve("PORT")
