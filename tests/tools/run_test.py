#!/usr/bin/env python3
"""farcl run: the program's environment, exit code and signals, and that nothing is left behind."""
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import tempfile
import time
import unittest

import farcl_under_test as tool
from farcl_under_test import farcl


class RunTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="frun-")
        self.addCleanup(self.folder.cleanup)

    def start(self, *arguments, **options):
        """farcl run with its private folder below self.folder, so that what is left can be seen."""
        return subprocess.Popen([tool.FARCL, "run", *arguments], env=tool.environment(TMPDIR=self.folder.name), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def run_program(self, *arguments):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=60)
        self.assert_nothing_left()
        return process.returncode, out, err

    def assert_nothing_left(self):
        self.assertTrue(tool.eventually(lambda: not tool.processes_with(self.folder.name), 10), tool.processes_with(self.folder.name))
        self.assertTrue(tool.eventually(lambda: not os.listdir(self.folder.name), 5), os.listdir(self.folder.name))

    @unittest.skipIf(os.environ.get("FARCL_SANITIZE"), "clinfo is not built with the sanitizer that the driver needs")
    def test_the_program_sees_farcl_beside_the_others(self):
        code, out, err = self.run_program("--", "clinfo", "-l")
        self.assertEqual(code, 0, err)
        self.assertIn("FarCL", out)
        installed = subprocess.run(["clinfo", "-l"], capture_output=True, text=True, env=tool.environment()).stdout
        for platform in re.findall(r"Platform #\d+: (.*)", installed):
            self.assertIn(platform, out)

    @unittest.skipIf(os.environ.get("FARCL_SANITIZE"), "clinfo is not built with the sanitizer that the driver needs")
    def test_only_hides_the_others(self):
        code, out, err = self.run_program("--only", "clinfo", "-l")
        self.assertEqual(code, 0, err)
        self.assertEqual(re.findall(r"Platform #\d+: (.*)", out), ["FarCL"])

    def test_exit_codes(self):
        for wanted in (0, 1, 7, 255):
            self.assertEqual(self.run_program("--", "sh", "-c", f"exit {wanted}")[0], wanted)
        self.assertEqual(self.run_program("--", "sh", "-c", "kill -SEGV $$")[0], 128 + signal.SIGSEGV)
        code, _, err = self.run_program("--", "no-such-program")
        self.assertEqual(code, 127)
        self.assertIn("no-such-program", err)
        self.assertEqual(self.run_program("--", "/etc/passwd")[0], 126)
        self.assertEqual(self.run_program()[0], 2)

    def test_arguments_and_streams_are_the_programs(self):
        code, out, err = self.run_program("--", "sh", "-c", 'printf "%s|" "$@"; echo oops >&2', "x", "--json", "-v", "--", "a b", "")
        self.assertEqual((code, out, err), (0, "--json|-v|--|a b||", "oops\n"))

    def test_the_folder_is_private(self):
        _, out, _ = self.run_program("--", "sh", "-c", 'stat -c %a "$(dirname "${POCL_REMOTE_SERVERS#unix:}")"')
        self.assertEqual(out.strip(), "700")

    def test_signals_reach_the_program(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
            script = f"import signal,sys,time\nsignal.signal({number:d}, lambda *a: sys.exit(42))\nprint('up', flush=True)\ntime.sleep(30)"
            process = self.start("--", "/usr/bin/python3", "-c", script)
            self.assertEqual(process.stdout.readline(), "up\n")
            process.send_signal(number)
            process.communicate(timeout=20)
            self.assertEqual(process.returncode, 42, number)
            self.assert_nothing_left()

    def test_a_program_that_does_not_catch_a_signal_dies_of_it(self):
        process = self.start("--", "sh", "-c", "echo up; exec sleep 30")
        self.assertEqual(process.stdout.readline(), "up\n")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assert_nothing_left()

    def test_killed_it_leaves_nothing_behind(self):
        for whole_group in (False, True):
            process = self.start("--", "sh", "-c", "echo up; exec sleep 30.125", start_new_session=True)
            self.assertEqual(process.stdout.readline(), "up\n")
            self.assertTrue(tool.processes_with(self.folder.name))
            if whole_group:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
            process.communicate(timeout=20)
            self.assert_nothing_left()
            self.assertTrue(tool.eventually(lambda: not tool.processes_with("sleep\x0030.125"), 5))

    def test_when_the_keeper_is_killed_nothing_stays_either(self):
        process = self.start("--", "sh", "-c", "echo up; exec sleep 30")
        self.assertEqual(process.stdout.readline(), "up\n")
        keepers = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self.is_keeper(pid, process.pid)]
        self.assertEqual(len(keepers), 1)
        os.kill(keepers[0], signal.SIGKILL)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        self.assert_nothing_left()

    @staticmethod
    def is_keeper(pid, parent):
        try:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return False
        return "Name:\tfarcl-keeper" in status and f"PPid:\t{parent}\n" in status

    def test_the_terminal_works(self):
        """Ctrl-Z on a terminal stops both, and Ctrl-C reaches the program once."""
        script = ("import signal,time\ncount = []\nsignal.signal(signal.SIGINT, lambda *a: count.append(1))\nprint('up', flush=True)\n"
                  "while not count: time.sleep(0.05)\ntime.sleep(0.5)\nprint('interrupts', len(count), flush=True)")
        shell, terminal = pty.fork()
        if shell == 0:
            self.be_a_shell([tool.FARCL, "run", "--", "/usr/bin/python3", "-c", script], tool.environment(TMPDIR=self.folder.name))
        self.addCleanup(os.close, terminal)
        self.read_until(terminal, b"up")
        os.write(terminal, b"\x1a")  # Ctrl-Z
        self.read_until(terminal, b"continued")
        os.write(terminal, b"\x03")  # Ctrl-C
        seen = self.read_until(terminal, b"exit code 0")
        self.assertIn(b"interrupts 1", seen)
        os.waitpid(shell, 0)
        self.assert_nothing_left()

    @staticmethod
    def be_a_shell(command, environment):
        """What a shell with job control does: the command is a foreground job of its own; when it stops, it is continued."""
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpgrp())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execve(command[0], command, environment)
        os.waitpid(job, os.WUNTRACED)
        print("stopped, to be continued", flush=True)
        time.sleep(0.2)
        os.killpg(job, signal.SIGCONT)
        _, status = os.waitpid(job, 0)
        print("exit code", os.waitstatus_to_exitcode(status), flush=True)
        os._exit(0)

    @staticmethod
    def read_until(terminal, text):
        seen = b""
        end = time.monotonic() + 30
        while text not in seen:
            if time.monotonic() > end or not select.select([terminal], [], [], 30)[0]:
                raise AssertionError(f"{text} did not come: {seen}")
            try:
                seen += os.read(terminal, 1024)
            except OSError:
                break
        return seen

    def test_the_output_ends_with_the_program(self):
        """Whoever reads farcl's output does not wait for the processes behind it."""
        begin = time.monotonic()
        result = subprocess.run(f"'{tool.FARCL}' run -- true | cat", shell=True, env=tool.environment(TMPDIR=self.folder.name), timeout=30)
        self.assertEqual(result.returncode, 0)
        self.assertLess(time.monotonic() - begin, 10)

    def test_help(self):
        self.assertIn("--only", farcl("run", "--help").stdout)


if __name__ == "__main__":
    tool.main()
