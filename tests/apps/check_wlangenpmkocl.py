#!/usr/bin/env python3
"""hcxkeys' wlangenpmkocl computes exactly the keys that PBKDF2 asks for."""
import hashlib
import pathlib
import tempfile

import app

ESSID = "FarCL test network"
COUNT = 500


def passwords():
    """8 to 63 characters, every length several times."""
    for i in range(COUNT):
        yield (f"{i:08d}" + "Correct Horse Battery Staple! 0123456789 abcdefghijklmnopqrst"[: i % 56])[:63]


def check(farcl):
    with tempfile.TemporaryDirectory() as folder:
        words = pathlib.Path(folder, "words")
        keys = pathlib.Path(folder, "keys")
        words.write_text("".join(f"{password}\n" for password in passwords()))
        outcome = app.run(farcl, ["wlangenpmkocl", "-e", ESSID, "-i", str(words), "-A", str(keys)], seconds=60)
        app.succeeded(outcome, "wlangenpmkocl")
        got = dict(reversed(line.split(":", 1)) for line in keys.read_text().splitlines())
    app.require(len(got) == COUNT, f"{len(got)} keys instead of {COUNT}")
    for password in passwords():
        expected = hashlib.pbkdf2_hmac("sha1", password.encode(), ESSID.encode(), 4096, 32).hex()
        app.require(got.get(password) == expected, f"the key of {password!r} is {got.get(password)} and should be {expected}")


app.main(check)
