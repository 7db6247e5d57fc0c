"""A certified OpenID provider beside a server, and a browser that keeps cookies and follows no redirect by itself."""

import http.client
import json
import os
import pathlib
import re
import ssl
import subprocess
import urllib.parse

FOLDER = pathlib.Path(__file__).parent
CALLBACK = "/api/v1/authentication/openid/callback"
SIGN_IN = "/api/v1/authentication/openid/sign-in"
PROVIDER = "/api/v1/authentication/openid/provider"
SECRET = "a secret: with/odd characters%&"


class Issuer:
    def __init__(self, url=None):
        """url: by which it is reached, where that is not its own."""
        subprocess.run([FOLDER.parent.parent / "tools/npm_packages.sh", "tests/openid"], check=True)
        environment = {**os.environ, "NODE_ENV": "test", **({"ISSUER_URL": url} if url else {})}
        self.process = subprocess.Popen(
            ["node", FOLDER / "issuer.mjs"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.own_url = next(
            line.strip() for line in self.process.stdout if re.fullmatch(r"http://127\.0\.0\.1:\d+\n", line)
        )
        self.url = url or self.own_url

    def tell(self, path, **body):
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.own_url).netloc, timeout=60)
        connection.request("POST", f"/test/{path}", json.dumps(body))
        assert connection.getresponse().status == 200
        connection.close()

    def reset(self, redirect_url):
        """As it was at the start, for a server at another address."""
        self.redirect_url = redirect_url
        self.tell("reset", redirectUrl=redirect_url)

    def trouble(self, **what):
        self.tell("trouble", **what)

    def person(self, name, **what):
        self.tell("person", id=name, **what)

    def settings(self, **more):
        return {
            "name": "Lab account",
            "issuer": self.url,
            "clientId": "prorata",
            "clientSecret": SECRET,
            "redirectUrl": self.redirect_url,
            "scopes": "openid email groups",
            **more,
        }

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Browser:
    """One person's: cookies by host and port."""

    def __init__(self, address=None, trust=None):
        """address: that a proxy tells the server; trust: a file of certificates for https."""
        self.cookies = {}
        self.steps = []
        self.trust = trust
        self.headers = {"X-Forwarded-For": address} if address else {}

    def get(self, url, timeout=60, method="GET", headers=None):
        parts = urllib.parse.urlsplit(url)
        jar = self.cookies.setdefault(parts.netloc, {})
        if parts.scheme == "https":
            context = ssl.create_default_context(cafile=self.trust)
            connection = http.client.HTTPSConnection(parts.netloc, timeout=timeout, context=context)
        else:
            connection = http.client.HTTPConnection(parts.netloc, timeout=timeout)
        cookie = "; ".join(f"{name}={value}" for name, value in jar.items())
        connection.request(
            method,
            parts.path + ("?" + parts.query if parts.query else ""),
            headers={**self.headers, **({"Cookie": cookie} if cookie else {}), **(headers or {})},
        )
        answer = connection.getresponse()
        for line in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = line.split(";")[0].partition("=")
            jar[name] = value
            if not value or "expires=Thu, 01 Jan 1970" in line or "Max-Age=0" in line:
                jar.pop(name)
        answer.text = answer.read().decode(errors="replace")
        answer.place = urllib.parse.urljoin(url, answer.headers["Location"]) if answer.headers["Location"] else None
        connection.close()
        self.steps.append((answer.status, url))
        return answer

    def follow(self, url, until):
        """The address whose beginning is `until`, not asked for; else the last answer."""
        while not url.startswith(until):
            answer = self.get(url)
            assert answer.status in (302, 303), (answer.status, url, answer.text[:300])
            url = answer.place
        return url

    def sign_in(self, server, query=""):
        """Through the issuer; the callback's answer."""
        back = self.follow(server.url + SIGN_IN + query, server.url + CALLBACK)
        return self.get(back)

    def session(self, server):
        answer = self.get(server.url + "/api/v1/session")
        return json.loads(answer.text) if answer.status == 200 else None


def where(answer):
    """The path that a redirect leads to."""
    parts = urllib.parse.urlsplit(answer.place)
    return parts.path + ("?" + parts.query if parts.query else "")
