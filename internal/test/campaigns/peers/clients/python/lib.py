# This file has what the programs share, each of which is one client as Debian has it. They say each step that was
# right. Their browser is the test: it reads "visit: URL", signs its user in there, and answers where it was sent then.
import os

ISSUER, ID, SECRET, REDIRECT, SUB, EMAIL = map(os.environ.get, "ISSUER ID SECRET REDIRECT SUB EMAIL".split())


def visit(url):
    print("visit: " + url, flush=True)
    return input()


def want(step, got, wanted):
    if got != wanted:
        raise SystemExit(f"{step}: {got!r}, want {wanted!r}")
    print("ok: " + step, flush=True)


def refused(act):
    """The error of what has to be refused."""
    try:
        act()
    except Exception as e:
        return getattr(e, "error", None) or str(e)
