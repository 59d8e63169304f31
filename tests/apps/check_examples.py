#!/usr/bin/env python3
"""The examples, plain OpenCL in C and C++ (CL/opencl.hpp): check_examples.py FARCL FOLDER_OF_EXAMPLES."""
import pathlib
import tempfile

import app

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def check(farcl, folder):
    outcome = app.run(farcl, [f"{folder}/vector_add"], seconds=30)
    app.succeeded(outcome, "vector_add")
    app.require("all are right" in outcome.stdout, outcome.stdout)

    outcome = app.run(farcl, [f"{folder}/hello"], seconds=30)
    app.succeeded(outcome, "hello")
    app.require("hello from work-item 0 of 16" in outcome.stdout, f"the kernel's printf is missing:\n{outcome.stdout}")

    with tempfile.TemporaryDirectory() as temporary:
        picture = pathlib.Path(temporary, "terrain.png")
        outcome = app.run(farcl, [f"{folder}/terrain", str(picture)], seconds=60)
        app.succeeded(outcome, "terrain")
        app.require("100 %" in outcome.stdout and "right" in outcome.stdout, outcome.stdout)
        data = picture.read_bytes()
        app.require(data.startswith(PNG_SIGNATURE) and len(data) > 100_000, "the picture is no PNG, or there is nothing in it")


app.main(check)
