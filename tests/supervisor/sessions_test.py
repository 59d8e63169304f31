"""Sessions come, are resumed, die and leave an obituary; one never disturbs another."""

import os
import signal
import time
import unittest

import daemon_under_test as under_test
from daemon_under_test import OBITUARY, UNKNOWN_SESSION, WELCOME, DaemonTest, is_alive, wait_until


class ResumeTest(DaemonTest):
    def test_a_cut_session_goes_on_in_the_same_worker(self):
        daemon = self.start()
        session = daemon.open()
        pid = session.ask("pid")
        session.close()
        again = daemon.resume(session, received=41)
        self.assertEqual((again.reply.status, again.reply.session), (WELCOME, session.reply.session))
        self.assertEqual(again.reply.received, 41) # what the hello said arrived at the worker
        self.assertEqual(again.ask("pid"), pid)

    def test_a_second_connection_takes_the_place_of_the_first(self):
        daemon = self.start()
        session = daemon.open()
        again = daemon.resume(session)
        session.wait_for_end(2)
        self.assertTrue(again.ask("pid"))

    def test_a_wrong_secret_is_an_unknown_session(self):
        daemon = self.start()
        session = daemon.open()
        for wrong in (bytes(32), session.reply.secret[:31] + bytes([session.reply.secret[31] ^ 1])):
            self.assertEqual(daemon.resume(session, secret=wrong).reply.status, UNKNOWN_SESSION)
        self.assertTrue(session.ask("pid")) # undisturbed

    def test_the_secret_itself_proves_nothing(self):
        daemon = self.start()
        session = daemon.open()
        bytes_sent = under_test.hello(session=session.reply.session)
        bare = under_test.replaced(bytes_sent, under_test.PROOF_AT, session.reply.secret) # what a listener might have seen somewhere
        self.assertEqual(daemon.exchange(bare)[1].status, UNKNOWN_SESSION)
        changed = under_test.replaced(under_test.hello(session=session.reply.session, secret=session.reply.secret), 64, b"\x01")
        self.assertEqual(daemon.exchange(changed)[1].status, UNKNOWN_SESSION) # the proof is of the whole hello

    def test_another_session_id(self):
        daemon = self.start()
        reply = daemon.exchange(under_test.hello(session=bytes([1]) * 16))[1]
        self.assertEqual(reply.status, UNKNOWN_SESSION)

    def test_a_session_that_nobody_resumes_is_freed(self):
        daemon = self.start("--resume-seconds", "1")
        session = daemon.open()
        pid = int(session.ask("pid"))
        session.close()
        wait_until(lambda: not is_alive(pid), 3, "the end of the worker")
        self.assertEqual(daemon.resume(session).reply.status, UNKNOWN_SESSION)
        daemon.wait_for_log("session 1 .* ended: its client did not come back")

    def test_a_goodbye_leaves_no_obituary(self):
        daemon = self.start()
        session = daemon.open()
        session.order("goodbye")
        session.wait_for_end()
        daemon.wait_for_log("ended: the client said goodbye")
        self.assertEqual(daemon.resume(session).reply.status, UNKNOWN_SESSION)


class ObituaryTest(DaemonTest):
    def come_back(self, daemon, session):
        """Like a client: a connection that closes without an answer is tried again."""
        for _ in range(5):
            try:
                return daemon.resume(session).reply
            except (EOFError, ConnectionError):
                time.sleep(0.05)
        raise AssertionError("no answer")

    def death(self, daemon, *orders, kill_with=None, seconds=5.0):
        """Makes a worker die beside a neighbour; returns the sentence that the returning client gets and the log's new lines."""
        neighbour = daemon.open()
        session = daemon.open()
        pid = int(session.ask("pid"))
        lines_before = len(daemon.log_lines("was ended|died|crashed"))
        for order in orders:
            session.order(order)
        if kill_with is not None:
            os.kill(pid, kill_with)
        session.wait_for_end(seconds)
        begin = time.monotonic()
        reply = self.come_back(daemon, session) # at once, perhaps before the supervisor has heard of the death
        self.assertLess(time.monotonic() - begin, 1.0)
        self.assertEqual(reply.status, OBITUARY, reply.text)
        self.assertTrue(neighbour.ask("pid"))
        self.assertTrue(reply.text.endswith("; the session was ended"), reply.text)
        lines = daemon.log_lines("was ended|died|crashed")[lines_before:]
        self.assertEqual(len(lines), 1, lines)
        self.assert_serves(daemon)
        return reply.text

    def test_a_crashed_kernel_is_named(self):
        daemon = self.start()
        for number, words in ((signal.SIGSEGV, "segmentation fault"), (signal.SIGBUS, "bus error"), (signal.SIGILL, "illegal instruction")):
            text = self.death(daemon, "run-kernel wild", f"crash {int(number)}")
            self.assertIn(f"kernel 'wild' crashed ({words})", text)

    def test_a_crash_outside_of_kernels(self):
        text = self.death(self.start(), "run-kernel done", "end-kernel", "crash 11")
        self.assertIn("the session's process crashed (segmentation fault)", text)

    def test_killed_from_outside(self):
        self.assertIn("killed (signal 9)", self.death(self.start(), kill_with=signal.SIGKILL))

    def test_an_exit_code(self):
        self.assertIn("exit code 3", self.death(self.start(), "exit 3"))

    def test_an_exit_without_a_word(self):
        self.assertIn("exit code 0", self.death(self.start(), "exit 0"))

    def test_last_words(self):
        self.assertIn("out of memory: 3 GiB were asked for", self.death(self.start(), "words out of memory: 3 GiB were asked for"))

    def test_a_protocol_error(self):
        self.assertIn("frame 7 is missing", self.death(self.start(), "fail frame 7 is missing"))

    def test_a_kernel_that_runs_too_long(self):
        daemon = self.start("--kernel-seconds", "1")
        begin = time.monotonic()
        text = self.death(daemon, "run-kernel spin", "hang", seconds=4)
        self.assertIn("kernel 'spin' ran longer than --kernel-seconds 1", text)
        self.assertLess(time.monotonic() - begin, 4)

    def test_without_a_limit_kernels_may_run(self):
        daemon = self.start()
        session = daemon.open()
        session.order("run-kernel long")
        time.sleep(1.2)
        session.order("pid")
        self.assertEqual(session.line(), "ok")

    def test_hostile_names_reach_the_log_as_printable_text(self):
        daemon = self.start()
        text = self.death(daemon, "run-kernel \x1b[2J\x07evil'" + "x" * 300, "crash 11")
        self.assertIn("kernel '?[2J?evil'", text)
        self.assertTrue(text.isprintable())
        self.assertNotIn("\x1b", daemon.log())

    def test_a_page_full_of_lies(self):
        daemon = self.start("--kernel-seconds", "5")
        text = self.death(daemon, "spoil-page", "crash 11")
        self.assertTrue(text.isprintable())
        self.assertLessEqual(len(text), 240)

    def test_obituaries_need_the_secret(self):
        daemon = self.start()
        session = daemon.open()
        session.order("exit 3")
        session.wait_for_end()
        daemon.wait_for_log("was ended")
        self.assertEqual(daemon.resume(session, secret=bytes(32)).reply.status, UNKNOWN_SESSION)
        self.assertEqual(daemon.resume(session).reply.status, OBITUARY)
        self.assertEqual(daemon.resume(session).reply.status, OBITUARY) # asked twice, told twice


class StuckWorkerTest(DaemonTest):
    def test_a_session_that_does_not_end_is_killed(self):
        daemon = self.start()
        session = daemon.open()
        pid = int(session.ask("pid"))
        session.order("run-kernel spin")
        session.order("end-and-hang")
        begin = time.monotonic()
        session.close()
        wait_until(lambda: not is_alive(pid), 6, "the end of the worker")
        self.assertLess(time.monotonic() - begin, 5.2)
        daemon.wait_for_log("kernel 'spin' did not end after its client had gone")

    def test_nonsense_on_the_control_channel_ends_only_that_worker(self):
        daemon = self.start()
        neighbour, session = daemon.open(), daemon.open()
        session.order("talk-nonsense")
        session.wait_for_end()
        daemon.wait_for_log("session 2 .*was ended: its process broke the rules of the control channel")
        self.assertTrue(neighbour.ask("pid"))

    def test_a_closed_control_channel(self):
        daemon = self.start()
        session = daemon.open()
        session.order("close-control")
        session.wait_for_end(3)
        daemon.wait_for_log("closed its control channel")

    def test_a_worker_that_reads_no_control_messages_stops_nobody(self):
        daemon = self.start()
        session = daemon.open()
        session.order("stop-reading-control")
        self.assertEqual(session.line(), "ok")
        # Many resumptions fill its queue; the supervisor drops what does not fit and serves others.
        again = under_test.hello(session=session.reply.session, secret=session.reply.secret)
        deadline = time.monotonic() + 20
        while not daemon.log_lines("could not be resumed: the control channel is full"):
            self.assertLess(time.monotonic(), deadline)
            daemon.connect().sendall(again)
        self.assert_serves(daemon)
        self.assertTrue(session.ask("pid"))


class SpinPermitTest(DaemonTest):
    def test_the_dead_give_their_permits_back(self):
        daemon = self.start()
        first, second = daemon.open(), daemon.open()
        permits = int(first.ask("take-permits"))
        self.assertEqual(permits, min(max(len(os.sched_getaffinity(0)) - 1, 1), 256))
        self.assertEqual(second.ask("take-permits"), "0")
        os.kill(int(first.ask("pid")), signal.SIGKILL)
        daemon.wait_for_log("was ended")
        self.assertEqual(int(second.ask("take-permits")), permits)


if __name__ == "__main__":
    unittest.main()
