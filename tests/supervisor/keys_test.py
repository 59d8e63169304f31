"""Who comes in with a key and who does not: hellos made by hand against the real supervisor. The scripted worker welcomes in the clear
what the supervisor has let in; that the connection is encrypted from there on is the business of other tests (net, end_to_end)."""

import concurrent.futures
import datetime
import os
import signal
import socket
import subprocess
import time
import unittest

import daemon_under_test as under_test
from daemon_under_test import KEY_REFUSED, KEY_WANTED, NO_KEYS, OBITUARY, TOO_MANY, UNKNOWN_SESSION, WELCOME, DaemonTest, Key, hello

PROGRAM = under_test.REAL or under_test.SCRIPTED
TODAY = datetime.datetime.now(datetime.timezone.utc).date()


class KeysTest(DaemonTest):
    def setUp(self):
        self.alice, self.bob = Key("alice"), Key("bob")

    def write(self, path, *lines, mode=0o600):
        with open(path, "w", encoding="utf-8") as file:
            file.write("# keys\n\n" + "".join(lines))
        os.chmod(path, mode)

    def start_with(self, *lines, arguments=(), **keywords):
        path = f"/tmp/farcld-keys-{os.getpid()}-{id(self)}-{time.monotonic_ns()}"
        self.write(path, *lines)
        self.addCleanup(os.unlink, path)
        daemon = self.start("--keys", path, *arguments, **keywords)
        daemon.keys = path
        return daemon

    def reload(self, daemon, *lines):
        self.write(daemon.keys, *lines)
        daemon.process.send_signal(signal.SIGHUP)


class AdmissionTest(KeysTest):
    def test_a_good_key_opens_and_is_named_in_the_log(self):
        daemon = self.start_with(self.alice.line(), self.bob.line())
        daemon.open(key=self.alice)
        daemon.open(key=self.bob)
        daemon.wait_for_log("2 keys from")
        daemon.wait_for_log(r"session 1 started for 127\.0\.0\.1:\d+ with the key 'alice'")
        daemon.wait_for_log(r"session 2 started for .* with the key 'bob'")

    def test_without_a_key(self):
        reply = self.start_with(self.alice.line()).exchange(hello())[1]
        self.assertEqual(reply.status, KEY_WANTED)
        self.assertIn("FARCL_KEY_FILE", reply.text)

    def test_a_wrong_key_and_an_unknown_one_look_the_same(self):
        daemon = self.start_with(self.alice.line())
        wrong = Key("wrong")
        wrong.id = self.alice.id
        replies = [daemon.exchange(hello(key=key))[1] for key in (wrong, self.bob)]
        self.assertEqual([reply.status for reply in replies], [KEY_REFUSED] * 2)
        self.assertEqual(replies[0].text, replies[1].text)
        self.assertEqual([reply.mac for reply in replies], [bytes(32)] * 2)

    def test_every_changed_byte_is_noticed(self):
        daemon = self.start_with(self.alice.line())
        good = hello(key=self.alice)
        for at in (10, 13, 15, 16, 40, 64, 72, 100, 124, 140): # of each field
            changed = under_test.replaced(good, at, bytes([good[at] ^ 0x10]))
            reply = daemon.exchange(changed, source=f"127.0.1.{at}")[1] # its own address: none of them runs into a ban
            self.assertEqual(reply.status, KEY_REFUSED, f"byte {at}: {reply.text}")
        self.assertEqual(daemon.exchange(good)[1].status, WELCOME)

    def test_a_copy_of_a_hello(self):
        daemon = self.start_with(self.alice.line())
        data = hello(key=self.alice)
        self.assertEqual(daemon.exchange(data)[1].status, WELCOME)
        self.assertEqual(daemon.exchange(data)[1].status, KEY_REFUSED)

    def test_a_copy_of_a_resuming_hello_disturbs_nobody(self):
        daemon = self.start_with(self.alice.line())
        session = daemon.open(key=self.alice)
        data = hello(session=session.reply.session, secret=session.reply.secret, key=self.alice)
        again = under_test.Session(*daemon.exchange(data))
        self.assertEqual(again.reply.status, WELCOME)
        self.assertEqual(daemon.exchange(data)[1].status, KEY_REFUSED)
        self.assertTrue(again.ask("pid"))

    def test_an_expired_key_is_told_so_under_seal(self):
        yesterday = TODAY - datetime.timedelta(days=1)
        daemon = self.start_with(self.alice.line(f"expires={yesterday}"), self.bob.line(f"expires={TODAY}"))
        data = hello(key=self.alice)
        reply = daemon.exchange(data)[1]
        self.assertEqual(reply.status, KEY_REFUSED)
        self.assertIn("'alice' has expired", reply.text)
        self.assertTrue(self.alice.seals(reply, data))
        self.assertFalse(self.alice.seals(reply, hello(key=self.alice))) # of this hello only
        daemon.open(key=self.bob) # good until the end of its last day

    def test_sessions_of_a_key_are_limited(self):
        daemon = self.start_with(self.alice.line("sessions=1 memory=1G"), self.bob.line())
        first = daemon.open(key=self.alice)
        data = hello(key=self.alice)
        reply = daemon.exchange(data)[1]
        self.assertEqual(reply.status, TOO_MANY)
        self.assertIn("'alice' has its limit of 1 sessions", reply.text)
        self.assertTrue(self.alice.seals(reply, data))
        daemon.open(key=self.bob)
        first.order("goodbye")
        first.wait_for_end()
        daemon.wait_for_log("session 1 .*ended: the client said goodbye")
        daemon.open(key=self.alice)

    def test_a_unix_socket_needs_none(self):
        daemon = self.start_with(self.alice.line(), arguments=("--unix", f"/tmp/farcld-keys-{os.getpid()}.sock"))
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            connection.connect(daemon.addresses[1][len("unix:"):])
            connection.sendall(hello())
            self.assertEqual(under_test.Reply(under_test.receive_exactly(connection, under_test.REPLY_BYTES)).status, WELCOME)

    def test_a_server_without_keys_says_so(self):
        daemon = self.start()
        self.assertEqual(daemon.exchange(hello(key=self.alice))[1].status, NO_KEYS)
        daemon.open()


class SessionsOfKeysTest(KeysTest):
    def test_another_key_does_not_open_a_session(self):
        daemon = self.start_with(self.alice.line(), self.bob.line())
        session = daemon.open(key=self.alice)
        self.assertEqual(daemon.resume(session, key=self.bob).reply.status, UNKNOWN_SESSION)
        self.assertEqual(daemon.resume(session, key=self.alice, secret=bytes(32)).reply.status, UNKNOWN_SESSION)
        other = daemon.open(key=self.alice)
        stolen = {"session": session.reply.session, "secret": other.reply.secret} # its own secret for another session's id
        for kind, number in ((0, 0), (1, 1)):
            self.assertEqual(daemon.exchange(hello(key=self.alice, kind=kind, number=number, **stolen))[1].status, UNKNOWN_SESSION)
        self.assertTrue(session.ask("pid"))
        self.assertEqual(daemon.resume(session, key=self.alice).reply.status, WELCOME)

    def test_proof_of_death_is_sealed(self):
        daemon = self.start_with(self.alice.line())
        session = daemon.open(key=self.alice)
        session.order("exit 3")
        session.wait_for_end()
        daemon.wait_for_log("was ended")
        data = hello(session=session.reply.session, secret=session.reply.secret, key=self.alice)
        reply = daemon.exchange(data)[1]
        self.assertEqual(reply.status, OBITUARY)
        self.assertTrue(self.alice.seals(reply, data))

    def test_a_revoked_key_ends_its_sessions_and_no_others(self):
        daemon = self.start_with(self.alice.line(), self.bob.line())
        session, neighbour = daemon.open(key=self.alice), daemon.open(key=self.bob)
        self.reload(daemon, self.bob.line())
        self.assertEqual(session.line(), "the key 'alice' was revoked")
        session.wait_for_end()
        daemon.wait_for_log("session 1 .*was ended: the key 'alice' was revoked")
        data = hello(session=session.reply.session, secret=session.reply.secret, key=self.alice)
        reply = daemon.exchange(data)[1]
        self.assertEqual((reply.status, reply.text), (KEY_REFUSED, "the key 'alice' was revoked"))
        self.assertTrue(self.alice.seals(reply, data))
        self.assertTrue(neighbour.ask("pid"))
        self.reload(daemon, self.bob.line(), self.alice.line()) # and taken back
        under_test.wait_until(lambda: len(daemon.log_lines("2 keys from")) == 2, what="the new keys")
        daemon.open(key=self.alice)

    def test_a_key_that_expires_while_it_is_used(self):
        daemon = self.start_with(self.alice.line())
        session = daemon.open(key=self.alice)
        self.reload(daemon, self.alice.line("expires=2001-01-01"))
        self.assertEqual(session.line(), "the key 'alice' has expired")

    def test_a_worker_that_does_not_listen_is_killed_for_it(self):
        daemon = self.start_with(self.alice.line(), self.bob.line())
        session = daemon.open(key=self.alice)
        pid = int(session.ask("pid"))
        session.order("hang")
        time.sleep(0.1)
        self.reload(daemon, self.bob.line())
        under_test.wait_until(lambda: not under_test.is_alive(pid), 6, "the end of the worker")
        daemon.wait_for_log("session 1 .*was ended: the key 'alice' was revoked")

    def test_a_broken_file_changes_nothing(self):
        daemon = self.start_with(self.alice.line())
        session = daemon.open(key=self.alice)
        self.reload(daemon, self.alice.line(), "nonsense\n")
        daemon.wait_for_log("error.*the keys are as before: .*line 4")
        self.assertTrue(session.ask("pid"))
        daemon.open(key=self.alice)


class GuessingTest(KeysTest):
    def test_a_thousand_guesses(self):
        daemon = self.start_with(self.alice.line())

        def guess(_):
            try:
                connection, reply = daemon.exchange(hello(key=Key("guess")), timeout=10)
                connection.close()
                return reply.status
            except (EOFError, ConnectionError):
                return KEY_REFUSED # there was no room for an answer
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            self.assertEqual(set(pool.map(guess, range(1000))), {KEY_REFUSED})
        reply = daemon.exchange(hello(key=self.alice))[1]
        self.assertEqual(reply.status, KEY_REFUSED) # shut out for a while, whatever he brings
        self.assertIn("too many wrong keys from this address", reply.text)
        connection, reply = daemon.exchange(hello(key=self.alice), source="127.0.0.2")
        self.assertEqual(reply.status, WELCOME) # nobody else notices
        self.assertLess(len(daemon.log_lines("refused")), 60) # and the log is no diary

    def test_answers_take_longer_and_longer(self):
        daemon = self.start_with(self.alice.line())
        times = []
        for _ in range(6):
            begin = time.monotonic()
            self.assertEqual(daemon.exchange(hello(key=self.bob))[1].status, KEY_REFUSED)
            times.append(time.monotonic() - begin)
        self.assertGreaterEqual(times[-1], 0.32)
        self.assertGreater(times[-1], times[0] * 2)
        daemon.open(key=self.alice) # a right key, and all is well
        begin = time.monotonic()
        daemon.exchange(hello(key=self.bob))
        self.assertLess(time.monotonic() - begin, times[-1])


class KeyFileTest(KeysTest):
    def start_fails(self, path, *further, code=2):
        done = subprocess.run([PROGRAM, "--listen", "127.0.0.1:0", "--keys", path, *further], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=10, check=False, text=True)
        self.assertEqual(done.returncode, code, done)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        return done.stderr

    def test_files_that_are_refused(self):
        path = f"/tmp/farcld-keys-{os.getpid()}-refused"
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        self.assertIn(path, self.start_fails(path, code=1))
        for mode in (0o640, 0o604, 0o620):
            self.write(path, self.alice.line(), mode=mode)
            self.assertIn(f"chmod 600 {path}", self.start_fails(path))
        self.write(path)
        self.assertIn("keygen", self.start_fails(path))
        self.write(path, "x none servers=*\n")
        self.assertIn("'none'", self.start_fails(path))
        self.write(path, Key("a", bytes(range(32))).line(), Key("b", bytes(range(32))).line())
        self.assertIn("the same secret", self.start_fails(path))
        self.write(path, self.alice.line())
        self.assertIn("choose one", self.start_fails(path, "--insecure"))

    def test_with_keys_others_may_be_let_in(self):
        daemon = self.start_with(self.alice.line(), listen=("0.0.0.0:0",))
        self.assertEqual(daemon.log_lines("INSECURE"), [])
        daemon.open(key=self.alice)


if __name__ == "__main__":
    unittest.main()
