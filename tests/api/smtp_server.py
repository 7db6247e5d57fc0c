"""A mail server (aiosmtpd) as a process of its own: prints its port, then a line of JSON for each mail that it took.

smtp_server.py TLS AUTH [CERTIFICATE KEY]: TLS is none, starttls or implicit; AUTH is none, or USER:PASSWORD. Whoever
begins with "nobody" is no recipient here."""

import asyncio
import base64
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

tls, auth, *files = sys.argv[1:]


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody"):
            return "550 no such user here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        row = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "user": session.auth_data.login.decode() if session.auth_data else None,
            "tls": session.ssl is not None or tls == "implicit",
            "data": base64.b64encode(envelope.content).decode(),
        }
        print(json.dumps(row), flush=True)
        return "250 taken"


def check(server, session, envelope, mechanism, data):
    is_good = auth == f"{data.login.decode()}:{data.password.decode()}"
    return AuthResult(success=is_good, handled=False, auth_data=data)


async def main():
    context = None
    if tls != "none":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*files)
    options = {"hostname": "mail.test", "enable_SMTPUTF8": True}
    if auth != "none":
        options |= {"authenticator": check, "auth_required": True, "auth_require_tls": tls == "starttls"}
    if tls == "starttls":
        options |= {"tls_context": context, "require_starttls": True}
    loop = asyncio.get_running_loop()
    made = await loop.create_server(
        lambda: SMTP(Handler(), loop=loop, **options), "127.0.0.1", 0, ssl=context if tls == "implicit" else None
    )
    print(made.sockets[0].getsockname()[1], flush=True)
    await made.serve_forever()


asyncio.run(main())
