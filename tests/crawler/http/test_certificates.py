"""Certificates that are not valid, on loopback; made anew for each test with the `openssl`
command."""

import asyncio
import os
import shutil
import ssl
import subprocess
import sys

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.commands import ROOT
from wikitopics.crawler.errors import TransientError, WikiUnreachable
from wikitopics.crawler.http.wire import transient_error

needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="needs the openssl command"
)


@pytest.fixture
async def serve_tls(wiki, tmp_path):
    """The scripted wiki over https, its certificate signed by itself and made out to an IP
    address."""
    certificate = tmp_path / "certificate.pem"
    key = tmp_path / "key.pem"
    servers = []

    async def start(address):
        command = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            "/CN=a test",
        ]
        names = ["-addext", f"subjectAltName=IP:{address}"]
        files = ["-keyout", str(key), "-out", str(certificate)]
        subprocess.run([*command, *names, *files], check=True, capture_output=True)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate, key)
        app = web.Application()
        app.router.add_get("/w/api.php", wiki.answer)
        server = TestServer(app, scheme="https")
        await server.start_server(ssl=context)
        servers.append(server)
        return str(server.make_url("/w/api.php"))

    yield start
    for server in servers:
        await server.close()


async def train(url, trusted):
    """Exit code and messages of a trainer that trusts this certificate besides those of the
    system."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "SSL_CERT_FILE": str(trusted)}
    command = [sys.executable, "-m", "wikitopics", "train", "--api-url", url, "--articles", "2"]
    process = await asyncio.create_subprocess_exec(*command, env=variables, stderr=subprocess.PIPE)
    _, error = await process.communicate()
    return process.returncode, error.decode()


@needs_openssl
async def test_a_certificate_signed_by_itself_is_told_at_once(serve_tls, source, read, wiki, clock):
    told = r"^the certificate of 127\.0\.0\.1 is not valid \(TLS: self.*SSL_CERT_FILE$"
    with pytest.raises(WikiUnreachable, match=told):
        await read(source(await serve_tls("127.0.0.1")))
    assert wiki.requests == []
    assert clock.slept == []


@pytest.mark.long
@needs_openssl
async def test_what_the_message_advises_helps(serve_tls, tmp_path):
    code, error = await train(await serve_tls("127.0.0.1"), tmp_path / "certificate.pem")
    assert code == 0, error


@needs_openssl
async def test_a_certificate_of_somebody_else(serve_tls, tmp_path):
    code, error = await train(await serve_tls("127.0.0.2"), tmp_path / "certificate.pem")
    assert code == 3
    (line,) = error.splitlines()
    assert "127.0.0.1" in line
    assert line.endswith("is this the wiki's right address?")


async def test_in_the_midst_of_a_run_it_is_waited_for(source, clock):
    s = source()
    await s.open()
    await s.wiki.client.backoff(TransientError("the certificate has expired", lasting=True), 1)
    await s.close()
    assert sum(clock.slept) >= 1


@pytest.mark.parametrize(
    ("code", "reason", "advice"),
    [
        (9, "certificate is not yet valid", "clock"),
        (10, "certificate has expired", "clock"),
        (20, "unable to get local issuer certificate", "SSL_CERT_FILE"),
        (62, "Hostname mismatch, certificate is not valid for 'x'.", "right address"),
    ],
)
def test_what_to_do(code, reason, advice):
    cause = ssl.SSLCertVerificationError()
    cause.verify_code = code
    cause.verify_message = reason
    key = None
    error = transient_error(aiohttp.ClientConnectorCertificateError(key, cause), "wiki.net")
    assert error.lasting
    assert reason.rstrip(".") in error.text
    assert advice in error.text
