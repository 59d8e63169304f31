"""A farcld of its own for each test: started on free ports in a temporary folder, always ended, its log kept for checking."""

import base64
import hashlib
import hmac
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

HELLO_BYTES = 160
REPLY_BYTES = 352
PROOF_AT, MAC_AT, REPLY_MAC_AT = 32, 128, 320
MAGIC = b"FARCL\r\n\0"
VERSION = 1
WELCOME, BAD_VERSION, UNKNOWN_SESSION, OBITUARY, TOO_MANY, REFUSED, KEY_REFUSED, KEY_WANTED, NO_KEYS = range(9)
NEW = bytes(16)

REAL = os.environ.get("FARCLD", "")
SCRIPTED = os.environ.get("SCRIPTED_FARCLD", "")


# Some tests hold more connections than the usual soft limit of descriptors.
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)


def code(secret, label, *parts):
    """HMAC-SHA256 as lib/net/src/crypto.cpp has it, written down a second time on purpose."""
    return hmac.new(secret, b"\0".join((label, b"".join(parts))), hashlib.sha256).digest()


def replaced(data, at, part):
    return data[:at] + part + data[at + len(part):]


class Key:
    """A key as farcl keygen makes them."""

    def __init__(self, name, secret=None):
        self.name, self.secret = name, secret or os.urandom(32)
        extracted = hmac.new(bytes(32), self.secret, hashlib.sha256).digest()
        self.id = hmac.new(extracted, b"farcl 1 key id\0" + b"\x01", hashlib.sha256).digest()[:16]

    def line(self, options=""):
        return f"{self.name} {base64.b64encode(self.secret).decode()} {options}\n"

    def seals(self, reply, request):
        """The reply's code is that of this key."""
        return hmac.compare_digest(reply.mac, code(self.secret, b"farcl 1 reply", request, replaced(reply.data, REPLY_MAC_AT, bytes(32))))


def hello(session=NEW, secret=None, received=0, version_min=VERSION, version_max=VERSION, magic=MAGIC, kind=0, number=0, key=None, nonce=None):
    """The bytes as protocol/include/farcl/protocol/hello.hpp defines them, written down a second time on purpose."""
    body = magic + struct.pack("<HHBBxx", version_min, version_max, kind, number) + session + bytes(32) + struct.pack("<Q", received)
    body += (key.id if key else bytes(16)) + (nonce or os.urandom(32))
    body += bytes(HELLO_BYTES - len(body))
    if secret is not None:
        body = replaced(body, PROOF_AT, code(secret, b"farcl 1 session", body))
    return replaced(body, MAC_AT, code(key.secret, b"farcl 1 hello", body)) if key else body


class Reply:
    def __init__(self, data):
        assert len(data) == REPLY_BYTES and data[:8] == MAGIC, data[:16]
        self.data, self.mac = data, data[REPLY_MAC_AT:]
        self.version_min, self.version_max, self.status = struct.unpack_from("<HHB", data, 8)
        self.session, self.secret = data[16:32], data[32:64]
        (self.received,) = struct.unpack_from("<Q", data, 64)
        (length,) = struct.unpack_from("<I", data, 72)
        self.text = data[76:76 + length].decode()


def receive_exactly(connection, size):
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise EOFError(f"closed after {len(data)} of {size} bytes")
        data += piece
    return data


def wait_until(condition, seconds=5.0, what="a condition"):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"{what} did not come within {seconds} s")


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[1])


def children_of(pid):
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit() and parent_of(int(name)) == pid)


def descendants_of(pid):
    found = []
    for child in children_of(pid):
        found += [child] + descendants_of(child)
    return found


def is_alive(pid):
    return parent_of(pid) is not None


def command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode().split("\0")[:-1]
    except OSError:
        return []


def is_sanitized():
    """The programs under test are built with a sanitizer (CTest says so)."""
    return bool(os.environ.get("FARCL_SANITIZE"))


class Session:
    """A connection whose hello was answered with a welcome; `order` talks to the scripted worker."""

    def __init__(self, connection, reply):
        self.connection, self.reply = connection, reply
        self.buffer = b""

    def line(self):
        while b"\n" not in self.buffer:
            piece = self.connection.recv(4096)
            if not piece:
                raise EOFError("the worker closed")
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode()

    def order(self, text):
        self.connection.sendall(text.encode() + b"\n")

    def ask(self, text):
        """An order with an answer before its "ok"."""
        self.order(text)
        answer = self.line()
        if answer != "ok":
            assert self.line() == "ok"
        return answer

    def wait_for_end(self, seconds=5):
        self.connection.settimeout(seconds)
        try:
            while self.connection.recv(65536):
                pass
        except ConnectionError:
            pass

    def close(self):
        self.connection.close()


class Daemon:
    def __init__(self, *arguments, program=None, listen=("127.0.0.1:0",), log="info", ready=True, compiler=False):
        self.folder = tempfile.mkdtemp(prefix="farcld-test-")
        self.log_path = os.path.join(self.folder, "log")
        self.unix_path = os.path.join(self.folder, "s")
        command = [program or SCRIPTED or REAL, "--print-ports", "--log", log, "--cache", os.path.join(self.folder, "cache")]
        if not compiler:
            command += ["--kc", self.idle_compiler()]
        command += [word for address in listen for word in ("--listen", address)] + list(arguments)
        with open(self.log_path, "wb") as log_file:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log_file)
        self.addresses = []
        self.connections = []
        if ready:
            self.read_addresses()

    def idle_compiler(self):
        """Stands for farcl-kc where nothing is built: takes its place, its arguments and nothing else."""
        path = os.path.join(self.folder, "idle-kc")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexec sleep 600\n")
        os.chmod(path, 0o755)
        return path

    def read_addresses(self):
        timer = threading.Timer(10, self.process.kill)
        timer.start()
        for line in self.process.stdout:
            text = line.decode().strip()
            if text == "ready":
                timer.cancel()
                return
            self.addresses.append(text)
        timer.cancel()
        raise AssertionError("farcld did not become ready: " + self.log())

    @property
    def pid(self):
        return self.process.pid

    @property
    def port(self):
        return int(self.addresses[0].rpartition(":")[2])

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def log_lines(self, pattern):
        return [line for line in self.log().splitlines() if re.search(pattern, line)]

    def wait_for_log(self, pattern, seconds=5.0):
        return wait_until(lambda: self.log_lines(pattern), seconds, f"a line like '{pattern}' in the log")

    def workers(self):
        return [pid for pid in children_of(self.pid) if command_line(pid)[1:] == ["--worker"]]

    def connect(self, timeout=5, source="127.0.0.1"):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=timeout, source_address=(source, 0))
        self.connections.append(connection)
        return connection

    def exchange(self, data, timeout=5, source="127.0.0.1"):
        """Sends a hello; returns the connection and the reply."""
        connection = self.connect(timeout, source)
        connection.sendall(data)
        return connection, Reply(receive_exactly(connection, REPLY_BYTES))

    def open(self, **fields):
        connection, reply = self.exchange(hello(**fields))
        assert reply.status == WELCOME, (reply.status, reply.text)
        return Session(connection, reply)

    def resume(self, session, **changes):
        fields = {"session": session.reply.session, "secret": session.reply.secret, **changes}
        connection, reply = self.exchange(hello(**fields))
        return Session(connection, reply)

    def end(self, how=signal.SIGTERM, seconds=6):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(seconds)

    def remove(self):
        for connection in self.connections:
            connection.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(5)
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class DaemonTest(unittest.TestCase):
    def start(self, *arguments, **keywords):
        daemon = Daemon(*arguments, **keywords)
        self.addCleanup(daemon.remove)
        self.addCleanup(self.show_log_after_failure, daemon)
        return daemon

    def show_log_after_failure(self, daemon):
        outcome = self._outcome.result
        if any(test is self for test, _ in outcome.failures + outcome.errors):
            print(f"--- log of {self.id()} ---\n{daemon.log()}---")

    def assert_serves(self, daemon):
        """A new client gets a session quickly, whatever else goes on."""
        begin = time.monotonic()
        daemon.open().close()
        self.assertLess(time.monotonic() - begin, 2.0)
