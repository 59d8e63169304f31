"""Where farcld listens, whom it lets in, and the command line."""

import grp
import os
import re
import socket
import stat
import subprocess
import tempfile
import unittest

import daemon_under_test as under_test
from daemon_under_test import DaemonTest

PROGRAM = under_test.REAL or under_test.SCRIPTED


def run(*arguments, timeout=10):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False, text=True)


class CommandLineTest(unittest.TestCase):
    def assert_usage_error(self, expected, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("farcld: "), done.stderr)
        self.assertIn(expected, done.stderr)

    def test_wrong_options(self):
        self.assert_usage_error("--no-such", "--no-such")
        self.assert_usage_error("--max-sessions", "--max-sessions", "many")
        self.assert_usage_error("--max-sessions", "--max-sessions", "0")
        self.assert_usage_error("--session-memory", "--session-memory", "12X")
        self.assert_usage_error("--session-memory", "--session-memory", "1K")
        self.assert_usage_error("--devices", "--devices", "gpu")
        self.assert_usage_error("--log", "--log", "loud")
        self.assert_usage_error("port", "--listen", "127.0.0.1:65536")
        self.assert_usage_error("brackets", "--listen", "::1:5")
        self.assert_usage_error("mode", "--unix", "/tmp/x,mode=9")
        self.assert_usage_error("107 bytes", "--unix", "/" + "x" * 200)
        self.assert_usage_error("cannot be combined", "--stdio", "--listen", "127.0.0.1:0")
        self.assert_usage_error("--kc", "--kc", "/no/such/program")

    def test_beyond_loopback_needs_keys_or_insecure(self):
        for address in ("0.0.0.0:0", "[::]:0", ":0"):
            self.assert_usage_error("--insecure", "--listen", address)
            self.assert_usage_error("farcl keygen", "--listen", address)

    def test_help_and_version(self):
        self.assertRegex(run("--version").stdout, r"^farcld \d+\.\d+\.\d+\n$")
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for option in ("--listen", "--unix", "--insecure", "--stdio", "--kernel-seconds"):
            self.assertIn(option, done.stdout)

    def test_the_operators_page_has_the_table_of_options(self):
        page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "operators.md")
        with open(page, encoding="utf-8") as file:
            self.assertIn(run("--help-markdown").stdout, file.read(), "put the output of farcld --help-markdown into docs/operators.md")


class ListenTest(DaemonTest):
    def test_several_addresses_at_once(self):
        folder = tempfile.mkdtemp(prefix="farcld-test-")
        self.addCleanup(os.rmdir, folder)
        daemon = self.start("--unix", folder + "/a", "--unix", folder + "/b", listen=("127.0.0.1:0", "localhost:0"))
        self.assertEqual(len(daemon.addresses), 4)
        for address in daemon.addresses:
            if address.startswith("unix:"):
                connection = socket.socket(socket.AF_UNIX)
                connection.connect(address[5:])
            else:
                host, _, port = address.rpartition(":")
                connection = socket.create_connection((host.strip("[]"), int(port)), timeout=5)
            daemon.connections.append(connection)
            connection.sendall(under_test.hello())
            self.assertEqual(under_test.Reply(under_test.receive_exactly(connection, under_test.REPLY_BYTES)).status, under_test.WELCOME)
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(os.listdir(folder), []) # the socket files are gone

    def test_insecure_is_shouted(self):
        daemon = self.start("--insecure", listen=("0.0.0.0:0",))
        daemon.wait_for_log("warn.*INSECURE")
        quiet = self.start("--insecure")
        self.assertEqual(quiet.log_lines("INSECURE"), []) # loopback only: nothing to shout about

    def test_mode_and_group_of_a_unix_socket(self):
        group = grp.getgrgid(os.getgid()).gr_name
        folder = tempfile.mkdtemp(prefix="farcld-test-")
        self.addCleanup(os.rmdir, folder)
        daemon = self.start("--unix", folder + "/plain", "--unix", f"{folder}/shared,mode=0660,group={group}", listen=())
        self.assertEqual(stat.S_IMODE(os.stat(folder + "/plain").st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(folder + "/shared").st_mode), 0o660)
        self.assertEqual(os.stat(folder + "/shared").st_gid, os.getgid())
        self.assertEqual(daemon.end(), 0)

    def test_a_stale_socket_file_is_replaced(self):
        folder = tempfile.mkdtemp(prefix="farcld-test-")
        self.addCleanup(os.rmdir, folder)
        first = self.start("--unix", folder + "/s", listen=())
        first.end(9)
        self.assertTrue(os.path.exists(folder + "/s"))
        second = self.start("--unix", folder + "/s", listen=())
        third = subprocess.run([PROGRAM, "--unix", folder + "/s"], stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False)
        self.assertNotEqual(third.returncode, 0) # a living one is left alone
        self.assertEqual(second.end(), 0)
        self.assertFalse(os.path.exists(folder + "/s"))

    def test_a_port_in_use_is_an_error_with_a_reason(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            done = run("--listen", f"127.0.0.1:{taken.getsockname()[1]}")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, re.compile("in use", re.IGNORECASE))


if __name__ == "__main__":
    unittest.main()
