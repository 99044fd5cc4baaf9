"""Good documents to be spoilt, and the keys that sign them.

Private keys are those of Keys/Testing and three that are made from fixed numbers. Signatures use fixed salts, so nothing
here is random.
"""

import base64
import hashlib
import json
from pathlib import Path

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, utils
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

HERE = Path(__file__).resolve().parent
KEYS = HERE.parent.parent.parent / "Keys/Testing"
NOW, FAR = "2026-11-21T00:00:00Z", "2099-01-01T00:00:00Z"
APP, CHANNEL = "com.example.storefront", "production"


def canonical(value):
    """OLPC canonical JSON: control characters stand raw."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(k)}:{canonical(v)}" for k, v in sorted(value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value)


def text(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digests(data):
    return {"size": len(data), **{name: hashlib.new(name, data).hexdigest() for name in ("md5", "sha1", "sha256")}}


# --- keys and signatures


class RSA:
    def __init__(self, name):
        pem = (KEYS / f"{name}.key").read_bytes()
        private = serialization.load_pem_private_key(pem, None, unsafe_skip_rsa_key_validation=True)
        self.pem = (KEYS / f"{name}.pub").read_text()
        self.private = private.private_numbers()
        self.n = self.private.public_numbers.n
        self.size = (self.n.bit_length() + 7) // 8

    def row(self, scheme="rsassa-pss-sha256", **extra):
        return {"keytype": "rsa", "scheme": scheme, "keyval": {"public": self.pem}, **extra}

    def pkcs1(self):
        key = serialization.load_pem_public_key(self.pem.encode())
        return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.PKCS1).decode()

    def encrypted(self, passphrase, iv=bytes(range(16))):
        """The public key in the older encrypted PEM form (AES-128-CBC, key by MD5), which only private keys have."""
        der = base64.b64decode("".join(self.pem.splitlines()[1:-1]))
        aes = Cipher(algorithms.AES(hashlib.md5(passphrase + iv[:8]).digest()), modes.CBC(iv)).encryptor()
        body = base64.encodebytes(aes.update(der + bytes([16 - len(der) % 16]) * (16 - len(der) % 16))).decode()
        head = f"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{iv.hex().upper()}\n\n"
        return f"-----BEGIN PUBLIC KEY-----\n{head}{body}-----END PUBLIC KEY-----\n"

    def raw(self, block):
        """RSADP with the Chinese remainder theorem (RFC 8017, 5.1.2)."""
        private, number = self.private, int.from_bytes(block, "big")
        first, second = pow(number, private.dmp1, private.p), pow(number, private.dmq1, private.q)
        return (second + (first - second) * private.iqmp % private.p * private.q).to_bytes(self.size, "big")

    def sign(self, message, salt=32, digest="sha256", mgf="sha256"):
        """RSASSA-PSS (RFC 8017, 9.1.1) with a salt that follows from the message."""
        bits = self.n.bit_length() - 1
        length, size = (bits + 7) // 8, hashlib.new(digest).digest_size
        salt = (hashlib.sha512(message).digest() * 8)[: length - size - 2 if salt is None else salt]
        inner = hashlib.new(digest, bytes(8) + hashlib.new(digest, message).digest() + salt).digest()
        block = bytes(length - len(salt) - size - 2) + b"\1" + salt
        mask = b"".join(hashlib.new(mgf, inner + i.to_bytes(4, "big")).digest() for i in range(length // 20 + 1))
        masked = bytearray(a ^ b for a, b in zip(block, mask))
        masked[0] &= 0xFF >> (8 * length - bits)
        return self.raw(bytes(masked) + inner + b"\xbc")

    def sign_v15(self, message, info="3031300d060960864801650304020105000420", digest="sha256", fill=None, tail=b""):
        """RSASSA-PKCS1-v1_5 (RFC 8017, 9.2); the other parameters make what no reader may take."""
        body = bytes.fromhex(info) + hashlib.new(digest, message).digest()
        fill = b"\xff" * (self.size - 3 - len(body) - len(tail)) if fill is None else fill
        block = b"\0\1" + fill + b"\0" + body + tail
        return self.raw(block + b"\0" * (self.size - len(block)))


class Curve:
    """An elliptic-curve key made from a number; its signatures are deterministic (RFC 6979)."""

    def __init__(self, curve, keytype="ecdsa", scheme="ecdsa-sha2-nistp256"):
        self.private = ec.derive_private_key(0x70617463686C696E65, curve)
        self.keytype, self.scheme = keytype, scheme
        self.pem = self.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ).decode()

    def row(self):
        return {"keytype": self.keytype, "scheme": self.scheme, "keyval": {"public": self.pem}}

    def sign(self, message):
        return self.private.sign(message, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))

    def sign_raw(self, message):
        return b"".join(number.to_bytes(32, "big") for number in utils.decode_dss_signature(self.sign(message)))

    def compressed(self):
        point = self.private.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.CompressedPoint
        )
        der = bytes.fromhex("3039301306072a8648ce3d020106082a8648ce3d030107032200") + point
        body = base64.b64encode(der).decode()
        return f"-----BEGIN PUBLIC KEY-----\n{body[:64]}\n{body[64:]}\n-----END PUBLIC KEY-----\n"


class Edwards:
    def __init__(self):
        self.private = ed25519.Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"patchline").digest())
        self.public = self.private.public_key().public_bytes_raw().hex()

    def row(self):
        return {"keytype": "ed25519", "scheme": "ed25519", "keyval": {"public": self.public}}

    def sign(self, message):
        return self.private.sign(message)


def key_id(row):
    return hashlib.sha256(canonical(row).encode()).hexdigest()


def envelope(signed, *signers):
    """Signers are keys, or (key, row, sign) where the key is listed or signs in another way."""
    message, rows = canonical(signed).encode(), []
    for signer in signers:
        key, row, sign = signer if isinstance(signer, tuple) else (signer, signer.row(), signer.sign)
        rows.append({"keyid": key_id(row), "sig": sign(message).hex()})
    return {"signed": signed, "signatures": sorted(rows, key=lambda row: row["keyid"])}


root_key, targets_key, online, release, second, beta, other, entry_key, small = map(
    RSA, "root targets online production production-second beta other entry small".split()
)
p256, p384, edwards = Curve(ec.SECP256R1()), Curve(ec.SECP384R1()), Edwards()

# --- good documents, to be spoilt


def head(kind, version=1, expires=FAR):
    return {"_type": kind, "spec_version": "1.0.34", "version": version, "expires": expires}


def table(*rows):
    return {key_id(row): row for row in rows}


def who(*rows, threshold=1):
    return {"keyids": [key_id(row) for row in rows], "threshold": threshold}


def root(version=1, expires=FAR, keys=None, threshold=1, **extra):
    keys = keys or [root_key.row()]
    three = who(online.row())
    return {
        **head("root", version, expires), "consistent_snapshot": True, "x-patchline-app": APP,
        "keys": table(online.row(), *keys),
        "roles": {"root": who(*keys, threshold=threshold), "snapshot": three, "targets": three, "timestamp": three}, **extra,
    }


def file(document, version=1):
    data = text(document).encode()
    return {"version": version, "length": len(data), "hashes": {"sha256": hashlib.sha256(data).hexdigest()}}


def timestamp(meta, version=1, expires=FAR, **extra):
    return {**head("timestamp", version, expires), "meta": {"snapshot.json": meta}, "x-signed-at": NOW, **extra}


def snapshot(version=1, expires=FAR, **versions):
    versions = versions or {"targets": 1, "production": 1}
    return {**head("snapshot", version, expires), "meta": {f"{name}.json": {"version": v} for name, v in versions.items()}}


def delegation(**changes):
    row = {"name": CHANNEL, "terminating": True, "paths": ["production/*", "production/*/*/*"], **who(release.row())}
    return {name: value for name, value in {**row, **changes}.items() if value is not None}


def targets(*rows, version=1, expires=FAR, keys=None, **extra):
    keys = table(release.row()) if keys is None else keys
    return {**head("targets", version, expires), "targets": {}, "delegations": {"keys": keys, "roles": list(rows or [delegation()])}, **extra}


def entry_row(key, usage="entry", scheme="rsa-pkcs1v15-sha256"):
    row = key.row(scheme)
    return {key_id(row): {**row, "usage": usage} if usage else row}


def channel(files=None, version=1, expires=FAR, entry_keys=None, **extra):
    files = files or {"production/patchlist.json": {"length": 2, "hashes": {"sha256": hashlib.sha256(b"[]").hexdigest()}}}
    return {**head("targets", version, expires), "targets": files, "x-patchline-entry-keys": entry_row(entry_key) if entry_keys is None else entry_keys, **extra}


SCRIPT = b"console.log(1)\n"
ENTRY_KEY_ID = next(iter(entry_row(entry_key)))


def statement(prefix, row, names, **about):
    return (prefix + canonical({**about, **{name: row[name] for name in names}})).encode()


def entry_statement(row, app=APP, channel=CHANNEL):
    names = "patchId kind version size md5 sha1 sha256".split()
    return statement("patchline-patch-v1\n", row, names, app=app, channel=channel)


def numbers_pem(modulus, exponent):
    """A public key of any numbers: nobody has its private half."""
    key = rsa.RSAPublicNumbers(exponent, modulus).public_key()
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()


def asset_statement(row, app=APP, patch="web"):
    return statement("patchline-asset-v1\n", row, "path size md5 sha1 sha256".split(), app=app, patchId=patch)


def signature(data, scheme="rsa-pkcs1v15-sha256", keyid=ENTRY_KEY_ID):
    return {"keyid": keyid, "scheme": scheme, "sig": base64.b64encode(data).decode()}


def entry(patch="fix", version="1", signed=None, drop=(), **changes):
    """Changes are made before it is signed, except where they change the signature."""
    row = {"patchId": patch, "kind": "script", "version": version, "salt": "5a" * 16, **digests(SCRIPT)}
    row["url"] = f"objects/{row['sha256'][:2]}/{row['sha256']}"
    row.update(changes)
    if "signature" not in changes:
        names = "patchId kind version size md5 sha1 sha256".split()
        whole = all(name in row for name in names)
        row["signature"] = signature((signed or (lambda row: entry_key.sign_v15(entry_statement(row) if whole else b"")))(row))
    return {name: value for name, value in row.items() if name not in drop}


def patch_list(*rows, **changes):
    return {"format": "patchline-list-v1", "app": APP, "channel": CHANNEL, "serial": 1, "published": NOW, "patches": list(rows), **changes}


def asset(path="index.html", drop=(), **changes):
    row = {"path": path, "url": "/" + path, "type": "asset", "cacheable": True, **digests(path.encode()), **changes}
    return {name: value for name, value in row.items() if name not in drop}


def manifest(*rows, drop=(), **changes):
    rows = [asset("index.html") if row is None else row for row in rows or [None]]
    made = {"format": "patchline-manifest-v1", "app": APP, "patchId": "web", "version": "1.0.0", "created": NOW, "index": "index.html", "assets": rows, **changes}
    return {name: value for name, value in made.items() if name not in drop}


def column(signatures, keyid=ENTRY_KEY_ID, magic=b"PLSIGS1\n", length=None, count=None, tail=b""):
    length = len(signatures[0]) if length is None else length
    count = len(signatures) if count is None else count
    return magic + bytes.fromhex(keyid) + length.to_bytes(2, "big") + count.to_bytes(4, "big") + b"".join(signatures) + tail
