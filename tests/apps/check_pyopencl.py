#!/usr/bin/env python3
"""PyOpenCL's test program (pyopencl_program.py) finds every result right."""
import pathlib
import sys
import tempfile

import app


def check(farcl):
    program = pathlib.Path(__file__).with_name("pyopencl_program.py")
    with tempfile.TemporaryDirectory() as cache:  # PyOpenCL keeps built programs; each run should build
        outcome = app.run(farcl, [sys.executable, str(program)], seconds=100, environment={"XDG_CACHE_HOME": cache, "PYOPENCL_NO_CACHE": "1"})
    app.succeeded(outcome, "the PyOpenCL program")
    app.require("all PyOpenCL results are right" in outcome.stdout, outcome.stdout)


app.main(check)
