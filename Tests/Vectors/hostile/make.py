#!/usr/bin/env python3
"""Writes every document and every cases.json of this folder again, byte for byte. Needs the package `cryptography`.

usage: make.py [FOLDER]               the folder of this file unless another is named

What a case expects is kept as it stands in cases.json: it is what this implementation says, and the tests compare.
"""

import json
import sys

from documents import *

OUT = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
areas, known = {}, {}
for old in HERE.glob("*/cases.json"):
    for row in json.loads(old.read_text())["cases"]:
        known[f"{old.parent.name}/{row['case']}"] = row["expect"]


def write(path, document):
    path = OUT / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(document if isinstance(document, bytes) else (document if isinstance(document, str) else text(document)).encode())


def case(area, name, breaks, reads, document, why, ending=".json", **row):
    path = f"{area}/{name}{ending}"
    write(path, document)
    expect = known.get(f"{area}/{name}")
    areas.setdefault(area, []).append(
        {"case": name, "breaks": breaks, "why": why, "reads": reads, "document": path, **row, "expect": expect}
    )


def refresh(area, name, breaks, document, why, step="root", before=(), trusted="root.json", time=NOW, **row):
    """A document that is offered as `step` when the steps `before` it have been taken."""
    before = [[step, f"trusted/{path}"] for step, path in before]
    case(area, name, breaks, "metadata", document, why, trusted=f"trusted/{trusted}", time=time, before=before, step=step, **row)


def doubled(document, member, first):
    """The member twice: a reader that keeps the last one finds a good signature."""
    whole, part = text(document), f'"{member}":'
    assert whole.count(part) >= 1, member
    return whole.replace(part, f"{part}{first},{part}", 1)


# --- what is trusted when the hostile document comes

good = {
    "root": envelope(root(), root_key),
    "root-two": envelope(root(keys=[root_key.row(), other.row()], threshold=2), root_key, other),
    "targets": envelope(targets(), online),
    "production": envelope(channel(), release),
}
good["snapshot"] = envelope(snapshot(version=3, targets=1, production=1), online)
good["timestamp"] = envelope(timestamp(file(good["snapshot"], 3), version=5), online)
for name, document in good.items():
    write(f"trusted/{name}.json", document)
AT_SNAPSHOT = [("timestamp", "timestamp.json")]
AT_TARGETS = AT_SNAPSHOT + [("snapshot", "snapshot.json")]
AT_CHANNEL = AT_TARGETS + [("targets", "targets.json")]
# The same without length and digest in the referrers, so that another file can be offered.
write("trusted/loose-timestamp.json", envelope(timestamp({"version": 3}, version=5), online))
LOOSE_SNAPSHOT = [("timestamp", "loose-timestamp.json")]


# --- keys, signatures and thresholds, shown on a second root


def second_root(name, breaks, why, signed, *signers, area="signatures", **row):
    refresh(area, name, breaks, envelope(signed, *signers), why, **row)


two = root(version=2)
pss = lambda **how: (root_key, root_key.row(), lambda message: root_key.sign(message, **how))
forged = lambda sign: (root_key, root_key.row(), sign)
second_root("by-nobody", "threshold", "Nobody signed.", two)
second_root("by-a-key-that-is-not-listed", "threshold", "Signed by a key that the root does not list.", two, other)
second_root("by-a-key-of-another-role", "threshold", "The online key is listed, but not for root.", two, online)
second_root("under-the-id-of-a-listed-key", "threshold", "Another key's signature under the listed key's id.", two, forged(other.sign))
second_root("of-another-document", "threshold", "A good signature, over version 3.", two, forged(lambda m: root_key.sign(canonical(root(version=3)).encode())))
second_root("empty", "threshold", "The signature is empty.", two, forged(lambda m: b""))
second_root("cut", "threshold", "The signature lacks its last byte.", two, forged(lambda m: root_key.sign(m)[:-1]))
second_root("pss-with-sha1", "signature-scheme", "PSS with SHA-1 under rsassa-pss-sha256.", two, pss(digest="sha1", mgf="sha1", salt=20))
second_root("pss-with-mgf1-sha1", "signature-scheme", "PSS with SHA-256, but MGF1 with SHA-1.", two, pss(mgf="sha1"))
second_root("pss-with-sha512", "signature-scheme", "PSS with SHA-512 under rsassa-pss-sha256.", two, pss(digest="sha512", mgf="sha512"))
second_root("pkcs1-under-pss", "signature-scheme", "RSASSA-PKCS1-v1_5 under rsassa-pss-sha256.", two, forged(root_key.sign_v15))
second_root("over-file-bytes", "signature-over-canonical-json", "Signed over the file's JSON, where the newlines of keys are escaped.", two, forged(lambda m: root_key.sign(text(two).encode())))
sig = envelope(two, root_key)
spoil = lambda **change: {**sig, "signatures": [{**sig["signatures"][0], **change}]}
refresh("signatures", "no-hex", "signature-hex", spoil(sig="no hex"), "The signature is no hex: it counts as none.")
refresh("signatures", "upper-case-hex", "signature-hex", spoil(sig=sig["signatures"][0]["sig"].upper()), "Hex in upper case is another spelling: it counts as none.")
refresh("signatures", "is-a-number", "signature-form", spoil(sig=1), "The signature is a number.")
refresh("signatures", "keyid-is-a-number", "signature-form", spoil(keyid=1), "The key id is a number.")
refresh("signatures", "twice-by-one-key", "signature-once-a-key", {**sig, "signatures": sig["signatures"] * 2}, "One key id stands twice among the signatures.")
refresh("signatures", "sixty-five", "signature-count", {**sig, "signatures": sig["signatures"] + [{"keyid": f"{i:064x}", "sig": ""} for i in range(64)]}, "More than 64 signatures.")
refresh("signatures", "missing", "signature-form", {"signed": two}, "No signatures at all.")
refresh("signatures", "not-a-list", "signature-form", {"signed": two, "signatures": {}}, "The signatures are an object.")

note = {**root_key.row(), "x-note": "the same key"}
crlf = {**root_key.row(), "keyval": {"public": root_key.pem.replace("\n", "\r\n")}}
v15 = root_key.row("rsa-pkcs1v15-sha256")


def one_key_as_two(name, why, first, second, **row):
    document = envelope(root(keys=[first[1], second[1]], threshold=2), first, second)
    refresh("keys", name, "threshold-distinct-material", document, why, step="trusted-root", **row)


plain = (root_key, root_key.row(), root_key.sign)
one_key_as_two("two-ids-of-one-key", "An unknown member gives the same key a second id.", plain, (root_key, note, root_key.sign))
one_key_as_two("two-spellings-of-one-key", "CR LF gives the same key a second id.", plain, (root_key, crlf, root_key.sign))
one_key_as_two("two-schemes-of-one-key", "The same key under PSS and under PKCS#1 v1.5.", plain, (root_key, v15, root_key.sign_v15))
point = {**p256.row(), "keyval": {"public": p256.compressed()}}
one_key_as_two("two-points-of-one-key", "A P-256 key with its point compressed and not.", (p256, p256.row(), p256.sign), (p256, point, p256.sign))


def own_root(name, breaks, why, document, **row):
    refresh("keys", name, breaks, document, why, step="trusted-root", **row)


def of_key(row, sign, **changes):
    return envelope({**root(keys=[row]), **changes}, (None, row, sign))


nothing = lambda message: b"\1" * 64
own_root("rsa-1024", "key-size", "An RSA key of 1,024 bits, and its good signature.", of_key(small.row(), small.sign))
own_root("p384", "key-curve", "A P-384 key under ecdsa-sha2-nistp256, and its good signature.", of_key(p384.row(), p384.sign))
own_root("ed25519-short", "key-form", "An Ed25519 key of 31 bytes.", of_key({**edwards.row(), "keyval": {"public": edwards.public[2:]}}, edwards.sign))
own_root("ed25519-as-pem", "key-form", "An Ed25519 key as PEM, where TUF has 64 hex digits.", of_key({**edwards.row(), "keyval": {"public": p256.pem}}, edwards.sign))
own_root("rsa-as-pkcs1", "key-form", "An RSA key as -----BEGIN RSA PUBLIC KEY-----.", of_key({**root_key.row(), "keyval": {"public": root_key.pkcs1()}}, root_key.sign))
own_root("rsa-after-a-comment", "key-form", "Text before -----BEGIN PUBLIC KEY-----.", of_key({**root_key.row(), "keyval": {"public": "mine\n" + root_key.pem}}, root_key.sign))
own_root("unknown-type", "key-type", "A key of an unknown sort verifies nothing.", of_key({**root_key.row(), "keytype": "sphincs"}, root_key.sign))
own_root("unknown-scheme", "key-scheme", "A scheme that is not known verifies nothing.", of_key(root_key.row("rsassa-pss-md5"), root_key.sign))
own_root("type-of-another-scheme", "key-scheme", "An RSA key under ed25519.", of_key(root_key.row("ed25519"), root_key.sign))
own_root("without-a-value", "key-form", "A key without keyval.", of_key({"keytype": "rsa", "scheme": "rsassa-pss-sha256"}, root_key.sign))
own_root("ecdsa-not-der", "signature-form", "r and s side by side instead of DER.", of_key(p256.row(), p256.sign_raw))
wrong = root()
wrong["keys"] = {"00" * 32 if name == key_id(root_key.row()) else name: row for name, row in wrong["keys"].items()}
wrong["roles"]["root"]["keyids"] = ["00" * 32]
own_root("keyid-not-digest-of-key", "keyid-is-digest", "A key under an id that is not its digest.", {"signed": wrong, "signatures": [{"keyid": "00" * 32, "sig": root_key.sign(canonical(wrong).encode()).hex()}]})
upper = json.loads(text(root()).replace(key_id(root_key.row()), key_id(root_key.row()).upper()))
own_root("keyid-upper-case", "keyid-is-digest", "A key id in upper case.", {"signed": upper, "signatures": [{"keyid": key_id(root_key.row()).upper(), "sig": root_key.sign(canonical(upper).encode()).hex()}]})


def own(change, *signers):
    signed = root()
    change(signed)
    return envelope(signed, *(signers or [root_key]))


at_root = lambda **change: lambda signed: signed["roles"]["root"].update(change)
id_of_root = key_id(root_key.row())
own_root("keyid-twice-in-a-role", "keyids-unique", "A role names one key id twice.", own(at_root(keyids=[id_of_root] * 2)))
own_root("threshold-zero", "threshold-range", "A threshold of 0 asks for nobody.", own(at_root(threshold=0)))
own_root("threshold-negative", "threshold-range", "A threshold below 0.", own(at_root(threshold=-1)))
own_root("threshold-huge", "threshold-range", "A threshold over 1,000.", own(at_root(threshold=1001)))
own_root("threshold-text", "threshold-range", "The threshold is text.", own(at_root(threshold="1")))
own_root("threshold-true", "threshold-range", "true is not 1.", own(at_root(threshold=True)))
own_root("threshold-missing", "threshold-range", "No threshold.", own(lambda signed: signed["roles"]["root"].pop("threshold")))
own_root("threshold-over-keys", "threshold", "Two signatures are asked for, one key is listed.", own(at_root(threshold=2)))
own_root("keyids-not-listed", "threshold", "The role names a key that stands nowhere.", own(at_root(keyids=["00" * 32])))
own_root("keyids-not-texts", "keyids-form", "A key id is a number.", own(at_root(keyids=[1])))

# --- the root chain

refresh("root", "version-gap", "root-version", envelope(root(version=3), root_key), "Version 3 follows version 1.")
refresh("root", "version-same", "root-version", envelope(root(version=1), root_key), "Version 1 follows version 1.")
refresh("root", "version-highest", "root-version", envelope(root(version=2**53 - 1), root_key), "Fast-forward to the highest version.")
new = root(version=2, keys=[other.row()])
refresh("root", "by-new-key-alone", "root-old-threshold", envelope(new, other), "A new key that the old one did not sign for.")
refresh("root", "by-old-key-alone", "root-new-threshold", envelope(new, root_key), "A new key that did not sign itself.")
refresh("root", "below-old-threshold", "root-old-threshold", envelope(two, root_key), "The known root asks for two.", trusted="root-two.json")
both = root(version=2, keys=[root_key.row(), other.row()], threshold=2)
refresh("root", "below-new-threshold", "root-new-threshold", envelope(both, root_key), "The new root asks for two.")
refresh("root", "of-another-app", "root-app", envelope(root(version=2, **{"x-patchline-app": "com.example.other"}), root_key), "The next root is another app's.")
lost = root(version=2)
del lost["x-patchline-app"]
refresh("root", "of-no-app", "root-app", envelope(lost, root_key), "The next root names no app.")
refresh("root", "expired-at-the-end", "expiry", envelope(root(version=2, expires=NOW), root_key), "The last root expires now: it must expire later.", step="last-root")


def head_case(name, breaks, why, drop=(), area="header", **changes):
    signed = {name: value for name, value in {**root(version=2), **changes}.items() if name not in drop}
    refresh(area, name, breaks, envelope(signed, root_key), why)


head_case("version-zero", "version-range", "Versions start at 1.", version=0)
head_case("version-negative", "version-range", "A version below 0.", version=-2)
head_case("version-text", "version-range", "The version is text.", version="2")
head_case("version-true", "version-range", "The version is true.", version=True)
head_case("version-missing", "version-range", "No version.", drop=["version"])
head_case("expires-with-offset", "time-form", "+00:00 instead of Z.", expires="2099-01-01T00:00:00+00:00")
head_case("expires-with-fraction", "time-form", "A fraction of a second.", expires="2099-01-01T00:00:00.5Z")
head_case("expires-with-small-z", "time-form", "z instead of Z.", expires="2099-01-01T00:00:00z")
head_case("expires-with-space", "time-form", "A space instead of T.", expires="2099-01-01 00:00:00Z")
head_case("expires-on-30-february", "time-form", "There is no such day.", expires="2099-02-30T00:00:00Z")
head_case("expires-at-second-60", "time-form", "No leap seconds.", expires="2098-12-31T23:59:60Z")
head_case("expires-at-hour-24", "time-form", "No hour 24.", expires="2098-12-31T24:00:00Z")
head_case("expires-far", "time-form", "A year of five digits.", expires="12026-01-01T00:00:00Z")
head_case("expires-missing", "time-form", "Nothing that never expires.", drop=["expires"])
head_case("spec-version-2", "spec-version", "Another major version.", spec_version="2.0.0")
head_case("spec-version-1-alone", "spec-version", "1 without a second part.", spec_version="1")
head_case("spec-version-in-words", "spec-version", "A part that is no number.", spec_version="1.x")
head_case("spec-version-missing", "spec-version", "No spec_version.", drop=["spec_version"])
head_case("type-of-another-role", "role-type", "A timestamp where a root should be.", _type="timestamp")
head_case("type-in-upper-case", "role-type", "Root is not root.", _type="Root")
head_case("type-missing", "role-type", "No _type.", drop=["_type"])
head_case("consistent-snapshot-text", "root-form", "consistent_snapshot is text.", consistent_snapshot="true")
without = root(version=2)
del without["roles"]["timestamp"]
refresh("header", "role-missing", "root-form", envelope(without, root_key), "A root that names no timestamp role.")
head_case("keys-not-an-object", "root-form", "The keys are a list.", keys=[])
head_case("keys-257", "root-size", "More keys than a reader opens.", keys={f"{n:064x}": {} for n in range(257)})

# --- JSON, in a file that a lenient reader finds well signed; ../../json-refused has all of them by themselves

jsons = lambda name, breaks, why, document, **row: refresh("json", name, breaks, document, why, **row)
whole = text(envelope(two, root_key))
jsons("duplicate-key-in-signed", "json-duplicate-key", "version stands twice.", doubled(envelope(two, root_key), "version", "1"))
jsons("duplicate-key-in-envelope", "json-duplicate-key", "signed stands twice.", doubled(envelope(two, root_key), "signed", "{}"))
jsons("duplicate-key-escaped", "json-duplicate-key", "version stands twice, once as v\\u0065rsion.", whole.replace('"version":', '"v\\u0065rsion":1,"version":', 1))
jsons("float-version", "json-float", "2.0 is no integer.", whole.replace('"version":2', '"version":2.0', 1))
jsons("exponent-version", "json-float", "2e0 is no integer.", whole.replace('"version":2', '"version":2e0', 1))
jsons("integer-beyond-2-to-53", "json-integer-range", "An integer that other readers round.", envelope(root(version=2, **{"x-number": 2**53}), root_key))
jsons("depth-65", "json-depth", "Nested 65 deep.", whole.replace('"version":2', '"version":2,"x":' + "[" * 63 + "]" * 63, 1))
jsons("lone-surrogate", "json-surrogate", "Half of a surrogate pair.", whole.replace('"version":2', '"version":2,"x":"\\ud800"', 1))
jsons("byte-order-mark", "json-syntax", "A byte order mark before it.", b"\xef\xbb\xbf" + whole.encode())
jsons("not-utf-8", "json-utf-8", "A byte that is no UTF-8.", whole.encode().replace(b'"version":2', b'"version":2,"x":"\xff"', 1))
jsons("trailing-bytes", "json-trailing", "A second document behind it.", whole + "{}")
jsons("trailing-comma", "json-syntax", "A comma before the last brace.", whole[:-1] + ",}")
jsons("not-a-number", "json-syntax", "NaN, which Python's reader takes.", whole.replace('"version":2', '"version":2,"x":NaN', 1))
jsons("newline-in-text", "json-syntax", "A raw newline in a string.", whole.replace('"version":2', '"version":2,"x":"\n"', 1))
jsons("empty", "json-syntax", "No bytes.", b"")
jsons("a-list", "envelope-form", "A list instead of an object.", "[]")
jsons("signed-not-an-object", "envelope-form", "signed is a list.", {"signed": [], "signatures": []})
refresh("json", "over-512000-bytes", "size-limit", whole, "A good root, filled with spaces up to a byte too many.", padTo=512_001)

# --- timestamp

low = lambda version: {"version": version}
stamps = lambda name, breaks, why, document, before=AT_SNAPSHOT, **row: refresh("timestamp", name, breaks, document, why, step="timestamp", before=before, **row)
stamps("lower-version", "rollback", "Version 4 after version 5.", envelope(timestamp(low(3), version=4), online))
stamps("lower-snapshot-version", "rollback", "A newer timestamp that takes the snapshot back.", envelope(timestamp(low(2), version=6), online))
stamps("by-the-root-key", "threshold", "The root key may not sign a timestamp.", envelope(timestamp(low(3), version=6), root_key))
stamps("expired", "expiry", "It expires now: it must expire later.", envelope(timestamp(low(3), version=6, expires=NOW), online))
stamps("names-two-files", "timestamp-form", "A timestamp names the snapshot and nothing else.", envelope({**timestamp(low(3), version=6), "meta": {"snapshot.json": low(3), "targets.json": low(1)}}, online))
stamps("names-nothing", "timestamp-form", "A timestamp that names no snapshot.", envelope({**timestamp(low(3), version=6), "meta": {}}, online))
stamps("snapshot-version-zero", "version-range", "Versions start at 1.", envelope(timestamp(low(0), version=6), online))
stamps("snapshot-length-zero", "length-range", "No file is empty.", envelope(timestamp({"version": 3, "length": 0}, version=6), online))
stamps("snapshot-length-text", "length-range", "The length is text.", envelope(timestamp({"version": 3, "length": "1"}, version=6), online))
stamps("digest-short", "digest-form", "62 hex digits.", envelope(timestamp({"version": 3, "hashes": {"sha256": "00" * 31}}, version=6), online))
stamps("digest-upper-case", "digest-form", "Hex in upper case.", envelope(timestamp({"version": 3, "hashes": {"sha256": "AB" * 32}}, version=6), online))
stamps("signed-at-no-time", "time-form", "x-signed-at is no time.", envelope(timestamp(low(3), version=6, **{"x-signed-at": "now"}), online))
stamps("over-16384-bytes", "size-limit", "A good one, filled with spaces up to a byte too many.", envelope(timestamp(low(3), version=6), online), padTo=16_385)

# --- snapshot

snaps = lambda name, breaks, why, document, before=LOOSE_SNAPSHOT, step="snapshot", **row: refresh("snapshot", name, breaks, document, why, step=step, before=before, **row)
LATER = LOOSE_SNAPSHOT + [("stored-snapshot", "snapshot.json")]
snaps("wrong-length", "length", "Its bytes are more than the timestamp says.", text(good["snapshot"]) + " ", before=AT_SNAPSHOT)
snaps("wrong-digest", "digest", "Its bytes are others than the timestamp says.", text(good["snapshot"]).replace("3", "4", 1), before=AT_SNAPSHOT)
snaps("other-version", "version-named", "Its version is not the one that the timestamp names.", envelope(snapshot(version=4), online))
snaps("drops-a-role", "snapshot-keeps-roles", "A role that was listed before is gone.", envelope(snapshot(version=3, targets=1), online), before=LATER)
snaps("takes-a-role-back", "rollback", "A role has a lower version than before.", envelope(snapshot(version=3, targets=1, production=1), online), before=LOOSE_SNAPSHOT + [("stored-snapshot", "later-snapshot.json")])
write("trusted/later-snapshot.json", envelope(snapshot(version=2, targets=1, production=2), online))
nfc, nfd = "caf\u00e9", "cafe\u0301"
write("trusted/nfc-snapshot.json", envelope(snapshot(version=2, targets=1, **{nfc: 1}), online))
snaps("nfd-for-nfc", "names-by-bytes", "The listed café is another café: NFD instead of NFC.", envelope(snapshot(version=3, targets=1, **{nfd: 1}), online), before=LOOSE_SNAPSHOT + [("stored-snapshot", "nfc-snapshot.json")])
snaps("expired", "expiry", "It expires now: it must expire later.", envelope(snapshot(version=3, expires=NOW), online))
snaps("by-the-release-key", "threshold", "The channel's key may not sign a snapshot.", envelope(snapshot(version=3), release))
named = snapshot(version=3)
named["meta"]["production"] = {"version": 1}
snaps("name-without-json", "snapshot-form", "A file name that does not end in .json.", envelope(named, online))
snaps("role-version-zero", "version-range", "Versions start at 1.", envelope(snapshot(version=3, targets=0), online))
snaps("meta-not-an-object", "snapshot-form", "meta is a list.", envelope({**snapshot(version=3), "meta": []}, online))

# --- targets and delegated roles

places = lambda name, breaks, why, document, step="targets", before=AT_TARGETS, **row: refresh("targets", name, breaks, document, why, step=step, before=before, **row)
places("not-in-the-snapshot", "snapshot-lists-role", "A role that the snapshot does not list.", envelope(channel(), beta), before=AT_CHANNEL, step="beta", delegator="targets")
places("other-version", "version-named", "Its version is not the one that the snapshot names.", envelope(targets(version=2), online))
places("expired", "expiry", "It expires now: it must expire later.", envelope(targets(expires=NOW), online))
places("by-the-release-key", "threshold", "A channel's key may not sign the top role.", envelope(targets(), release))
write("trusted/bound-snapshot.json", envelope({**snapshot(version=3), "meta": {"targets.json": file(good["targets"]), "production.json": file(good["production"])}}, online))
BOUND = LOOSE_SNAPSHOT + [("snapshot", "bound-snapshot.json")]
places("wrong-length", "length", "Its bytes are more than the snapshot says.", text(good["targets"]) + " ", before=BOUND)
places("wrong-digest", "digest", "Its bytes are others than the snapshot says.", text(good["targets"]).replace("1", "2", 1), before=BOUND)
places("another-role-in-its-place", "threshold", "The top role's file where the channel's should be.", good["targets"], before=AT_CHANNEL, step="production", delegator="targets")
chan = lambda name, breaks, why, document, before=AT_CHANNEL, **row: places(name, breaks, why, document, step="production", delegator="targets", before=before, **row)
chan("channel-by-its-delegator", "threshold", "The delegator's key is not the role's.", envelope(channel(), online))
write("trusted/two-of-two-targets.json", envelope(targets(delegation(**who(release.row(), second.row(), threshold=2)), keys=table(release.row(), second.row())), online))
PAIR = AT_TARGETS + [("targets", "two-of-two-targets.json")]
chan("channel-below-threshold", "threshold", "One of two.", envelope(channel(), release), before=PAIR)
chan("channel-not-delegated", "delegation", "Nobody delegates to this role.", envelope(channel(), release), before=AT_TARGETS + [("targets", "no-delegations.json")])
write("trusted/no-delegations.json", envelope({**head("targets"), "targets": {}}, online))
chan("channel-older-than-named", "version-named", "An old, well-signed version.", envelope(channel(), release), before=LOOSE_SNAPSHOT + [("snapshot", "second-channel.json"), ("targets", "targets.json")])
write("trusted/second-channel.json", envelope(snapshot(version=3, targets=1, production=2), online))
rows = lambda name, breaks, why, *delegations, **extra: places(name, breaks, why, envelope(targets(*delegations, **extra), online))
rows("delegation-twice", "delegation-form", "One role is delegated to twice.", delegation(), delegation(paths=["beta/*"]))
rows("delegation-to-root", "delegation-form", "The name of a top role.", delegation(name="root"))
rows("delegation-without-name", "delegation-form", "An empty name.", delegation(name=""))
rows("delegation-by-paths-and-prefixes", "delegation-form", "paths and path_hash_prefixes.", delegation(path_hash_prefixes=["00"]))
rows("delegation-of-nothing", "delegation-form", "Neither paths nor path_hash_prefixes.", delegation(paths=None))
rows("delegation-terminating-text", "delegation-form", "terminating is text.", delegation(terminating="true"))
rows("delegation-terminating-missing", "delegation-form", "terminating is missing.", delegation(terminating=None))
rows("delegation-threshold-zero", "threshold-range", "A threshold of 0.", delegation(threshold=0))
rows("delegation-keyid-twice", "keyids-unique", "One key id twice.", delegation(keyids=[key_id(release.row())] * 2))
rows("delegation-keyid-not-digest-of-key", "keyid-is-digest", "A key under another's id.", delegation(), keys={"00" * 32: release.row()})
one = lambda **row: {"production/x": {"length": 1, "hashes": {"sha256": "00" * 32}, **row}}
chan("target-length-negative", "length-range", "A length below 0.", envelope(channel(one(length=-1)), release))
chan("target-length-missing", "length-range", "No length.", envelope(channel({"production/x": {"hashes": {"sha256": "00" * 32}}}), release))
chan("target-digest-missing", "digest-form", "No hashes.", envelope(channel({"production/x": {"length": 1}}), release))
chan("target-digest-short", "digest-form", "A short digest.", envelope(channel(one(hashes={"sha256": "00"})), release))
chan("target-not-an-object", "targets-form", "A target's row is a list.", envelope(channel({"production/x": []}), release))


def looks_up(name, breaks, why, target, paths=None, names=None):
    role = envelope(channel({names or target: {"length": 1, "hashes": {"sha256": "00" * 32}}}), release)
    before = AT_CHANNEL
    if paths:
        write(f"trusted/for-{name}.json", envelope(targets(delegation(paths=paths)), online))
        before = AT_TARGETS + [("targets", f"for-{name}.json")]
    chan(name, breaks, why, role, before=before, target=target)


looks_up("path-of-another-channel", "delegation-paths", "The role names a target of a channel that it was not given.", "beta/patchlist.json")
looks_up("path-across-a-slash", "delegation-paths", "* does not match /.", "production/a/b", paths=["production/*"])
looks_up("path-in-another-case", "delegation-paths", "Case counts.", "Production/x")
looks_up("path-above", "delegation-paths", "A path that only looks like one of its own.", "productionx/y")
looks_up("target-not-named", "target-named", "The role does not name it.", "production/y", names="production/x")

# --- entry keys of a channel

keyed = lambda name, breaks, why, rows: chan("entry-" + name, breaks, why, envelope(channel(entry_keys=rows), release))
keyed("keyid-not-digest-of-key", "keyid-is-digest", "An entry key under another id.", {"00" * 32: next(iter(entry_row(entry_key).values()))})
keyed("key-rsa-1024", "key-size", "An entry key of 1,024 bits.", entry_row(small))
keyed("key-scheme-pss", "entry-scheme", "Entries are signed with PKCS#1 v1.5 alone.", entry_row(entry_key, scheme="rsassa-pss-sha256"))
keyed("key-unreadable", "key-form", "No PEM.", (lambda row: {key_id(row): {**row, "usage": "entry"}})({"keytype": "rsa", "scheme": "rsa-pkcs1v15-sha256", "keyval": {"public": "no key"}}))
keyed("key-without-usage", "entry-usage", "A key that does not say what it is for.", entry_row(entry_key, usage=None))

# --- patch list: what refuses all of it

lists = lambda name, breaks, why, document, **row: case("list", name, breaks, "patch-list", document, why, app=APP, channel=CHANNEL, role="trusted/production.json", **row)
lists("of-another-app", "list-app", "Signed into the wrong channel's role.", patch_list(app="com.example.other"))
lists("of-another-channel", "list-channel", "Another channel's list.", patch_list(channel="beta"))
lists("other-format", "format", "Another format.", patch_list(format="patchline-list-v2"))
lists("app-with-slash", "name-grammar", "An app id that climbs.", patch_list(app="../x"))
lists("app-dot-dot", "name-grammar", "An app id that is a folder.", patch_list(app=".."))
lists("channel-named-dial", "name-grammar", "A channel named like a role.", patch_list(channel="dial"))
lists("channel-in-upper-case", "name-grammar", "Channels are a-z and 0-9.", patch_list(channel="Production"))
lists("serial-negative", "integer-range", "A serial below 0.", patch_list(serial=-1))
lists("serial-float", "json-float", "1.0 is no integer.", text(patch_list()).replace('"serial":1', '"serial":1.0'))
lists("published-with-offset", "time-form", "+01:00 instead of Z.", patch_list(published="2026-11-21T00:00:00+01:00"))
lists("patches-not-a-list", "list-form", "patches is an object.", patch_list(patches={}))
lists("duplicate-key-in-entry", "json-duplicate-key", "A member of an entry stands twice: no reader may choose.", text(patch_list(entry())).replace('"version":', '"version":"2","version":', 1))
lists("of-other-length", "length", "A byte more than the role names.", text(patch_list()) + " ", file=digests(text(patch_list()).encode()))
lists("of-other-digest", "digest", "Other bytes than the role names.", patch_list(serial=2), file=digests(text(patch_list()).encode()))

# --- patch list: what refuses one entry, and leaves the one behind it

GOOD = entry(patch="good")


def entries(name, breaks, why, row, **more):
    case("entry", name, breaks, "entry", patch_list(row, GOOD), why, app=APP, channel=CHANNEL, role="trusted/production.json", stands=["good 1"], **more)


script = digests(SCRIPT)
entries("not-an-object", "entry-form", "A row that is text.", "fix")
entries("patch-id-climbs", "name-grammar", "A patch id with slashes.", entry(patch="../../etc"))
entries("patch-id-dot-dot", "name-grammar", "A patch id that is a folder.", entry(patch=".."))
entries("patch-id-of-129-bytes", "name-grammar", "At most 128.", entry(patch="a" * 129))
entries("version-with-space", "name-grammar", "No spaces in labels.", entry(version="1 2"))
entries("version-empty", "name-grammar", "An empty label.", entry(version=""))
entries("version-a-number", "entry-form", "A label is text.", entry(version=1))
entries("kind-unknown", "entry-form", "Neither script nor bundle.", entry(kind="native"))
entries("size-negative", "integer-range", "A size below 0.", entry(size=-1))
entries("size-over-the-limit", "size-limit", "More than four billion bytes.", entry(size=4_000_000_001))
entries("size-text", "integer-range", "The size is text.", entry(size="1"))
entries("md5-short", "digest-form", "30 hex digits.", entry(md5="00" * 15))
entries("md5-upper-case", "digest-form", "Hex in upper case.", entry(md5="AB" * 16))
entries("sha1-missing", "digest-form", "No SHA-1.", entry(drop=["sha1"]))
entries("sha256-of-sha1-length", "digest-form", "40 hex digits.", entry(sha256="00" * 20))
entries("url-elsewhere", "url-layout", "An address on another server.", entry(url="https://evil.example/x"))
entries("url-of-another-object", "url-layout", "The path of other bytes.", entry(url="objects/00/" + "00" * 32))
entries("url-climbs", "url-layout", "A path that climbs.", entry(url="objects/../x"))
entries("url-of-a-bundle", "url-layout", "A script under a manifest's path.", entry(url=f"targets/production/fix/1/{script['sha256']}.manifest.json"))
entries("salt-short", "entry-form", "15 bytes.", entry(salt="5a" * 15))
entries("salt-missing", "entry-form", "No salt.", entry(drop=["salt"]))
entries("requires-of-no-name", "name-grammar", "A patch id that is none.", entry(requires={"a/b": ["00" * 32]}))
entries("requires-101", "entry-size", "More other patches than an entry may require.", entry(requires={f"p{n}": ["00" * 32] for n in range(101)}))
entries("requires-101-contents", "entry-size", "More contents of another patch than an entry may name.", entry(requires={"web": [f"{n:064x}" for n in range(101)]}))
entries("rules-65", "entry-size", "More rules than an entry may have.", entry(rules={f"new{n}": 1 for n in range(65)}))
entries("requires-of-no-digest", "digest-form", "What is required is no digest.", entry(requires={"web": ["1.0"]}))
entries("rollout-over-10000", "integer-range", "More devices than there are.", entry(rules={"rollout": 10_001}))
entries("rollout-negative", "integer-range", "Fewer than none.", entry(rules={"rollout": -1}))
entries("app-version-in-words", "rule-grammar", "No comparator.", entry(rules={"appVersion": "2.1"}))
entries("dial-unknown", "rule-grammar", "Neither optional nor required.", entry(rules={"dial": "ignored"}))
entries("users-in-the-clear", "digest-form", "A user's name instead of a hash.", entry(rules={"users": ["alice"]}))
entries("security-flag", "entry-form", "security is no object.", entry(security=True))
entries("security-in-two-lines", "entry-form", "What it says of a hole does not stand on one line.", entry(security={"text": "a\nb"}))
entries("security-too-long", "entry-size", "It says more of a hole than 2,000 characters.", entry(security={"text": "a" * 2_001}))
entries("security-in-the-clear", "entry-form", "A link that is not https.", entry(security={"text": "a", "url": "http://example.com/"}))
entries("runs-in-a-worker", "entry-form", "A side that there is not.", entry(runsIn="worker"))
entries("runs-in-both-as-a-list", "entry-form", "Sides as a list.", entry(runsIn=["host", "page"]))
entries("pages-of-the-host", "entry-form", "Pages of a script that runs in none.", entry(runsIn="host", pages=["/cart"]))
entries("pages-alone", "entry-form", "Pages of a script that does not say that it runs in pages.", entry(pages=["/cart"]))
entries("pages-empty", "entry-form", "Runs in pages, and in none of them.", entry(runsIn="page", pages=[]))
entries("pages-without-a-slash", "entry-form", "A pattern that is no path.", entry(runsIn="page", pages=["/", "cart"]))
entries("pages-that-climb", "entry-form", "A pattern that climbs.", entry(runsIn="page", pages=["/a/../b"]))
entries("pages-101", "entry-size", "More patterns than a script may have.", entry(runsIn="both", pages=[f"/{n}" for n in range(101)]))
entries("mandatory-text", "entry-form", "mandatory is text.", entry(rules={"mandatory": "yes"}))
case("entry", "label-twice", "label-once", "entry", patch_list(GOOD, GOOD), "One label twice.", app=APP, channel=CHANNEL, role="trusted/production.json", stands=["good 1"])
case("entry", "label-with-two-sizes", "label-once", "entry", patch_list(GOOD, entry(patch="good", size=1)), "One label with two sizes and one digest.", app=APP, channel=CHANNEL, role="trusted/production.json", stands=["good 1"])
second_object = digests(b"two")
case("entry", "label-with-two-objects", "label-once", "entry", patch_list(GOOD, entry(patch="good", url=f"objects/{second_object['sha256'][:2]}/{second_object['sha256']}", **second_object)), "One label with two objects.", app=APP, channel=CHANNEL, role="trusted/production.json", stands=["good 1"])


def signed_otherwise(name, why, breaks="entry-signature", **changes):
    """Signed for an entry that differs in one thing."""
    about = {name: changes.pop(name) for name in ("app", "channel") if name in changes}
    entries(name, breaks, why, entry(signed=lambda row: entry_key.sign_v15(entry_statement({**row, **changes}, **about))))


signed_otherwise("signature-of-another-app", "Moved from another app.", app="com.example.other")
signed_otherwise("signature-of-another-channel", "Moved from beta to production.", channel="beta")
signed_otherwise("signature-of-another-patch", "Moved from another patch.", patchId="other")
signed_otherwise("signature-of-another-version", "Moved from another version.", version="2")
signed_otherwise("signature-of-another-kind", "A bundle's signature on a script.", kind="bundle")
signed_otherwise("signature-of-another-size", "Signed for another size.", size=1)
signed_otherwise("signature-of-another-md5", "Signed for another MD5.", md5="00" * 16)
signed_otherwise("signature-of-another-sha1", "Signed for another SHA-1.", sha1="00" * 20)
signed_otherwise("signature-of-another-sha256", "Signed for other bytes.", sha256="00" * 32)
forge = lambda name, why, sign, breaks="entry-signature", **how: entries(name, breaks, why, entry(signed=lambda row: sign(entry_statement(row)), **how))
forge("signature-of-an-asset", "An asset's statement with the same digests: another prefix.", lambda m: entry_key.sign_v15(asset_statement({**script, "path": "fix"})))
forge("signature-without-prefix", "The JSON alone.", lambda m: entry_key.sign_v15(m.split(b"\n", 1)[1]))
forge("signature-by-another-key", "Another key under the listed key's id.", other.sign_v15)
forge("signature-pss", "PSS where PKCS#1 v1.5 should be.", entry_key.sign, breaks="entry-scheme")
forge("signature-with-sha1", "A DigestInfo of SHA-1.", lambda m: entry_key.sign_v15(m, "3021300906052b0e03021a05000414", "sha1"), breaks="pkcs1-padding")
forge("signature-with-md5", "A DigestInfo of MD5.", lambda m: entry_key.sign_v15(m, "3020300c06082a864886f70d020505000410", "md5"), breaks="pkcs1-padding")
forge("signature-without-digest-info", "The bare digest, as JSPatch signs.", lambda m: entry_key.sign_v15(m, ""), breaks="pkcs1-padding")
forge("signature-with-short-fill", "Eight FF bytes, and rubbish behind the digest (Bleichenbacher 2006).", lambda m: entry_key.sign_v15(m, fill=b"\xff" * 8, tail=b"\x55" * 322), breaks="pkcs1-padding")
forge("signature-with-other-fill", "A fill of other bytes than FF.", lambda m: entry_key.sign_v15(m, fill=b"\xfe" * (entry_key.size - 54)), breaks="pkcs1-padding")
forge("signature-with-long-length", "A DigestInfo whose length is written in two bytes.", lambda m: entry_key.sign_v15(m, "308131300d060960864801650304020105000420"), breaks="pkcs1-padding")
pure = entry_key.sign_v15(entry_statement(GOOD))
entries("signature-missing", "entry-form", "No signature.", entry(drop=["signature"]))
entries("signature-scheme-pss", "entry-scheme", "Another scheme's name.", entry(signature=signature(pure, scheme="rsassa-pss-sha256")))
entries("signature-by-unknown-key", "entry-key", "A key that the channel does not list.", entry(signature=signature(pure, keyid="00" * 32)))
entries("signature-of-255-bytes", "signature-length", "RSA of 2,040 bits.", entry(signature=signature(b"\1" * 255)))
entries("signature-of-1025-bytes", "signature-length", "RSA of 8,200 bits.", entry(signature=signature(b"\1" * 1025)))
spell = lambda change: {**signature(pure), "sig": change(base64.b64encode(pure + b"\1").decode())}
entries("signature-without-padding", "base64", "No = at the end.", entry(signature=spell(lambda s: s.rstrip("="))))
entries("signature-with-newline", "base64", "A newline in the middle.", entry(signature=spell(lambda s: s[:64] + "\n" + s[64:])))
entries("signature-url-safe", "base64", "The alphabet with - and _.", entry(signature=spell(lambda s: s.replace("+", "-").replace("/", "_"))))
entries("signature-with-spare-bits", "base64", "Bits behind the last byte.", entry(signature=spell(lambda s: s[:-3] + "R==")))
write("trusted/role-of-other-usage.json", envelope(channel(entry_keys=entry_row(entry_key, usage="jspatch")), release))
case("entry", "key-wrong-usage", "entry-usage", "entry", patch_list(GOOD), "The key is listed for another use: it signs no entries.", app=APP, channel=CHANNEL, role="trusted/role-of-other-usage.json", stands=[])

# --- the bytes of an entry

objects = lambda name, field, why, **row: case("object", name, "entry-digest", "object", SCRIPT, why, ending=".js", entry={**script, **row})
objects("other-size", "size", "A byte more than its entry says.", size=len(SCRIPT) - 1)
objects("other-md5", "md5", "SHA-256 fits, MD5 does not.", md5="00" * 16)
objects("other-sha1", "sha1", "SHA-256 fits, SHA-1 does not.", sha1="00" * 20)
objects("other-sha256", "sha256", "MD5 and SHA-1 fit, SHA-256 does not.", sha256="00" * 32)

# --- asset manifest

mans = lambda name, breaks, why, document: case("manifest", name, breaks, "asset-manifest", document, why)
paths = lambda name, breaks, why, *others: mans(name, breaks, why, manifest(*sorted([asset(), *others], key=lambda row: row["path"].encode())))
mans("other-format", "format", "Another format.", manifest(format="patchline-manifest-v2"))
mans("not-sorted", "manifest-order", "Rows in another order.", manifest(asset("index.html"), asset("a.js")))
mans("sorted-by-utf-16", "manifest-order", "U+1F600 before U+FFFD is the order of UTF-16, not of UTF-8.", manifest(asset("index.html"), asset("\U0001f600", url="/1"), asset("\ufffd", url="/2")))
paths("path-twice", "manifest-unique", "One path twice.", asset(url="/other"))
paths("paths-equal-but-for-case", "manifest-unique", "One file where case does not count.", asset("INDEX.html"))
paths("paths-equal-when-folded", "manifest-unique", "ß folds to ss.", asset("strasse", url="/1"), asset("straße", url="/2"))
paths("file-and-folder", "manifest-unique", "a is a file and a folder.", asset("a"), asset("a/b"))
paths("path-empty", "path-grammar", "No name.", asset("", url="/x"))
paths("path-absolute", "path-grammar", "From the root of the disk.", asset("/etc/passwd", url="/x"))
paths("path-dot-dot", "path-grammar", "Out of the bundle.", asset("../x", url="/x"))
paths("path-dot-dot-inside", "path-grammar", "Out and in again.", asset("a/../b", url="/x"))
paths("path-dot", "path-grammar", "A segment that is nothing.", asset("./x", url="/x"))
paths("path-with-empty-segment", "path-grammar", "Two slashes.", asset("a//b", url="/x"))
paths("path-ends-in-slash", "path-grammar", "A folder is no file.", asset("a/", url="/x"))
paths("path-with-backslash", "path-grammar", "A separator elsewhere.", asset("a\\b", url="/x"))
paths("path-with-nul", "path-grammar", "Ends the name in C.", asset("a\0b", url="/x"))
paths("path-with-delete", "path-grammar", "A control character.", asset("a\x7fb", url="/x"))
paths("path-with-c1-control", "path-grammar", "A control character beyond ASCII.", asset("a\u0085b", url="/x"))
paths("path-not-nfc", "path-grammar", "é as two characters.", asset("cafe\u0301", url="/x"))
paths("path-segment-of-256-bytes", "path-grammar", "A name that no file system takes.", asset("a" * 256, url="/x"))
paths("path-of-1025-bytes", "path-grammar", "A path that is too long.", asset("/".join(["a" * 204] * 5) + "/", url="/x"))
paths("url-without-slash", "url-grammar", "A relative URL.", asset("a", url="a"))
paths("url-climbs-encoded", "url-grammar", "%2e%2e is .. .", asset("a", url="/%2e%2e/x"))
paths("url-with-encoded-slash", "url-grammar", "%2F is no separator and no name.", asset("a", url="/a%2Fb"))
paths("url-with-encoded-nul", "url-grammar", "%00.", asset("a", url="/a%00"))
paths("url-with-query", "url-grammar", "A query.", asset("a", url="/a?b"))
paths("url-with-fragment", "url-grammar", "A fragment.", asset("a", url="/a#b"))
paths("url-with-bad-escape", "url-grammar", "%zz.", asset("a", url="/%zz"))
paths("url-not-utf-8", "url-grammar", "%ff.", asset("a", url="/%ff"))
paths("url-with-raw-space", "url-grammar", "A space that is not encoded.", asset("a", url="/a b"))
paths("url-not-ascii", "url-grammar", "é that is not encoded.", asset("a", url="/é"))
paths("url-on-another-host", "url-grammar", "Two slashes name a host.", asset("a", url="//evil.example/x"))
paths("url-of-the-page-api", "url-grammar", "The place of Patchline's own API.", asset("a", url="/__patchline/confirm"))
paths("url-twice", "manifest-unique", "One URL in two spellings.", asset("ab", url="/ab"), asset("b", url="/a%62"))
paths("type-unknown", "manifest-form", "No such type.", asset("a", type="exe"))
paths("cacheable-text", "manifest-form", "cacheable is text.", asset("a", cacheable="yes"))
mans("size-float", "json-float", "A size with a fraction.", text(manifest()).replace('"size":10', '"size":10.0'))
paths("sha256-missing", "digest-form", "No SHA-256.", asset("a", drop=["sha256"]))
paths("source-map-missing", "manifest-form", "A source map that is no asset.", asset("a", sourceMap="a.map"))
paths("source-map-climbs", "path-grammar", "A source map out of the bundle.", asset("a", sourceMap="../a.map"))
mans("index-not-an-asset", "manifest-form", "The index is no asset.", manifest(index="start.html"))
mans("index-missing", "manifest-form", "No index.", manifest(drop=["index"]))
mans("assets-missing", "manifest-form", "No assets.", manifest(drop=["assets"]))
mans("route-without-slash", "route-grammar", "A relative route.", manifest(routes=["cart"]))
mans("route-climbs", "route-grammar", "A route with .. .", manifest(routes=["/../x"]))
mans("route-with-early-rest", "route-grammar", "** stands at the end alone.", manifest(routes=["/**/x"]))
paths("path-in-33-folders", "manifest-size", "A file in more folders than a device makes for it.", asset("a/" * 33 + "x"))
mans("platforms-65", "manifest-size", "More platforms than there are.", manifest(compatibility={f"p{n}": "1" for n in range(65)}))
mans("platform-twice", "manifest-form", "One platform in NFC and NFD: a dictionary keeps one.", manifest(compatibility={nfc: "1", nfd: "2"}))
mans("created-with-offset", "time-form", "+01:00 instead of Z.", manifest(created="2026-11-21T00:00:00+01:00"))
mans("version-with-slash", "name-grammar", "A label that climbs.", manifest(version="../1"))
mans("duplicate-key", "json-duplicate-key", "A member stands twice.", text(manifest()).replace('"index":', '"index":"evil.html","index":'))

# --- manifest with its signature column


def bundle(name, breaks, why, document=None, sigs=None, of=None, **row):
    document = document or manifest(asset("a.js"), asset("index.html"))
    data = text(document)
    if sigs is None:
        sigs = column([entry_key.sign_v15(asset_statement(row, document["app"], document["patchId"])) for row in document["assets"]])
    write(f"bundle/{name}.sigs", sigs)
    case("bundle", name, breaks, "bundle", data, why, column=f"bundle/{name}.sigs", app=APP, role="trusted/production.json", entry={"patchId": "web", "version": "1.0.0", **(of or digests(data.encode()))}, **row)


pair = manifest(asset("a.js"), asset("index.html"))
marks = [entry_key.sign_v15(asset_statement(row)) for row in pair["assets"]]
bundle("other-size", "entry-digest", "Not the manifest that the entry names.", of={**digests(text(pair).encode()), "size": 1})
bundle("other-md5", "entry-digest", "SHA-256 fits, MD5 does not.", of={**digests(text(pair).encode()), "md5": "00" * 16})
bundle("other-sha256", "entry-digest", "MD5 and SHA-1 fit, SHA-256 does not.", of={**digests(text(pair).encode()), "sha256": "00" * 32})
bundle("of-another-app", "manifest-app", "Another app's manifest.", manifest(app="com.example.other"))
bundle("of-another-patch", "manifest-patch", "Another patch's manifest.", manifest(patchId="docs"))
bundle("of-another-version", "manifest-version", "Another version's manifest.", manifest(version="0.9.0"))
bundle("signatures-swapped", "asset-signature", "Two signatures in each other's place.", sigs=column(marks[::-1]))
bundle("signature-of-another-path", "asset-signature", "An asset's signature under another name.", sigs=column([entry_key.sign_v15(asset_statement({**pair["assets"][0], "path": "b.js"})), marks[1]]))
bundle("signature-of-another-app", "asset-signature", "Moved from another app.", sigs=column([entry_key.sign_v15(asset_statement(pair["assets"][0], app="com.example.other")), marks[1]]))
bundle("signature-of-another-patch", "asset-signature", "Moved from another patch.", sigs=column([entry_key.sign_v15(asset_statement(pair["assets"][0], patch="docs")), marks[1]]))
bundle("signature-of-other-bytes", "asset-signature", "Signed for other bytes.", sigs=column([entry_key.sign_v15(asset_statement({**pair["assets"][0], "sha256": "00" * 32})), marks[1]]))
bundle("signature-by-another-key", "asset-signature", "Another key under the listed key's id.", sigs=column([other.sign_v15(asset_statement(row)) for row in pair["assets"]]))
bundle("signature-by-unknown-key", "entry-key", "A key that the channel does not list.", sigs=column(marks, keyid="00" * 32))
bundle("column-count-lower", "column-count", "Fewer signatures than assets.", sigs=column(marks[:1]))
bundle("column-count-higher", "column-count", "More signatures than assets.", sigs=column(marks + marks[:1]))
bundle("column-other-magic", "column-form", "Another format.", sigs=column(marks, magic=b"PLSIGS2\n"))
bundle("column-cut-in-header", "column-form", "45 bytes.", sigs=column(marks)[:45])
bundle("column-empty", "column-form", "No bytes.", sigs=b"")
bundle("column-cut", "column-length", "The last byte is missing.", sigs=column(marks)[:-1])
bundle("column-with-a-byte-more", "column-length", "A byte behind the last signature.", sigs=column(marks, tail=b"\0"))
bundle("column-length-zero", "column-length", "Signatures of no bytes.", sigs=column([b"", b""]))
bundle("column-length-255", "column-length", "RSA of 2,040 bits.", sigs=column([b"\1" * 255] * 2))
bundle("column-length-1025", "column-length", "RSA of 8,200 bits.", sigs=column([b"\1" * 1025] * 2))
bundle("column-count-huge", "column-count", "A count of four billion.", sigs=column(marks, count=2**32 - 1))

# --- dial and release header

dial = lambda **changes: {"format": "patchline-dial-v1", "app": APP, "channel": CHANNEL, "rows": [], **changes}
turn = lambda **changes: {"patchId": "web", "sha256": "00" * 32, "rollout": 10, **changes}
dials = lambda name, breaks, why, document: case("dial", name, breaks, "dial", document, why)
dials("other-format", "format", "Another format.", dial(format="patchline-dial-v2"))
dials("rollout-over-10000", "integer-range", "More devices than there are.", dial(rows=[turn(rollout=10_001)]))
dials("rollout-missing", "integer-range", "No share.", dial(rows=[{"patchId": "web", "sha256": "00" * 32}]))
dials("paused-text", "dial-form", "paused is text.", dial(rows=[turn(paused="no")]))
dials("digest-short", "digest-form", "A short digest.", dial(rows=[turn(sha256="00")]))
dials("patch-id-climbs", "name-grammar", "A patch id with slashes.", dial(rows=[turn(patchId="../x")]))
base = lambda **changes: {"format": "patchline-release-v1", "app": APP, "channel": CHANNEL, "base": {"roleVersion": 1, "sha256": "00" * 32, **changes}}
heads = lambda name, breaks, why, document: case("release", name, breaks, "release-header", document, why)
heads("other-format", "format", "Another format.", {**base(), "format": "patchline-release-v2"})
heads("base-missing", "release-form", "A first release says null.", {name: value for name, value in base().items() if name != "base"})
heads("base-version-zero", "version-range", "Versions start at 1.", base(roleVersion=0))
heads("base-version-highest", "version-range", "No version could follow.", base(roleVersion=2**53 - 1))
heads("base-digest-short", "digest-form", "A short digest.", base(sha256="00"))
heads("channel-named-snapshot", "name-grammar", "A channel named like a role.", {**base(), "channel": "snapshot"})

# --- public keys

pems = lambda name, breaks, why, document: case("pem", name, breaks, "public-key", document, why, ending=".pem")
pems("rsa-1024", "key-size", "RSA of 1,024 bits.", small.pem)
pems("rsa-8193", "key-size", "RSA of more than 8,192 bits: each check of a signature would cost.", numbers_pem(2**8192 + 1, 65537))
pems("rsa-exponent-of-33-bits", "key-size", "An exponent of more than 32 bits: the same.", numbers_pem(2**3071 + 1, 2**32 + 1))
pems("p384", "key-curve", "Another curve.", p384.pem)
pems("private-key", "key-form", "A private key where a public one should be.", (KEYS / "root.key").read_text())
pems("text-before", "key-form", "A comment before it.", "mine\n" + root_key.pem)
pems("pkcs1", "key-form", "-----BEGIN RSA PUBLIC KEY-----.", root_key.pkcs1())
pems("cut", "key-form", "Half of a key.", root_key.pem[:200] + "\n-----END PUBLIC KEY-----\n")
pems("empty", "key-form", "No bytes.", "")
pems("encrypted", "key-form", "A public key under the header of an encrypted one, as -----BEGIN PUBLIC KEY----- never is. The passphrase is `patchline`; no reader may ask for it.", root_key.encrypted(b"patchline"))
pems("two-keys", "key-form", "A block that is no key, and a key behind it: some readers would take the one, some the other.", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n" + root_key.pem)
pems("encrypted-key-behind", "key-form", "No key, and an encrypted private key behind it, whose passphrase is `a`; no reader may ask for it.", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n" + (KEYS / "encrypted.key").read_text())
pems("over-65536-bytes", "size-limit", "A good key and many newlines.", root_key.pem + "\n" * 65_000)

# --- what looks odd and must be accepted

takes = lambda name, why, document, step="root", **row: refresh("accepted", name, "nothing", document, why, step=step, **row)
for salt, word in [(0, "no-salt"), (20, "a-salt-of-20"), (None, "the-longest-salt")]:
    takes(f"pss-with-{word}", "PSS is read with a salt of any length.", envelope(two, pss(salt=salt)))
takes("ed25519", "A root by an Ed25519 key.", of_key(edwards.row(), edwards.sign), step="trusted-root")
takes("ecdsa-p256", "A root by a P-256 key.", of_key(p256.row(), p256.sign), step="trusted-root")
old_type = Curve(ec.SECP256R1(), keytype="ecdsa-sha2-nistp256")
takes("ecdsa-by-its-old-name", "The older name of the key type.", of_key(old_type.row(), old_type.sign), step="trusted-root")
takes("ecdsa-point-compressed", "A P-256 key with a compressed point.", of_key(point, p256.sign), step="trusted-root")
takes("unknown-members", "Members that a reader does not know stay, and stay signed.", envelope(root(version=2, **{"x-new": {"z": None, "a": [1]}}), root_key))
takes("unknown-key-beside", "A key of an unknown sort breaks nothing.", envelope(root(version=2, keys=[root_key.row(), {"keytype": "new", "scheme": "new", "keyval": {"public": "x"}}]), root_key))
takes("unknown-signature-beside", "A signature by a key that nobody lists is passed over.", envelope(two, root_key, other))
takes("empty-signature-beside", "An empty signature counts as none.", {**sig, "signatures": sig["signatures"] + [{"keyid": "00" * 32, "sig": ""}]})
takes("spaced-and-unsorted", "The signature covers canonical JSON, not these bytes.", json.dumps(dict(reversed(sig.items())), indent=2))
takes("escaped-letters", "Escapes that need not be.", whole.replace('"_type"', '"\\u005ftype"', 1))
takes("spec-version-1-99", "A later minor version.", envelope({**two, "spec_version": "1.99.0"}, root_key))
takes("expired-root-in-between", "Only the last root must not be expired.", envelope(root(version=2, expires="2020-01-01T00:00:00Z"), root_key))
takes("new-root-key", "A new key, with the old one's consent.", envelope(new, root_key, other))
takes("timestamp-of-the-same-version", "Nothing new: kept, and nothing to store.", good["timestamp"], step="timestamp", before=AT_SNAPSHOT)
takes("timestamp-without-length-and-digest", "Both may be left out.", envelope(timestamp(low(3), version=6), online), step="timestamp", before=AT_SNAPSHOT)
takes("two-cafes-in-a-snapshot", "NFC and NFD are two names.", envelope(snapshot(version=3, targets=1, **{nfc: 1, nfd: 2}), online), step="snapshot", before=LOOSE_SNAPSHOT)
cafes = {f"production/{name}": {"length": 1, "hashes": {"sha256": "00" * 32}} for name in (nfc, nfd)}
takes("two-cafes-among-targets", "NFC and NFD are two targets.", envelope(channel(cafes), release), step="production", delegator="targets", before=AT_CHANNEL, targets=2)
bins = delegation(paths=None, path_hash_prefixes=[hashlib.sha256(b"production/x").hexdigest()[:2]])
write("trusted/bins.json", envelope(targets(bins), online))
takes("target-in-a-hash-bin", "A role that was given paths by the start of their digests.", envelope(channel(one()), release), step="production", delegator="targets", target="production/x", before=AT_TARGETS + [("targets", "bins.json")])
case("accepted", "list-with-an-unknown-rule", "nothing", "entry", patch_list(entry(rules={"new": 1}), GOOD), "Read, and taken by no device that cannot judge it.", app=APP, channel=CHANNEL, role="trusted/production.json", stands=["fix 1", "good 1"])
case("accepted", "list-with-a-security-version", "nothing", "entry", patch_list(entry(security={"text": "é" * 2_000, "url": "https://example.com/7?a#b", "new": 1}), GOOD), "Marked as one that closes a security hole, with as much as may be said of it.", app=APP, channel=CHANNEL, role="trusted/production.json", stands=["fix 1", "good 1"])
case("accepted", "list-with-a-script-of-pages", "nothing", "entry", patch_list(entry(runsIn="both", pages=[f"/item/{n}/*" for n in range(99)] + ["/docs/**"]), GOOD), "A script of pages, with as many patterns as it may have.", app=APP, channel=CHANNEL, role="trusted/production.json", stands=["fix 1", "good 1"])
case("accepted", "list-with-an-unknown-member", "nothing", "entry", patch_list(entry(new=1), GOOD, new=1), "Members that a reader does not know.", app=APP, channel=CHANNEL, role="trusted/production.json", stands=["fix 1", "good 1"])
bundle_marks = column(marks)
write("accepted/bundle.sigs", bundle_marks)
case("accepted", "bundle", "nothing", "bundle", text(pair), "Every row with its signature.", column="accepted/bundle.sigs", app=APP, role="trusted/production.json", entry={"patchId": "web", "version": "1.0.0", **digests(text(pair).encode())})
case("accepted", "manifest-of-odd-paths", "nothing", "asset-manifest", manifest(*sorted([asset(), asset("a b.txt", url="/a%20b.txt"), asset("café.svg", url="/caf%C3%A9.svg"), asset("%2e%2e", url="/%252e%252e"), asset("...", url="/...")], key=lambda row: row["path"].encode())), "Spaces, letters beyond ASCII, dots that do not climb.")

for area, cases in areas.items():
    write(f"{area}/cases.json", json.dumps({"format": "patchline-hostile-v1", "cases": cases}, indent=1, ensure_ascii=False) + "\n")
print(sum(map(len, areas.values())), "cases")
