#!/usr/bin/env python3
"""farcl list, help, version and bench."""
import json
import pathlib
import re
import socket
import subprocess
import unittest

import farcl_under_test as tool
from farcl_under_test import farcl

LIST = [tool.FARCL, "list"]


class ListTest(unittest.TestCase):
    def test_a_server_and_its_devices(self):
        result = farcl("run", "--devices", "cpu,cpu", "--", *LIST)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"FarCL \d+\.\d+\.\d+ on \S+, protocol \d+, round trip [\d.]+ us")
        self.assertRegex(result.stdout, r"device 0: .+, CPU, \d+ compute units, [\d.]+ GiB")
        self.assertIn("device 1:", result.stdout)
        self.assertNotIn("INSECURE", result.stdout)

    def test_json(self):
        result = farcl("run", "--", *LIST, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        (server,) = json.loads(result.stdout)["servers"]
        self.assertTrue(server["reachable"])
        self.assertFalse(server["insecure"])
        self.assertGreater(server["round_trip_us"], 0)
        self.assertLess(server["round_trip_us"], 1e6)
        (device,) = server["devices"]
        self.assertEqual(device["type"], "CPU")
        self.assertGreater(device["memory_bytes"], 1 << 26)
        self.assertTrue(device["version"].startswith("OpenCL 3.0"))

    def test_servers_that_cannot_be_reached(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"127.0.0.1:{silent.getsockname()[1]}"
            with socket.create_server(("127.0.0.1", 0)) as gone:
                refusing = f"127.0.0.1:{gone.getsockname()[1]}"
            result = farcl("list", "--json", address, refusing, "no-such-host.invalid", FARCL_CONNECT_TIMEOUT_MS="500")
        self.assertEqual(result.returncode, 1)
        servers = json.loads(result.stdout)["servers"]
        self.assertEqual([server["reachable"] for server in servers], [False] * 3)
        self.assertEqual(servers[0]["server"], address)
        for server in servers:
            self.assertTrue(server["error"])

    def test_nonsense(self):
        result = farcl("list", "host:notaport")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("host:notaport", result.stderr)
        self.assertEqual(farcl("list").returncode, 2)

    def test_an_insecure_server_is_named_so(self):
        daemon = str(pathlib.Path(tool.FARCL).with_name("farcld"))
        with subprocess.Popen([daemon, "--insecure", "--print-ports", "--listen", "0.0.0.0:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, env=tool.environment()) as server:
            try:
                port = server.stdout.readline().strip().rsplit(":", 1)[1]
                self.assertEqual(server.stdout.readline(), "ready\n")
                result = farcl("list", f"127.0.0.1:{port}")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("INSECURE", result.stdout)
                as_json = farcl("list", "--json", f"127.0.0.1:{port}")
                self.assertTrue(json.loads(as_json.stdout)["servers"][0]["insecure"])
            finally:
                server.terminate()

    def test_terminal_escapes_in_addresses_and_names_are_harmless(self):
        self.assertNotIn("\x1b", farcl("list", "evil\x1b[31m.invalid", FARCL_CONNECT_TIMEOUT_MS="200").stdout)


class OthersTest(unittest.TestCase):
    def test_version(self):
        self.assertRegex(farcl("version").stdout, r"^FarCL \d+\.\d+\.\d+, protocol \d+\n$")

    def test_help(self):
        for command in ("run", "list", "bench", "help", "version"):
            self.assertIn(command, farcl("help").stdout)
            self.assertIn("Usage", farcl("help", command).stdout)
        options = farcl("help", "options").stdout
        for name in ("POCL_REMOTE_SERVERS", "FARCL_CONNECT_TIMEOUT_MS", "FARCL_RESUME_SECONDS", "FARCL_SSH"):
            self.assertIn(name, options)
        self.assertEqual(farcl("help", "nonsense").returncode, 2)

    def test_wrong_commands(self):
        self.assertEqual(farcl().returncode, 2)
        self.assertEqual(farcl("nonsense").returncode, 2)
        self.assertEqual(farcl("list", "--nonsense").returncode, 2)


class BenchTest(unittest.TestCase):
    FIGURES = [
        "empty kernel, clFinish",
        "counter kernel with a new argument, clFinish",
        "write of 4 bytes, blocking",
        "write of 4 bytes, blocking, server asleep",
        "read of 4 bytes, blocking",
        "user event set, kernel behind it, wait",
        "10,000 empty kernels, clFinish",
        "10,000 counter kernels with new arguments",
        "1,000 empty kernels chained by events, each",
        "1,000 counter kernels chained by events, each",
        *(f"{way} of {size}, blocking" for size in ("4 KiB", "64 KiB", "1 MiB", "16 MiB", "256 MiB") for way in ("write", "read")),
        "create and build a new program",
        "create and build a known program",
        "session start: new process to first result",
    ]

    def test_json_has_every_figure(self):
        result = farcl("bench", "--quick", "--json", seconds=100)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual([figure["name"] for figure in report["figures"]], self.FIGURES)
        for figure in report["figures"]:
            self.assertGreater(figure["median"], 0)
            self.assertGreaterEqual(figure["samples"], 3)
        self.assertGreater(report["limits"]["R_us"], 0)
        self.assertEqual(len(report["limits"]["transfers"]), 5)
        self.assertRegex(report["server"], r"^127\.0\.0\.1:\d+$")

    def test_latency_alone(self):
        report = json.loads(farcl("bench", "--quick", "--latency", "--json", seconds=60).stdout)
        self.assertEqual([figure["name"] for figure in report["figures"]], self.FIGURES[:6])

    def test_the_trace_shows_every_step(self):
        text = farcl("bench", "--trace", seconds=60).stdout
        self.assertRegex(text, r"spends its time \([1-9]\d+ launches\)")
        for step in ("encode", "write", "wake-up: the way to the other core", "decode", "check and dispatch", "run", "reply", "all of it"):
            self.assertRegex(text, rf"(?m)^{step}.* [\d.]+ us +[\d.]+ us$")

    def test_the_table_has_ratios(self):
        text = farcl("bench", "--quick", "--unix", seconds=100).stdout
        self.assertIn("server unix:", text)
        self.assertRegex(text, r"empty kernel, clFinish\s+[\d.]+\s+[\d.]+ us\s+[\d.]+ R")
        self.assertRegex(text, r"write of 16 MiB, blocking\s+[\d.]+\s+[\d.]+ GB/s\s+[\d.]+ (raw|M)")
        self.assertEqual(len(re.findall(r" n=\d+$", text, re.MULTILINE)), len(self.FIGURES) + 3 * 6)  # and at three sizes what shared memory does


if __name__ == "__main__":
    tool.main()
