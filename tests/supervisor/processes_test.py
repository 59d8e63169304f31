"""Which processes there are, what they hold, and that nothing is left of them."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import daemon_under_test as under_test
from daemon_under_test import DaemonTest, children_of, command_line, descendants_of, is_alive, wait_until

PROGRAMS = [program for program in (under_test.SCRIPTED, under_test.REAL) if program]


def descriptors_of(pid):
    links = {}
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            links[int(name)] = os.readlink(f"/proc/{pid}/fd/{name}")
        except FileNotFoundError:
            pass # closed meanwhile
    return links


def status_of(pid, field):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        for line in file:
            if line.startswith(field + ":"):
                return line.split(":", 1)[1].strip()
    return ""


class WorkerTest(DaemonTest):
    def each_program(self):
        for program in PROGRAMS:
            with self.subTest(program=os.path.basename(program)):
                yield program

    def test_a_worker_has_the_intended_descriptors(self):
        for program in self.each_program():
            # Everything that a supervisor may hold when it starts a worker: listeners, waiting and open connections.
            daemon = self.start("--unix", self.unix_path(), program=program, listen=("127.0.0.1:0", "127.0.0.1:0"))
            waiting = [daemon.connect() for _ in range(5)]
            sessions = [daemon.open() for _ in range(3)]
            wait_until(lambda: len(daemon.workers()) == 4, what="a worker in reserve")
            reserve = wait_until(lambda: self.the_reserve(daemon), what="a worker in reserve")
            links = descriptors_of(reserve)
            self.assertEqual(links[0], "/dev/null")
            self.assertEqual(links[1], "/dev/null")
            self.assertEqual(links[2], daemon.log_path)
            self.check_passed(daemon, reserve, links)
            del waiting, sessions

    def unix_path(self):

        folder = tempfile.mkdtemp(prefix="farcld-test-")
        self.addCleanup(shutil.rmtree, folder)
        return folder + "/s"

    def the_reserve(self, daemon):
        """The newest worker: the only one without a client."""
        newest = max(daemon.workers())
        return newest if command_line(newest)[1:] == ["--worker"] else None

    def check_passed(self, daemon, pid, links):
        """A worker without a session holds its two sockets and its two pages; what else it opened is its own, not inherited."""
        own_kinds = ("anon_inode:", "/memfd:", "/sys/", "/proc/", "/dev/null")
        sockets = [link for link in links.values() if link.startswith("socket:")]
        pages = [link for link in links.values() if link.startswith("/memfd:farcl-worker") or link.startswith("/memfd:farcl-permits")]
        self.assertEqual(len(sockets), 2, links) # control, compile service
        self.assertLessEqual(len(pages), 2, links)
        others = [link for link in links.values() if link not in sockets and link != daemon.log_path]
        for link in others:
            self.assertTrue(link.startswith(own_kinds), links)
        supervisors = set(descriptors_of(daemon.pid).values())
        self.assertFalse(set(sockets) & supervisors, "a socket of the supervisor reached a worker")
        self.assertFalse([link for link in others if link.startswith("anon_inode:") and "pidfd" in link], links)

    def test_a_worker_is_set_apart(self):
        for program in self.each_program():
            daemon = self.start("--session-memory", "1G", program=program)
            worker = wait_until(daemon.workers)[0]
            self.assertEqual(os.getpgid(worker), worker)
            self.assertEqual(os.getsid(worker), worker)
            with open(f"/proc/{worker}/limits", encoding="utf-8") as file:
                limits = file.read()
            self.assertRegex(limits, r"Max core file size\s+0\s+0")
            if not under_test.is_sanitized(): # shadow memory counts as data, so there is no limit then
                self.assertRegex(limits, r"Max data size\s+\d{10}\s+\d{10}")
            with open(f"/proc/{worker}/oom_score_adj", encoding="utf-8") as file:
                theirs = int(file.read())
            with open(f"/proc/{daemon.pid}/oom_score_adj", encoding="utf-8") as file:
                self.assertGreater(theirs, int(file.read()))
            self.assertTrue(int(status_of(worker, "SigIgn"), 16) & (1 << (signal.SIGPIPE - 1)))
            # Not at once: libc blocks signals for a moment while a worker starts its threads.
            wait_until(lambda: int(status_of(worker, "SigBlk"), 16) == 0, what="unblocked signals")

    def test_what_a_worker_starts_dies_with_it(self):
        daemon = self.start(program=under_test.SCRIPTED)
        session = daemon.open()
        child = int(session.ask("start-child"))
        self.assertTrue(is_alive(child))
        os.kill(int(session.ask("pid")), signal.SIGKILL)
        wait_until(lambda: not is_alive(child), 2, "the end of a worker's child")

    def test_a_worker_by_hand_is_refused(self):

        for program in self.each_program():
            done = subprocess.run([program, "--worker"], stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"--worker is for farcld itself", done.stderr)


class EndTest(DaemonTest):
    def test_sigterm_and_sigint_end_everything(self):
        for program in PROGRAMS:
            for how in (signal.SIGTERM, signal.SIGINT):
                with self.subTest(program=os.path.basename(program), how=how.name):
                    daemon = self.start(program=program)
                    sessions = [daemon.open() for _ in range(3)]
                    family = descendants_of(daemon.pid)
                    self.assertGreaterEqual(len(family), 4)
                    self.assertEqual(daemon.end(how), 0)
                    for session in sessions:
                        session.wait_for_end()
                    self.assertEqual([pid for pid in family if is_alive(pid)], [])

    def test_clients_are_told(self):
        daemon = self.start(program=under_test.SCRIPTED)
        session = daemon.open()
        daemon.process.send_signal(signal.SIGTERM)
        self.assertEqual(session.line(), "the server was shut down")

    def test_workers_that_hang_are_killed(self):
        daemon = self.start(program=under_test.SCRIPTED)
        session = daemon.open()
        pid = int(session.ask("pid"))
        session.order("hang")
        begin = time.monotonic()
        self.assertEqual(daemon.end(), 0)
        self.assertLess(time.monotonic() - begin, 3)
        self.assertFalse(is_alive(pid))

    def test_kill_of_the_supervisor_leaves_no_process(self):
        for program in PROGRAMS:
            with self.subTest(program=os.path.basename(program)):
                daemon = self.start(program=program, compiler=program == under_test.REAL)
                sessions = [daemon.open() for _ in range(3)]
                wait_until(lambda: len(daemon.workers()) == 4, what="a worker in reserve")
                family = descendants_of(daemon.pid)
                daemon.end(signal.SIGKILL)
                wait_until(lambda: not [pid for pid in family if is_alive(pid)], 3, "the end of all processes")
                for session in sessions:
                    session.wait_for_end()


class ClosedDescriptorsTest(unittest.TestCase):
    def test_started_without_standard_descriptors(self):
        for program in PROGRAMS:
            with self.subTest(program=os.path.basename(program)), tempfile.TemporaryDirectory() as folder:
                path = folder + "/s"
                command = f"exec '{program}' --kc /bin/true --cache {folder}/cache --unix {path} <&- >&- 2>&-"
                process = subprocess.Popen(["/bin/sh", "-c", command])
                wait_until(lambda: os.path.exists(path), what="the socket file")
                self.assertEqual([descriptors_of(process.pid)[fd] for fd in range(3)], ["/dev/null"] * 3)
                process.terminate()
                self.assertEqual(process.wait(5), 0)


class GrowthTest(DaemonTest):
    def test_200_sessions_leave_nothing(self):
        for program in PROGRAMS:
            with self.subTest(program=os.path.basename(program)):
                daemon = self.start("--resume-seconds", "0", program=program, log="warn")
                self.some_sessions(daemon, 10)
                before = self.footprint(daemon)
                self.some_sessions(daemon, 200)
                after = self.footprint(daemon)
                self.assertEqual(after[:2], before[:2], "descriptors, processes")
                if not under_test.is_sanitized(): # a sanitizer keeps what was freed
                    self.assertLess(after[2] - before[2], 2048, "KiB of memory")

    def some_sessions(self, daemon, count):
        for _ in range(count):
            daemon.open().close()
        wait_until(lambda: len(daemon.workers()) == 1, 10, "one worker in reserve")
        time.sleep(0.2)

    def footprint(self, daemon):
        memory = int(status_of(daemon.pid, "VmRSS").split()[0])
        return len(descriptors_of(daemon.pid)), len(children_of(daemon.pid)), memory


class ReserveTest(DaemonTest):
    def test_a_reserve_that_dies_is_replaced(self):
        daemon = self.start(program=under_test.SCRIPTED)
        first = wait_until(daemon.workers)[0]
        os.kill(first, signal.SIGKILL)
        daemon.wait_for_log("a worker in reserve died")
        self.assert_serves(daemon)
        wait_until(lambda: [pid for pid in daemon.workers() if pid != first], what="another worker")

    def test_sessions_start_without_the_reserve_too(self):
        daemon = self.start(program=under_test.SCRIPTED)
        sessions = [daemon.open() for _ in range(8)] # faster than reserves are made
        self.assertEqual(len({session.ask("pid") for session in sessions}), 8)


class CompileServiceTest(DaemonTest):
    def compilers(self, daemon):
        return [pid for pid in children_of(daemon.pid) if command_line(pid)[1:] != ["--worker"]]

    def test_it_is_started_again(self):
        daemon = self.start(program=under_test.SCRIPTED)
        first = wait_until(lambda: self.compilers(daemon))[0]
        os.kill(first, signal.SIGKILL)
        daemon.wait_for_log(r"compile service \(farcl-kc\) ended by itself \(signal 9\)")
        wait_until(lambda: [pid for pid in self.compilers(daemon) if pid != first], what="another compile service")
        self.assert_serves(daemon)

    def test_one_that_takes_nothing_stops_nobody(self):
        daemon = self.start("--max-sessions", "300", "--resume-seconds", "0", program=under_test.SCRIPTED)
        for _ in range(60):
            daemon.open().close()
        self.assert_serves(daemon)


if __name__ == "__main__":
    unittest.main()
