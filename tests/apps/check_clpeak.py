#!/usr/bin/env python3
"""clpeak runs every one of its tests (none needs images) and measures something in each."""
import re

import app

TESTS = {
    "Global memory bandwidth": ["float", "float2", "float4", "float8", "float16"],
    "Single-precision compute": ["float", "float2", "float4", "float8", "float16"],
    "Double-precision compute": ["double", "double2", "double4", "double8", "double16"],
    "Integer compute (GIOPS)": ["int", "int2", "int4", "int8", "int16"],
    "Integer compute Fast 24bit": ["int", "int2", "int4", "int8", "int16"],
    "Transfer bandwidth": [
        "enqueueWriteBuffer",
        "enqueueReadBuffer",
        "enqueueWriteBuffer non-blocking",
        "enqueueReadBuffer non-blocking",
        "enqueueMapBuffer(for read)",
        "memcpy from mapped ptr",
        "enqueueUnmap(after write)",
        "memcpy to mapped ptr",
    ],
}
# clpeak skips these where the device does not have the type, and says so.
MAY_BE_SKIPPED = {"Double-precision compute": "No double precision support! Skipped"}


def section(text, title):
    start = text.find(title)
    app.require(start >= 0, f"clpeak did not run \"{title}\":\n{text}")
    return text[start:].split("\n\n", 1)[0]


def check(farcl):
    outcome = app.run(farcl, ["clpeak"], seconds=280)
    app.succeeded(outcome, "clpeak")
    text = outcome.stdout
    for bad in ("error", "Error", "failed", "exception", "Tests skipped"):
        app.require(bad not in text + outcome.stderr, f"clpeak says \"{bad}\":\n{text}\n{outcome.stderr}")
    for title, rows in TESTS.items():
        if MAY_BE_SKIPPED.get(title, "\0") in text:
            continue
        # "inf": mapping shared memory copies nothing, which clpeak's clock may see as no time at all.
        values = dict(re.findall(r"^\s*(\S.*?)\s*: ([\d.]+|inf)", section(text, title), re.MULTILINE))
        for row in rows:
            app.require(float(values.get(row, 0)) > 0, f"clpeak measured nothing for \"{title}\", {row}:\n{text}")
    latency = re.search(r"Kernel launch latency : (-?[\d.]+) us", text)
    app.require(latency is not None and float(latency.group(1)) >= 0, f"clpeak measured no kernel latency:\n{text}")


app.main(check)
