#!/usr/bin/env python3
"""Checks that every #include keeps to the layers of docs/ARCHITECTURE.md.

usage: check_includes.py SOURCE_FOLDER

Three questions are asked of each include of each source: may this part see that part; may this folder see that foreign
library; does a quoted name stay inside its part.
"""
import pathlib
import re
import sys

# Part -> the parts whose headers it may include. A part is a folder; tests/ and examples/ may see anything.
PARTS = {
    "include": {"include"},
    "lib/base": {"include", "lib/base"},
    "protocol": {"include", "lib/base", "protocol"},
    "lib/net": {"include", "lib/base", "protocol", "lib/net"},
    "driver": {"include", "lib/base", "protocol", "lib/net", "driver"},
    "kernel-compiler": {"include", "lib/base", "kernel-compiler"},
    "daemon": {"include", "lib/base", "protocol", "lib/net", "kernel-compiler", "daemon"},
    "tools": {"include", "lib/base", "protocol", "lib/net", "tools"},
}
# The network moves frames and greetings; it knows no message.
PROTOCOL_SEEN_BY_NET = {"frame", "hello", "limits", "ids"}

# First folder under farcl/ in an include -> part. What stands directly in farcl/ is an installed header.
NAMESPACES = {
    "base": "lib/base",
    "protocol": "protocol",
    "net": "lib/net",
    "driver": "driver",
    "kernel_compiler": "kernel-compiler",
    "daemon": "daemon",
    "tools": "tools",
}

# Foreign headers -> the only folders that may include them.
FOREIGN = [
    (r"asio(\.hpp|/)", ["lib/net/src"]),
    (r"(llvm|llvm-c|clang|clang-c|lld)/", ["kernel-compiler/src", "kernel-compiler/tools", "tests/kernel_compiler"]),
    (r"spdlog/", ["lib/base/src", "lib/net/src"]),
    (r"openssl/evp", ["lib/net/src", "kernel-compiler/src"]), # the cache hashes its requests
    (r"openssl/(?!evp)", ["lib/net/src"]),
    (r"(rdma|infiniband)/", ["lib/net/src", "tests"]),
    (r"(CL|OpenCL)/", ["include", "driver", "daemon", "tools", "tests", "examples"]),
    (r"(sys/socket|sys/un|netdb|poll|sys/epoll)\.h$|(netinet|arpa|net)/", ["lib/base", "lib/net", "driver", "kernel-compiler", "daemon", "tools", "tests"]),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SUFFIXES = {".cpp", ".hpp", ".c", ".h", ".def", ".inc"}


def within(path, folder):
    return path == folder or path.startswith(folder + "/")


def part_of(path):
    """The part that a path relative to the source folder belongs to; None for tests/ and examples/."""
    return next((part for part in PARTS if within(path, part)), None)


def part_of_include(name):
    pieces = name.split("/")
    if pieces[0] != "farcl":
        return None
    return NAMESPACES.get(pieces[1], "include") if len(pieces) > 2 else "include"


def quoted_target(source, folder, name, files):
    """The part in which a quoted name that does not begin with farcl/ is found, looked for as the compiler would."""
    beside = (folder / pathlib.Path(source).parent / name).resolve()
    if beside.is_file() and beside.is_relative_to(folder.resolve()):
        return part_of(str(beside.relative_to(folder.resolve())))
    parts = {part_of(file) for file in files if within(file, name) or file.endswith("/" + name)}
    own = part_of(source)
    return own if own in parts or not parts else next(iter(parts))


def check_source(source, folder, files):
    """Returns a sentence for each include of one source that the layers forbid."""
    problems = []
    own = part_of(source)
    text = (folder / source).read_text(errors="replace")
    for found in INCLUDE.finditer(text):
        quote, name = found.groups()
        line = text.count("\n", 0, found.start(2)) + 1
        where = f"{source}:{line}: {name}"
        for pattern, folders in FOREIGN:
            if re.match(pattern, name) and not any(within(source, allowed) for allowed in folders):
                problems.append(f"{where}: only {', '.join(folders)} may include this")
        if own is None:
            continue
        target = part_of_include(name)
        if target is None and quote == '"':
            target = quoted_target(source, folder, name, files)
        if target is None:
            continue
        if target not in PARTS[own]:
            problems.append(f"{where}: {own} may not see {target}")
        elif own == "lib/net" and target == "protocol" and pathlib.Path(name).stem not in PROTOCOL_SEEN_BY_NET:
            problems.append(f"{where}: lib/net may see only {', '.join(sorted(PROTOCOL_SEEN_BY_NET))} of protocol")
        elif own == "daemon" and target == "kernel-compiler" and not name.startswith("farcl/kernel_compiler/"):
            problems.append(f"{where}: daemon may see only the public headers of kernel-compiler")
    return problems


def sources_of(folder):
    tops = {part.split("/")[0] for part in PARTS} | {"tests", "examples"}
    return sorted(
        str(path.relative_to(folder))
        for top in tops
        for path in (folder / top).rglob("*")
        if path.suffix in SUFFIXES and path.is_file()
    )


def check_folder(folder):
    files = sources_of(folder)
    return [problem for source in files for problem in check_source(source, folder, files)], len(files)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    problems, count = check_folder(pathlib.Path(sys.argv[1]))
    print("\n".join(problems + [f"{count} sources, {len(problems)} includes against the layers"]))
    sys.exit(1 if problems or count == 0 else 0)


if __name__ == "__main__":
    main()
