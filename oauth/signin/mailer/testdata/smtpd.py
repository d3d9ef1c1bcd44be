"""An SMTP server for the tests: aiosmtpd on a free port of loopback.

Its first line says the port; each mail it accepts is one more line of JSON. It ends with
its standard input.
"""
import argparse
import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

options = argparse.ArgumentParser()
options.add_argument("--cert")
options.add_argument("--key")
options.add_argument("--tls", default="none")  # none, starttls, implicit
options.add_argument("--user")
options.add_argument("--password")
options.add_argument("--refuse")
options = options.parse_args()


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, rcpt_options):
        if address == options.refuse:
            return "550 5.1.1 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        print(json.dumps({
            "from": envelope.mail_from, "to": envelope.rcpt_tos,
            "tls": session.ssl is not None or options.tls == "implicit",
            "user": (session.auth_data.login.decode() if session.authenticated else ""),
            "content": envelope.content.decode("utf-8"),
        }), flush=True)
        return "250 OK"


def known(server, session, envelope, mechanism, data):
    good = data.login == options.user.encode() and data.password == options.password.encode()
    return AuthResult(success=good, handled=False, auth_data=data)


context = None
if options.cert:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.cert, options.key)
settings = {"hostname": "mail.test"}
if options.user:
    settings |= {"authenticator": known, "auth_required": True, "auth_require_tls": options.tls != "none" and options.tls != "implicit"}
if options.tls == "starttls":
    settings |= {"tls_context": context, "require_starttls": True}


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(Handler(), loop=loop, **settings), "127.0.0.1", 0, ssl=context if options.tls == "implicit" else None)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


asyncio.run(main())
