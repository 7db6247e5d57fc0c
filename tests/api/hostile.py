"""What the table of hostile requests is made of: a raw request, and how its answer is read."""

import base64
import contextlib
import hashlib
import hmac
import json
import socket
import time


class Context:
    """Filled by the test: addresses, tokens and ids that rows name as {admin}, {researcher}, {own_project} ..."""

    def __init__(self, **values):
        self.__dict__.update(values)


def request(method, path, body=None, headers=(), token="admin", version="HTTP/1.1", host="x"):
    """A function from the context to a request's bytes. {names} in path, body and headers come from the context."""

    def build(context):
        def fill(text):
            for key, value in context.__dict__.items():
                if isinstance(value, str):
                    text = text.replace("{%s}" % key, value)
            return text

        data = (
            body
            if isinstance(body, bytes) or body is None
            else fill(body if isinstance(body, str) else json.dumps(body)).encode()
        )
        lines = ["%s %s %s" % (method, fill(path), version)]
        if host is not None:
            lines.append("Host: " + host)
        if token:
            lines.append("Authorization: Bearer " + (getattr(context, token, None) or token))
        names = [h.split(":")[0].lower() for h in headers]
        if data is not None and "content-type" not in names:
            lines.append("Content-Type: application/json")
        if data is not None and "content-length" not in names and "transfer-encoding" not in names:
            lines.append("Content-Length: %d" % len(data))
        lines += [fill(h) for h in headers]
        return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + (data or b"")

    return build


def raw(text):
    """The bytes as they stand, {names} filled in."""

    def build(context):
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        for key, value in context.__dict__.items():
            if isinstance(value, str):
                data = data.replace(b"{%s}" % key.encode(), value.encode())
        return data

    return build


class Reply:
    def __init__(self, status, headers, body, rest):
        self.status, self.headers, self.body, self.rest = status, headers, body, rest

    @property
    def closes(self):
        return self.headers.get("connection", "").lower() == "close"


def exchange(port, data, timeout=20):
    """Sends bytes, reads one reply. None: the server closed without a word. What follows the reply is in `rest`."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        with contextlib.suppress(OSError):  # refused before all was sent
            connection.sendall(data)
        got = b""
        try:
            while b"\r\n\r\n" not in got:
                piece = connection.recv(65536)
                if not piece:
                    return None if not got else Reply(0, {}, got, b"")
                got += piece
            head, _, body = got.partition(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
            status = int(lines[0].split()[1])
            if status == 100:
                return Reply(100, headers, b"", body)
            length = int(headers.get("content-length", 0))
            while len(body) < length:
                piece = connection.recv(65536)
                if not piece:
                    break
                body += piece
            return Reply(status, headers, body[:length], body[length:])
        except ConnectionResetError:
            return None


def answers(port, data, count_max=10, timeout=20):
    """All replies to these bytes until the server closes, as statuses: shows whether a second request was smuggled
    in."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        got = b""
        try:
            while piece := connection.recv(65536):
                got += piece
        except ConnectionResetError:
            pass
    return got.count(b"HTTP/1.1 ")


def segment(value):
    data = value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def read_segment(text):
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def sign(header, claims, secret, digest=hashlib.sha256):
    head = segment(header) + "." + segment(claims)
    return head + "." + segment(hmac.new(secret, head.encode(), digest).digest())


def forgeries(token, secret):
    """Tokens made from a good one, each wrong in one way: name -> token. `secret` is the server's own key."""
    head, body, signature = token.split(".")
    header, claims = read_segment(head), read_segment(body)
    now = int(time.time())

    def changed(**changes):
        new = {**claims, **changes}
        return sign(header, {k: v for k, v in new.items() if v is not None}, secret)

    flipped = "A" if signature[5] != "A" else "B"
    return {
        "good": sign(header, claims, secret),
        "none": segment({**header, "alg": "none"}) + "." + body + ".",
        "none_capital": segment({**header, "alg": "None"}) + "." + body + ".",
        "none_signed": segment({**header, "alg": "none"}) + "." + body + "." + signature,
        "no_signature": head + "." + body + ".",
        "two_parts": head + "." + body,
        "four_parts": token + "." + signature,
        "five_parts": token + ".." + signature,
        "flipped": head + "." + body + "." + signature[:5] + flipped + signature[6:],
        "cut_signature": token[:-4],
        "empty_secret": sign(header, claims, b""),
        "other_secret": sign(header, claims, b"0" * 32),
        "hs512": sign({**header, "alg": "HS512"}, claims, secret, hashlib.sha512),
        "hs384": sign({**header, "alg": "HS384"}, claims, secret, hashlib.sha384),
        "rs256": sign({**header, "alg": "RS256"}, claims, secret),
        "es256": sign({**header, "alg": "ES256"}, claims, secret),
        "alg_missing": sign({k: v for k, v in header.items() if k != "alg"}, claims, secret),
        "alg_number": sign({**header, "alg": 256}, claims, secret),
        "kid_unknown": sign({**header, "kid": "nobody"}, claims, secret),
        "kid_path": sign({**header, "kid": "../../../dev/null"}, claims, b""),
        "kid_sql": sign({**header, "kid": "' OR 1=1 --"}, claims, secret),
        "kid_number": sign({**header, "kid": 7}, claims, secret),
        "jku": sign({"alg": "RS256", "jku": "http://127.0.0.1/keys", "kid": "x"}, claims, secret),
        "jwk": sign({"alg": "HS256", "jwk": {"kty": "oct", "k": segment(b"0" * 32)}, "kid": "x"}, claims, b"0" * 32),
        "crit": sign({**header, "crit": ["exp"]}, claims, secret),
        "typ": sign({**header, "typ": "JWE"}, claims, secret),
        "expired": changed(exp=now - 3600, iat=now - 7200, nbf=now - 7200),
        "exp_missing": changed(exp=None),
        "exp_text": changed(exp=str(now + 3600)),
        "exp_real": changed(exp=now + 3600.5),
        "nbf_future": changed(nbf=now + 3600),
        "iat_future": changed(iat=now + 3600),
        "issuer": changed(iss="https://elsewhere.example"),
        "issuer_missing": changed(iss=None),
        "audience": changed(aud="elsewhere"),
        "audience_missing": changed(aud=None),
        "audience_list": changed(aud=["elsewhere", "there"]),
        "subject": changed(sub="00000000-0000-4000-8000-000000000000"),
        "subject_missing": changed(sub=None),
        "subject_number": changed(sub=1),
        "session": changed(jti="00000000-0000-4000-8000-000000000000"),
        "session_missing": changed(jti=None),
        "session_sql": changed(jti="' OR '1'='1"),
        "not_base64": "a!b." + body + "." + signature,
        "not_json": segment(b"{") + "." + body + "." + signature,
        "claims_list": sign(header, [claims], secret),
        "claims_twice": head + "." + segment(b'{"sub":"a",' + json.dumps(claims).encode()[1:]) + "." + signature,
        "deep": sign({**header, "x": json.loads("[" * 40 + "]" * 40)}, claims, secret),
        "long": sign({**header, "x": "y" * 5000}, claims, secret),
    }
