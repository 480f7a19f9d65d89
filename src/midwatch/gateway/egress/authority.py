"""Certificates for registries: trusted inside Midwatch's sandboxes only, which tells reading from publishing."""

import functools
import hashlib
import hmac
import os
import ssl
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_NAME: Final = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Midwatch registries, inside sandboxes only")])
_LEAF: Final = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "registry")])
_FROM: Final = datetime(2024, 1, 1, tzinfo=UTC)
_UNTIL: Final = datetime(2049, 1, 1, tzinfo=UTC)
_LEAF_DAYS: Final = timedelta(days=90)


class RegistryAuthority:
    """Signs certificates for the hosts of registries.

    Its key follows from this installation's own: after a restart, the programs that already run still trust it.
    """

    def __init__(self, key: bytes) -> None:
        # One less than the order of the curve: every number from 1 to it is a key.
        number = int.from_bytes(hmac.digest(key, b"registry authority", hashlib.sha512))
        self._key = ec.derive_private_key(number % (_ORDER - 1) + 1, ec.SECP256R1())

    @functools.cached_property
    def certificate(self) -> x509.Certificate:
        public = self._key.public_key()
        usage = x509.KeyUsage(
            **dict.fromkeys(("digital_signature", "content_commitment", "key_encipherment"), False),
            **dict.fromkeys(("data_encipherment", "key_agreement", "encipher_only", "decipher_only"), False),
            key_cert_sign=True,
            crl_sign=True,
        )
        made = _certificate(_NAME, public, _FROM, _UNTIL)
        made = made.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        made = made.add_extension(usage, critical=True)
        made = made.add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        return made.sign(self._key, hashes.SHA256())

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def identity(self, hosts: Iterable[str], now: datetime) -> ssl.SSLContext:
        """Make what a sandbox sees as the certificate of these hosts; the key exists in memory only."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = _certificate(_LEAF, key.public_key(), now - timedelta(days=1), now + _LEAF_DAYS)
        names = x509.SubjectAlternativeName([x509.DNSName(host) for host in sorted(set(hosts))])
        made = made.add_extension(names, critical=True)
        made = made.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        made = made.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        leaf = made.add_extension(issuer, critical=False).sign(self._key, hashes.SHA256())
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return _context(private + leaf.public_bytes(serialization.Encoding.PEM))


_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def _certificate(
    subject: x509.Name, public: ec.EllipticCurvePublicKey, start: datetime, end: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(_NAME)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(end)
    )


def _context(chain: bytes) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    handle = os.memfd_create("registry", os.MFD_CLOEXEC)  # OpenSSL reads a key from a path only
    with os.fdopen(handle, "wb") as file:
        file.write(chain)
        file.flush()
        context.load_cert_chain(f"/proc/self/fd/{handle}")
    return context
