#!/usr/bin/env python3
"""clinfo shows everything about the device and meets no error."""
import pathlib
import re

import app

# clinfo writes "<printDeviceInfo:0: get ... : error -30>" where a query fails.
ERROR = re.compile(r"\berror -\d+|CL_INVALID_|^\s*<.*>$", re.MULTILINE)
EXPECTED = pathlib.Path(__file__).with_name("clinfo_properties.txt")


def check(farcl):
    human = app.run(farcl, ["clinfo"], seconds=30)
    app.succeeded(human, "clinfo")
    errors = [line for line in (human.stdout + human.stderr).splitlines() if ERROR.search(line)]
    app.require(not errors, "clinfo met errors:\n" + "\n".join(errors))

    raw = app.run(farcl, ["clinfo", "--raw"], seconds=30)
    app.succeeded(raw, "clinfo --raw")
    errors = [line for line in (raw.stdout + raw.stderr).splitlines() if ERROR.search(line)]
    app.require(not errors, "clinfo --raw met errors:\n" + "\n".join(errors))
    shown = dict(re.findall(r"^(?:\[\S+\]|\s)\s+(C[LD]_\w+)[ \t]*(.*)$", raw.stdout, re.MULTILINE))
    wanted = [line for line in EXPECTED.read_text().split("\n") if line and not line.startswith("#")]
    missing = [name for name in wanted if name not in shown]
    app.require(not missing, f"clinfo does not show {', '.join(missing)}")
    for name in ("CL_DEVICE_NAME", "CL_DEVICE_VENDOR", "CL_DRIVER_VERSION", "CL_DEVICE_VERSION", "CL_DEVICE_OPENCL_C_VERSION"):
        app.require(shown[name].strip() not in ("", "n/a"), f"{name} is empty")

    listing = app.run(farcl, ["clinfo", "-l"], seconds=30)
    app.succeeded(listing, "clinfo -l")
    if farcl:
        app.require("FarCL" in listing.stdout, f"clinfo -l does not name FarCL:\n{listing.stdout}")


app.main(check)
