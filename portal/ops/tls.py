"""A self-signed certificate for a class on a local network. A public site has a reverse proxy with a real one."""

import datetime
import ipaddress
import os
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

VALID_DAYS = 397  # the longest that browsers accept


def certificate(folder: Path, names: list[str]) -> tuple[Path, Path]:
    """The paths of certificate and key, made anew when the names changed or the end is near."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    certificate_file, key_file = folder / "certificate.pem", folder / "key.pem"
    if not (certificate_file.exists() and key_file.exists() and _still_good(certificate_file, names)):
        _make(certificate_file, key_file, names)
    return certificate_file, key_file


def fingerprint(certificate_file: Path) -> str:
    """The SHA-256 that a browser shows for the certificate, for people to compare."""
    return x509.load_pem_x509_certificate(certificate_file.read_bytes()).fingerprint(hashes.SHA256()).hex(":").upper()


def _still_good(path: Path, names: list[str]) -> bool:
    found = x509.load_pem_x509_certificate(path.read_bytes())
    covered = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    month = datetime.timedelta(days=30)
    return list(covered) == _general_names(names) and found.not_valid_after_utc - _now() > month


def _make(certificate_file: Path, key_file: Path, names: list[str]) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Podium on a local network")])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_now() - datetime.timedelta(days=1))
        .not_valid_after(_now() + datetime.timedelta(days=VALID_DAYS - 1))
        .add_extension(x509.SubjectAlternativeName(_general_names(names)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    key_file.unlink(missing_ok=True)
    with os.fdopen(os.open(key_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(private)
    certificate_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))


def _general_names(names: list[str]) -> list[x509.GeneralName]:
    general: list[x509.GeneralName] = []
    for name in names:
        try:
            general.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            general.append(x509.DNSName(name))
    return general


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
