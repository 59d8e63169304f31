#!/usr/bin/env python3
"""Plants includes in a folder of its own and looks whether check_includes.py finds what is forbidden, and only that."""
import pathlib
import tempfile
import unittest

import check_includes


class CheckIncludes(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.addCleanup(self.scratch.cleanup)
        self.plant("daemon/session/tables.hpp", "#pragma once\n")
        self.plant("kernel-compiler/src/markers.hpp", "#pragma once\n")

    def plant(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def problems_of(self, name, text):
        self.plant(name, text)
        return check_includes.check_folder(self.folder)[0]

    def assert_forbidden(self, name, text):
        problems = self.problems_of(name, text)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(name, problems[0])

    def test_allowed(self):
        self.assertEqual([], self.problems_of("driver/api/queue.cpp", '#include "farcl/net/link.hpp"\n#include <CL/cl.h>\n#include "queue.hpp"\n'))
        self.assertEqual([], self.problems_of("daemon/session/a.cpp", '#include "farcl/kernel_compiler/client.hpp"\n#include "tables.hpp"\n'))
        self.assertEqual([], self.problems_of("lib/net/src/tcp.cpp", "#include <asio/ip/tcp.hpp>\n#include <asio.hpp>\n"))
        self.assertEqual([], self.problems_of("kernel-compiler/src/pass.cpp", '#include <llvm/IR/Module.h>\n#include "markers.hpp"\n'))
        self.assertEqual([], self.problems_of("tests/daemon/a.cpp", '#include "daemon/session/tables.hpp"\n'))

    def test_driver_never_sees_daemon(self):
        self.assert_forbidden("driver/a.cpp", '#include "farcl/daemon/tables.hpp"\n')

    def test_driver_never_sees_daemon_by_a_path(self):
        self.assert_forbidden("driver/api/a.cpp", '#include "../../daemon/session/tables.hpp"\n')

    def test_driver_never_sees_daemon_by_an_include_folder(self):
        self.assert_forbidden("driver/api/a.cpp", '#include "session/tables.hpp"\n')

    def test_driver_never_sees_the_compiler(self):
        self.assert_forbidden("driver/a.cpp", '#include "farcl/kernel_compiler/client.hpp"\n')

    def test_daemon_never_sees_driver(self):
        self.assert_forbidden("daemon/a.cpp", '#include "farcl/driver/a.hpp"\n')

    def test_daemon_sees_only_the_public_headers_of_the_compiler(self):
        self.assert_forbidden("daemon/a.cpp", '#include "../kernel-compiler/src/markers.hpp"\n')

    def test_llvm_stays_in_the_compiler(self):
        for name in ("driver/a.cpp", "daemon/b.cpp", "kernel-compiler/include/farcl/kernel_compiler/c.hpp", "lib/base/src/d.cpp"):
            with self.subTest(name):
                self.assert_forbidden(name, "#  include <llvm/IR/Module.h>\n")
                self.plant(name, "")

    def test_asio_stays_in_the_network_sources(self):
        self.assert_forbidden("lib/net/include/farcl/net/a.hpp", "#include <asio/ip/tcp.hpp>\n")

    def test_openssl_stays_in_the_network_sources(self):
        for name in ("lib/net/include/farcl/net/a.hpp", "daemon/supervisor/b.cpp", "driver/c.cpp", "tests/net/d.cpp"):
            with self.subTest(name):
                self.assert_forbidden(name, "#include <openssl/ssl.h>\n")
                self.plant(name, "")

    def test_protocol_knows_no_socket(self):
        self.assert_forbidden("protocol/src/a.cpp", "#include <sys/socket.h>\n")

    def test_protocol_knows_no_opencl(self):
        self.assert_forbidden("protocol/src/a.cpp", "#include <CL/cl.h>\n")

    def test_network_knows_no_message(self):
        self.assert_forbidden("lib/net/src/a.cpp", '#include "farcl/protocol/message_list.hpp"\n')

    def test_base_sees_nobody(self):
        self.assert_forbidden("lib/base/src/a.cpp", '#include "farcl/net/link.hpp"\n')


if __name__ == "__main__":
    unittest.main()
