"""HTTPS: both versions of TLS, a new certificate on SIGHUP, and the clients that people use."""

import json
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import unittest

import harness
import npm
from harness import call_body, post_bytes, wait_until

if shutil.which("openssl") is None:
    harness.skip_file("no openssl command to make a certificate with")

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


class TlsServer(harness.Server):
    def ready(self):
        try:
            return b" 200 " in self.ask(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        except OSError:
            return False

    def shake_hands(self, **versions):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        for name, version in versions.items():
            setattr(context, name, version)
        return context.wrap_socket(socket.create_connection(self.address, harness.stretched(10)), server_hostname="localhost")

    def ask(self, request):
        with self.shake_hands() as link:
            link.sendall(request)
            received = b""
            while chunk := link.recv(65536):
                received += chunk
        return received


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.certificate, cls.key = (pathlib.Path(cls.folder.name, name) for name in ("certificate.pem", "key.pem"))
        cls.make_certificate(1)
        cls.server = TlsServer(tls={"certificate_file": str(cls.certificate), "key_file": str(cls.key)})
        cls.server.start()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.folder.cleanup()

    @classmethod
    def make_certificate(cls, serial):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-set_serial", str(serial),
                        "-keyout", cls.key, "-out", cls.certificate], check=True, capture_output=True)
        cls.key.chmod(0o600)

    def url(self):
        return f"https://localhost:{self.server.address[1]}/mcp"

    def serial(self):
        with self.server.shake_hands() as link:
            der = link.getpeercert(binary_form=True)
        text = subprocess.run(["openssl", "x509", "-inform", "DER", "-noout", "-serial"], input=der, capture_output=True, check=True).stdout
        return int(text.strip().rpartition(b"=")[2], 16)

    def test_both_versions_and_no_older_one(self):
        for version, name in ((ssl.TLSVersion.TLSv1_2, "TLSv1.2"), (ssl.TLSVersion.TLSv1_3, "TLSv1.3")):
            with self.server.shake_hands(minimum_version=version, maximum_version=version) as link:
                self.assertEqual(link.version(), name)
                link.sendall(post_bytes(self.server, PING))
                received = b""
                while b'"result":{}' not in received:
                    received += link.recv(65536)
        with self.assertRaises(ssl.SSLError):
            self.server.shake_hands(minimum_version=ssl.TLSVersion.TLSv1, maximum_version=ssl.TLSVersion.TLSv1_1)

    def test_large_answers_and_bodies(self):
        code = "print('x' * 900_000) #" + "y" * 2_000_000
        answer = self.server.ask(post_bytes(self.server, call_body(language="python", code=code), "Connection: close"))
        self.assertEqual(json.loads(answer.partition(b"\r\n\r\n")[2])["result"]["stdout"], "x" * 900_000 + "\n")

    def test_a_caller_that_goes_away_ends_its_run(self):
        with self.server.shake_hands() as link:
            link.sendall(post_bytes(self.server, call_body(language="python", code="import time; time.sleep(25)")))
            self.assertTrue(wait_until(lambda: self.running() == 1, 10))
        self.assertTrue(wait_until(lambda: self.running() == 0, 5))

    def running(self):
        text = self.server.ask(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").decode()
        return int(text.partition("\nasg_running ")[2].split()[0])

    def test_a_new_certificate_loses_no_connection(self):
        before = self.serial()
        with self.server.shake_hands() as old:
            self.make_certificate(before + 1)
            self.server.process.send_signal(signal.SIGHUP)
            self.assertTrue(wait_until(lambda: self.serial() == before + 1, 10))
            old.sendall(post_bytes(self.server, PING))
            self.assertIn(b"200 OK", old.recv(65536))
            good = self.certificate.read_text()
            self.certificate.write_text("nonsense")
            self.server.process.send_signal(signal.SIGHUP)
            self.assertTrue(wait_until(lambda: any("cannot reload" in line for line in list(self.server.log)), 10))
            self.certificate.write_text(good)
        self.assertEqual(self.serial(), before + 1)

    def test_curl(self):
        body = call_body(language="python", code="print(6 * 7)").decode()
        for more in ((), ("--http2",), ("--tls-max", "1.2")):
            done = subprocess.run(["curl", "-sS", "--cacert", self.certificate, "--json", "@-", *more, self.url()], input=body, text=True,
                                  capture_output=True, timeout=30, check=True)
            self.assertEqual(json.loads(done.stdout)["result"]["stdout"], "42\n", more)

    def test_the_official_client(self):
        npm.need("@modelcontextprotocol/client")
        said = npm.run_script("v2_client.mjs", self.url(), "auto", env={"NODE_EXTRA_CA_CERTS": str(self.certificate)})
        self.assertEqual((said["era"], said["python"]["stdout"], said["slow"]["stdout"]), ("modern", "42\n", "1\n"))


if __name__ == "__main__":
    unittest.main()
