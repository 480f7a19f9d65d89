"""A certificate authority of our own, made once."""

import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import missing


@dataclass(frozen=True)
class Authority:
    """Certificates for a few hosts, and who trusts them."""

    root: Path
    leaf: Path
    key: Path

    def server(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.leaf, self.key)
        return context

    def client(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.root))


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Certificates for files.example and *.packages.example."""
    if shutil.which("openssl") is None:
        missing("openssl", "certificates are made with it")
    folder = tmp_path_factory.mktemp("authority")
    made = Authority(folder / "root.pem", folder / "leaf.pem", folder / "leaf.key")
    ec = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    names = "subjectAltName=DNS:files.example,DNS:*.packages.example"
    root_key = folder / "root.key"
    constraint = ("-addext", "keyUsage=critical,keyCertSign,cRLSign")
    root = (
        "openssl",
        "req",
        "-x509",
        *ec,
        "-subj",
        "/CN=Night CA",
        *constraint,
        "-keyout",
        root_key,
        "-out",
        made.root,
    )
    ask = ("openssl", "req", *ec, "-subj", "/CN=files.example", "-keyout", made.key, "-out", folder / "ask")
    extensions = folder / "extensions"
    extensions.write_text(names + "\nauthorityKeyIdentifier=keyid\n")
    sign = ("openssl", "x509", "-req", "-in", folder / "ask", "-CA", made.root, "-CAkey", root_key, "-days", "2")
    for command in (root, ask, (*sign, "-CAcreateserial", "-extfile", extensions, "-out", made.leaf)):
        subprocess.run(command, check=True, capture_output=True)
    return made
