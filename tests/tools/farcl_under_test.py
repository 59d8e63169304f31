"""Helpers for the tests of the farcl command."""
import os
import pathlib
import subprocess
import sys
import time

import unittest


FARCL = os.environ.get("FARCL_COMMAND", "")


def environment(**further):
    """Ours, without what would change what farcl does."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("FARCL_", "POCL_", "OCL_ICD", "XDG_RUNTIME"))}
    return {**clean, **further}


def farcl(*arguments, seconds=60, **further):
    return subprocess.run([FARCL, *arguments], capture_output=True, text=True, timeout=seconds, env=environment(**further), stdin=subprocess.DEVNULL)


def processes_with(text):
    """The processes (no zombies) whose command line contains `text`."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                if text in folder.joinpath("cmdline").read_bytes().decode(errors="replace"):
                    found.append(int(folder.name))
            except OSError:
                pass
    return found


def eventually(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def main():
    if not FARCL:
        sys.exit("FARCL_COMMAND must name the farcl command")
    unittest.main(verbosity=2)
