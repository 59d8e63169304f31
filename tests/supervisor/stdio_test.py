"""farcld --stdio: one session on two pipes, as ssh:// starts it."""

import os
import signal
import subprocess
import tempfile
import unittest

import daemon_under_test as under_test
from daemon_under_test import descendants_of, hello, is_alive, wait_until

PROGRAM = under_test.SCRIPTED


class StdioTest(unittest.TestCase):
    def start(self, *arguments, **keywords):
        cache = tempfile.mkdtemp(prefix="farcld-test-")
        self.addCleanup(os.rmdir, cache)
        process = subprocess.Popen([PROGRAM, "--stdio", "--cache", cache, "--kc", "/bin/true", *arguments], stderr=subprocess.PIPE,
                                   **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, **keywords})
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def open(self, process):
        process.stdin.write(hello())
        process.stdin.flush()
        return under_test.Reply(process.stdout.read(under_test.REPLY_BYTES))

    def ask(self, process, order):
        process.stdin.write(order.encode() + b"\n")
        process.stdin.flush()
        return process.stdout.readline().decode().strip()

    def test_a_session_and_its_end_with_the_pipe(self):
        process = self.start()
        self.assertEqual(self.open(process).status, under_test.WELCOME)
        worker = int(self.ask(process, "pid"))
        self.assertTrue(is_alive(worker))
        process.stdin.close()
        self.assertEqual(process.wait(5), 0) # at once: nobody can come back through a pipe
        self.assertFalse(is_alive(worker))
        process.stdout.close()

    def test_only_the_session_is_on_stdout(self):
        process = self.start("--log", "trace")
        self.open(process)
        process.stdin.write(b"goodbye\n")
        process.stdin.close()
        self.assertEqual(process.stdout.read(), b"ok\n")
        self.assertEqual(process.wait(5), 0)
        process.stdout.close()

    def test_a_crash_is_a_closed_pipe_and_an_exit_code(self):
        process = self.start()
        self.open(process)
        process.stdin.write(b"run-kernel wild\ncrash 11\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.read(), b"ok\n")
        self.assertEqual(process.wait(5), 1)
        self.assertIn(b"kernel 'wild' crashed (segmentation fault)", process.stderr.read())
        process.stdin.close()
        process.stdout.close()

    def test_no_hello_no_session(self):
        process = self.start()
        process.stdin.write(b"hello?")
        process.stdin.close()
        self.assertEqual(process.wait(5), 1)
        process.stdout.close()

    def test_bad_hellos(self):
        for bad in (b"x" * under_test.HELLO_BYTES, hello(session=b"1" * 16)):
            process = self.start()
            process.stdin.write(bad)
            process.stdin.flush()
            self.assertEqual(process.wait(5), 1)
            process.stdin.close()
            process.stdout.close()

    def test_a_terminal_or_file_is_refused(self):
        process = self.start(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.assertEqual(process.wait(5), 2)
        self.assertIn(b"--stdio needs pipes", process.stderr.read())

    def test_kill_leaves_nothing(self):
        process = self.start()
        self.open(process)
        family = descendants_of(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait(5)
        wait_until(lambda: not [pid for pid in family if is_alive(pid)], 3, "the end of all processes")
        process.stdin.close()
        process.stdout.close()


if __name__ == "__main__":
    unittest.main()
