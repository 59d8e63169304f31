"""Runs a program that knows nothing of FarCL with a private server, and looks at what it did.

Each check_*.py of this folder is a test of its own: check_NAME.py FARCL [arguments]. FARCL is the farcl command; an empty
string runs the program on the OpenCL platforms of this machine instead, which shows whether a check itself is right.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

KILL_GRACE_SECONDS = 10
FORBIDDEN_LIBRARIES = re.compile(r"lib(LLVM|clang|lld|pocl)", re.IGNORECASE)


class Failure(Exception):
    """One sentence about what is wrong."""


def require(condition, sentence):
    if not condition:
        raise Failure(sentence)


class Outcome:
    def __init__(self, code, stdout, stderr, libraries):
        self.code = code
        self.stdout = stdout
        self.stderr = stderr
        self.libraries = libraries  # full paths of everything the dynamic linker loaded into the program


def loaded_libraries(folder):
    """What LD_DEBUG=files has written: one file per process, one line per initialised object."""
    found = set()
    for log in pathlib.Path(folder).glob("ld.*"):
        for match in re.finditer(r"calling init: (\S+)", log.read_text(errors="replace")):
            found.add(match.group(1))
    return found


def run(farcl, program, seconds, stdin=None, environment=None):
    """Runs `program` (a list) and returns its Outcome; the libraries it loads are checked in passing."""
    with tempfile.TemporaryDirectory(prefix="farcl-app-") as folder:
        spy = ["env", "LD_DEBUG=files", f"LD_DEBUG_OUTPUT={folder}/ld"]
        command = ([farcl, "run", "--only", "--"] if farcl else []) + spy + program
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, **(environment or {})},
        )
        try:
            stdout, stderr = process.communicate(stdin, timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            try:
                stdout, stderr = process.communicate(timeout=KILL_GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                stdout, stderr = process.communicate()
            raise Failure(f"{program[0]} did not end within {seconds} s; its output so far:\n{stdout}\n{stderr}") from None
        outcome = Outcome(process.returncode, stdout, stderr, loaded_libraries(folder))
    if farcl:
        check_libraries(program[0], outcome.libraries)
    return outcome


def check_libraries(name, libraries):
    """The client is a guest: it brings no compiler into the program."""
    require(any("libfarcl.so" in path for path in libraries), f"{name} has not loaded libfarcl.so, so this test says nothing")
    guilty = [path for path in libraries if FORBIDDEN_LIBRARIES.search(pathlib.Path(path).name)]
    require(not guilty, f"{name} has a compiler in its process: {', '.join(guilty)}")


def succeeded(outcome, name):
    require(outcome.code == 0, f"{name} ended with code {outcome.code}:\n{outcome.stdout[-3000:]}\n{outcome.stderr[-3000:]}")


def main(check):
    """Calls check(farcl, further arguments...) and turns a Failure into an exit code."""
    try:
        check(*sys.argv[1:])
    except Failure as failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        sys.exit(1)
    print("right")
