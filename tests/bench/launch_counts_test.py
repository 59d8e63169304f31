#!/usr/bin/env python3
"""Holds the instructions of one launch, on each side, to the committed figures.

usage: launch_counts_test.py PROGRAM REFERENCE.json

PROGRAM (launch_counts.cpp) runs under callgrind, once per side; only what happens inside one function counts. Instructions are
steadier than any time: a few percent more is a change of the code, not of the weather. FARCL_UPDATE_COUNTS=1 writes the figures
anew. Ends with 77 (skipped) where valgrind cannot run the program.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
TOLERANCE = 0.05
SIDES = {
    # The loop over clSetKernelArg and clEnqueueNDRangeKernel, writes included.
    "client": "farcl::daemon::enqueue_launches*",
    # From a frame's payload to the end of the command: decode, check, schedule, run, reply.
    "server": "farcl::daemon::Session::on_message*",
}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def count(program, function):
    """Instructions per launch inside `function`."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", f"--toggle-collect={function}", program]
        result = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    launches = re.search(r"^(\d+) launches$", result.stdout, re.MULTILINE)
    collected = re.search(r"Collected : (\d+)", result.stderr)
    if "unhandled instruction" in result.stderr or "Illegal instruction" in result.stderr:
        skip("valgrind does not know an instruction of this processor")
    if result.returncode != 0 or not launches or not collected:
        sys.exit(f"launch_counts: the program failed under callgrind ({result.returncode})\n{result.stdout}{result.stderr}")
    return int(collected.group(1)) / int(launches.group(1))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if shutil.which("valgrind") is None:
        skip("valgrind is not installed")
    reference_path = pathlib.Path(sys.argv[2])
    reference = json.loads(reference_path.read_text()) if reference_path.exists() else {}
    found = {side: round(count(sys.argv[1], function)) for side, function in SIDES.items()}
    for side, instructions in found.items():
        print(f"{side}: {instructions} instructions per launch, reference {reference.get(side)}")
    if os.environ.get("FARCL_UPDATE_COUNTS"):
        reference_path.write_text(json.dumps(found, indent=2) + "\n")
        return
    wrong = [side for side in SIDES if abs(found[side] / reference.get(side, 1) - 1) > TOLERANCE]
    if wrong:
        sys.exit(f"{' and '.join(wrong)}: more than {TOLERANCE:.0%} off the reference; if that is meant, run with FARCL_UPDATE_COUNTS=1")


if __name__ == "__main__":
    main()
