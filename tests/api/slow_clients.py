"""Slow and greedy clients, as many as are wanted, from many loopback addresses: what is cut comes back after a moment.

python3 slow_clients.py PORT KIND COUNT ADDRESSES: until its standard input ends; prints a line once all have sent."""

import contextlib
import selectors
import socket
import subprocess
import sys
import time

POST = b"POST /api/v1/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
# What a client sends at once, and what now and then. The last word: what it does besides.
KINDS = {
    "head": (GET, b"X", ""),
    "nothing": (b"", b"", ""),
    "body": (POST + b"Content-Length: 5000\r\n\r\n{", b" ", ""),
    "chunks": (POST + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", ""),
    "continue": (POST + b"Content-Length: 5000\r\nExpect: 100-continue\r\n\r\n", b"", ""),
    "idle": (GET + b"\r\n", b"", ""),
    "garbage": ((GET + b"\r\n") * 20 + b"\x00\xff garbage " * 50, b"\xff", ""),
    "half-closed": (GET + b"\r\n" + GET, b"", "sends no more"),
    "reading": (b"GET /api/docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n", b"", "reads little"),
}
PACE_SECONDS = 0.3
BACK_AFTER_SECONDS = 0.2


class Client:
    def __init__(self, selector, port, address, kind):
        self.first, self.then, self.habit = KINDS[kind]
        self.next_time, self.has_sent = 0, False
        self.socket = socket.socket()
        self.socket.setblocking(False)
        if self.habit == "reads little":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        self.socket.bind((address, 0))
        with contextlib.suppress(BlockingIOError):
            self.socket.connect(("127.0.0.1", port))
        selector.register(self.socket, selectors.EVENT_WRITE, self)

    def begin(self, selector, now):
        self.socket.send(self.first)
        if self.habit == "sends no more":
            self.socket.shutdown(socket.SHUT_WR)
        self.has_sent, self.next_time = True, now + PACE_SECONDS
        if self.habit == "reads little":
            selector.unregister(self.socket)
        else:
            selector.modify(self.socket, selectors.EVENT_READ, self)

    def go_on(self, now):
        if self.has_sent and now >= self.next_time:
            self.next_time = now + PACE_SECONDS
            if self.habit == "reads little":
                return self.socket.recv(1) != b""
            self.socket.send(self.then)
        return True


def run(port, kind, count, address_count):
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin, selectors.EVENT_READ)
    addresses = [f"127.0.0.{2 + i}" for i in range(address_count)]
    clients = [Client(selector, port, addresses[i % address_count], kind) for i in range(count)]
    back = {}  # when a place is taken again
    told = False
    while True:
        now = time.monotonic()
        lost = set()
        for key, events in selector.select(0.05):
            if key.data is None:
                return
            try:
                if events & selectors.EVENT_WRITE:
                    key.data.begin(selector, now)
                elif not key.data.socket.recv(65536):
                    lost.add(key.data)
            except OSError:
                lost.add(key.data)
        for client in clients:
            try:
                if client and client not in lost and not client.go_on(now):
                    lost.add(client)
            except BlockingIOError:
                pass
            except OSError:
                lost.add(client)
        for i, client in enumerate(clients):
            if client in lost:
                with contextlib.suppress(KeyError):
                    selector.unregister(client.socket)
                client.socket.close()
                clients[i], back[i] = None, now + BACK_AFTER_SECONDS
            elif client is None and now >= back[i]:
                clients[i] = Client(selector, port, addresses[i % address_count], kind)
        if not told and sum(client is None or client.has_sent for client in clients) == count:
            told = True
            print("all", flush=True)


@contextlib.contextmanager
def slow_clients(port, kind, count=600, address_count=60):
    """While the block runs, they are there; it begins when each has had its turn."""
    words = [sys.executable, __file__, str(port), kind, str(count), str(address_count)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "all\n"
            yield process
            assert process.poll() is None
        finally:
            process.stdin.close()
            process.wait(60)


if __name__ == "__main__":
    run(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
