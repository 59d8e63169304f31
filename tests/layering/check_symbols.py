#!/usr/bin/env python3
"""Reads what the driver's shared object gives to and takes from the process that loads it.

usage: check_symbols.py LIBFARCL.so EXPORTS.map

It is a guest: it exports what its version script names and nothing else, and it brings neither LLVM nor clang along,
directly or through another library. It must also stay loaded (-z nodelete) and resolve its own symbols itself.
"""
import pathlib
import re
import subprocess
import sys

FORBIDDEN_LIBRARIES = re.compile(r"LLVM|clang|lld|OpenCL\.so|libssl|libcrypto|farcl(?!\.so)", re.IGNORECASE)


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def names_of_version_script(path):
    """The exported names (shell patterns are allowed) of a version script."""
    text = re.sub(r"/\*.*?\*/|#[^\n]*", "", path.read_text(), flags=re.DOTALL)
    exported = re.search(r"global\s*:(.*?)(local\s*:|\})", text, re.DOTALL)
    return set(re.findall(r"[\w*?]+(?=\s*;)", exported.group(1))) if exported else set()


def exported_symbols(library):
    lines = output_of("nm", "--dynamic", "--defined-only", "--format=posix", str(library)).splitlines()
    # Type A is the version node itself.
    return {line.split()[0].split("@")[0] for line in lines if line.split()[1] != "A"}


def matches(name, patterns):
    return any(re.fullmatch(pattern.replace("*", r"\w*").replace("?", r"\w"), name) for pattern in patterns)


def check(library, version_script):
    problems = []
    allowed = names_of_version_script(version_script)
    exported = exported_symbols(library)
    if not allowed:
        problems.append(f"{version_script} exports nothing")
    if not exported:
        problems.append(f"{library} exports nothing")
    for name in sorted(exported):
        if not matches(name, allowed):
            problems.append(f"exports {name}, which {version_script.name} does not name")
    for pattern in sorted(allowed):
        if not any(matches(name, [pattern]) for name in exported):
            problems.append(f"does not export {pattern}, which {version_script.name} names")
    dynamic = output_of("readelf", "--dynamic", "--wide", str(library))
    flags = " ".join(line for line in dynamic.splitlines() if "(FLAGS" in line)
    for flag in ("NODELETE", "SYMBOLIC"):
        if flag not in flags and f"({flag})" not in dynamic:
            problems.append(f"is not linked with {flag}")
    for line in output_of("ldd", str(library)).splitlines():
        name = line.split()[0]
        if FORBIDDEN_LIBRARIES.search(pathlib.Path(name).name) or "not found" in line:
            problems.append(f"needs {line.strip()}")
    return problems, len(exported)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    problems, count = check(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    print("\n".join(problems + [f"{count} exported symbols, {len(problems)} problems"]))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
