"""Every operation that is served against hostile requests made from the document: no value that it forbids is taken,
each answer is one that the document lists, and the server is there after every one."""

import http.client

import hostile
import pytest
from abuse import requests_of
from contract import OPERATIONS, check_answer
from servers import Answer

# A stream that is opened never ends; here only what refuses it is asked.
STREAMS = {"stream_events"}


class Line:
    """One connection for many requests, opened again when the server closes it."""

    def __init__(self, server):
        self.server = server
        self.connection = None

    def ask(self, method, path, media, body):
        headers = {"Authorization": f"Bearer {self.server.token}", **({"Content-Type": media} if media else {})}
        for _ in range(2):
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
            try:
                self.connection.request(method, path, body, headers)
                answer = self.connection.getresponse()
                got = Answer(answer.status, answer.headers, answer.read())
                if answer.will_close:
                    self.close()
                return got
            except (http.client.HTTPException, OSError):
                self.close()
        return self.ask_once(method, path, headers, body)

    def ask_once(self, method, path, headers, body):
        """For what is answered before all of it was sent."""
        lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Content-Length: {len(body or b'')}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        reply = hostile.exchange(self.server.port, "\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))
        assert reply is not None, "closed without an answer"
        return Answer(reply.status, {"Content-Type": reply.headers.get("content-type")}, reply.body)

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


@pytest.fixture(scope="module")
def line(module_server):
    module_server.sign_in()
    line = Line(module_server)
    yield line
    line.close()


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_no_request_that_the_document_forbids_is_taken(line, operation_id):
    method = OPERATIONS[operation_id][0]
    wrong, count = [], 0
    for name, path, media, body, refused in requests_of(operation_id):
        if operation_id in STREAMS and not refused:
            continue
        answer = line.ask(method, path, media, body)
        count += 1
        try:
            check_answer(operation_id, answer)
            assert answer.status < 500 or answer.status == 501, answer
            assert not refused or answer.status >= 400, f"taken: {answer}"
        except AssertionError as problem:
            wrong.append(f"{name}: {method} {path[:200]} {(body or b'')[:200]}\n    {str(problem)[:300]}")
        assert line.server.process.poll() is None, f"{name}: {method} {path} {body}\n{line.server.tail()}"
    assert not wrong, f"{len(wrong)} of {count}\n" + "\n".join(wrong[:10])
