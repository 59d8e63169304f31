"""The hello is the wire's most exposed part: everybody can send one."""

import os
import random
import resource
import socket
import time
import unittest

import daemon_under_test as under_test
from daemon_under_test import BAD_VERSION, HELLO_BYTES, REFUSED, TOO_MANY, UNKNOWN_SESSION, WELCOME, DaemonTest, hello

HELLO_TIME_LIMIT_S = 2.0


def read_to_end(connection, seconds):
    """What came until the other side closed (or reset); fails when it does not."""
    connection.settimeout(seconds)
    data = b""
    try:
        while True:
            piece = connection.recv(65536)
            if not piece:
                return data
            data += piece
    except ConnectionResetError:
        return data


class HelloTest(DaemonTest):
    def test_a_good_hello_gets_a_session(self):
        daemon = self.start()
        session = daemon.open()
        self.assertEqual(session.reply.status, WELCOME)
        self.assertNotEqual(session.reply.session, under_test.NEW)
        self.assertNotEqual(session.reply.secret, bytes(32))
        daemon.wait_for_log(r"session 1 started for 127\.0\.0\.1:\d+")

    def test_nothing_behind_the_hello_is_taken_from_the_worker(self):
        daemon = self.start()
        connection = daemon.connect()
        connection.sendall(hello() + b"pid\n")
        reply = under_test.Reply(under_test.receive_exactly(connection, under_test.REPLY_BYTES))
        session = under_test.Session(connection, reply)
        self.assertIn(int(session.line()), daemon.workers())

    def test_a_hello_may_come_byte_by_byte(self):
        daemon = self.start()
        connection = daemon.connect()
        for byte in hello():
            connection.sendall(bytes([byte]))
            time.sleep(0.002)
        reply = under_test.Reply(under_test.receive_exactly(connection, under_test.REPLY_BYTES))
        self.assertEqual(reply.status, WELCOME)

    def test_another_magic_is_closed_at_once(self):
        daemon = self.start()
        for first in (hello(magic=b"FARCL\n\n\0"), b"GET / HTTP/1.1\r\nHost: here\r\n\r\n", bytes(HELLO_BYTES), b"\x16\x03\x01"):
            connection = daemon.connect()
            connection.sendall(first)
            self.assertEqual(read_to_end(connection, HELLO_TIME_LIMIT_S / 2), b"")
        daemon.wait_for_log(r"a connection from 127\.0\.0\.1:\d+ was closed: it does not speak FarCL")
        self.assert_serves(daemon)

    def test_another_version_is_told_ours(self):
        daemon = self.start()
        for lowest, highest in ((2, 7), (0, 0), (65535, 65535)):
            connection, reply = daemon.exchange(hello(version_min=lowest, version_max=highest))
            self.assertEqual(reply.status, BAD_VERSION)
            self.assertEqual((reply.version_min, reply.version_max), (under_test.VERSION, under_test.VERSION))
            self.assertIn("version", reply.text)
            self.assertEqual(read_to_end(connection, 2), b"")
        self.assertEqual(len(daemon.log_lines(r"refused 127\.0\.0\.1:\d+.*version")), 3)
        self.assertEqual(daemon.open(version_min=0, version_max=9).reply.status, WELCOME)

    def test_nonsense_behind_the_magic_is_refused(self):
        daemon = self.start()
        for bad in (hello(kind=77), hello(version_min=3, version_max=1)):
            _, reply = daemon.exchange(bad)
            self.assertEqual(reply.status, REFUSED)
            self.assertTrue(reply.text)

    def test_cut_at_every_byte(self):
        daemon = self.start()
        whole = hello()
        for size in range(HELLO_BYTES):
            connection = daemon.connect()
            connection.sendall(whole[:size])
            connection.shutdown(socket.SHUT_WR)
            self.assertEqual(read_to_end(connection, 2), b"", f"cut after {size} bytes")
        self.assert_serves(daemon)
        # Strangers fill the log with a few lines, not with one each.
        self.assertLess(len(daemon.log_lines("was closed")), 25)

    def test_a_half_sent_hello_ends_after_its_time_limit(self):
        daemon = self.start()
        connection = daemon.connect()
        connection.sendall(hello()[:40])
        begin = time.monotonic()
        self.assertEqual(read_to_end(connection, 6), b"")
        self.assertAlmostEqual(time.monotonic() - begin, HELLO_TIME_LIMIT_S, delta=1.0)

    def test_a_mebibyte_of_noise(self):
        daemon = self.start()
        noise = random.Random(4711)
        before = len(os.listdir(f"/proc/{daemon.pid}/fd"))
        for start in (b"", under_test.MAGIC, under_test.MAGIC + b"\x01\x00\x01\x00"):
            connection = daemon.connect()
            try:
                connection.sendall(start + noise.randbytes(1 << 20))
                read_to_end(connection, 4)
            except ConnectionError:
                pass # closed in the middle of it: so it should be
        self.assert_serves(daemon)
        under_test.wait_until(lambda: len(os.listdir(f"/proc/{daemon.pid}/fd")) <= before + 4, what="closed descriptors")

    def test_500_idle_connections_shut_nobody_out(self):
        daemon = self.start()
        idle = [daemon.connect() for _ in range(500)]
        self.assert_serves(daemon)
        for connection in idle: # gone after their time limit
            self.assertEqual(read_to_end(connection, 5), b"")
        self.assert_serves(daemon)

    def test_more_waiting_connections_than_there_is_room_for(self):
        daemon = self.start()
        idle = [daemon.connect() for _ in range(1100)]
        self.assertEqual(read_to_end(idle[0], 1.0), b"") # the oldest gave way before its time
        self.assert_serves(daemon)

    def test_too_many_sessions(self):
        daemon = self.start("--max-sessions", "2")
        first, second = daemon.open(), daemon.open()
        _, reply = daemon.exchange(hello())
        self.assertEqual(reply.status, TOO_MANY)
        self.assertIn("limit of 2 sessions", reply.text)
        first.order("goodbye")
        first.wait_for_end()
        daemon.wait_for_log("session 1 .*ended: the client said goodbye")
        third = daemon.open()
        self.assertEqual(third.reply.status, WELCOME)
        self.assertTrue(second.ask("pid"))

    def test_an_unknown_session(self):
        daemon = self.start()
        _, reply = daemon.exchange(hello(session=bytes(range(16)), secret=bytes(range(32))))
        self.assertEqual(reply.status, UNKNOWN_SESSION)
        self.assertTrue(reply.text)

    def test_no_descriptors_left(self):
        daemon = self.start()
        open_now = len(os.listdir(f"/proc/{daemon.pid}/fd"))
        _, highest = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (open_now + 3, highest))
        idle = [daemon.connect() for _ in range(8)]
        daemon.wait_for_log("cannot accept connections just now")
        time.sleep(1)
        self.assertLess(len(daemon.log_lines("cannot accept")), 12)
        for connection in idle:
            connection.close()
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (highest, highest))
        self.assert_serves(daemon)


if __name__ == "__main__":
    unittest.main()
