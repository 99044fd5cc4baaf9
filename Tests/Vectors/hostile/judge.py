#!/usr/bin/env python3
"""Offers the roles of this folder to python-tuf and compares: each case must end there as it does here, or stand below.

Needs `tuf` and `securesystemslib[crypto]`. python-tuf has no lists, manifests and columns, so those are not offered.
"""

import json
import sys
from datetime import datetime, timezone
from pathlib import Path

from tuf.api.exceptions import DownloadError, EqualVersionNumberError, RepositoryError
from tuf.api.metadata import Metadata
from tuf.ngclient._internal.trusted_metadata_set import TrustedMetadataSet
from tuf.ngclient.config import EnvelopeType

HERE = Path(__file__).resolve().parent

# Where python-tuf ends differently, and why. Each of these must still differ.
DIFFERENT = {
    "Python's JSON reader keeps the last of two members": [
        "json/duplicate-key-in-signed",
        "json/duplicate-key-in-envelope",
        "json/duplicate-key-escaped",
    ],
    "Python's integers have no end": [
        "json/integer-beyond-2-to-53",
    ],
    "its downloader limits sizes, not its rules": [
        "json/over-512000-bytes",
        "timestamp/over-16384-bytes",
    ],
    "it counts key ids, not key material": [
        "keys/two-ids-of-one-key",
        "keys/two-spellings-of-one-key",
        "keys/two-schemes-of-one-key",
        "keys/two-points-of-one-key",
    ],
    "it does not compare key ids with keys": [
        "keys/keyid-not-digest-of-key",
        "keys/keyid-upper-case",
        "targets/delegation-keyid-not-digest-of-key",
    ],
    "it takes keys of any size": [
        "keys/rsa-1024",
    ],
    "its PEM reader takes other forms": [
        "keys/rsa-as-pkcs1",
        "keys/rsa-after-a-comment",
    ],
    "Python's True is 1": [
        "keys/threshold-true",
    ],
    "it does not look at the type": [
        "header/consistent-snapshot-text",
        "targets/delegation-terminating-text",
    ],
    "it takes hex in any case": [
        "signatures/upper-case-hex",
    ],
    "it takes any number of signatures": [
        "signatures/sixty-five",
    ],
    "it looks at names and digests when it downloads": [
        "snapshot/name-without-json",
        "timestamp/digest-short",
        "timestamp/digest-upper-case",
        "targets/target-digest-short",
    ],
    "it takes an empty file": [
        "timestamp/snapshot-length-zero",
    ],
    "it does not know Patchline's members": [
        "root/of-another-app",
        "root/of-no-app",
        "timestamp/signed-at-no-time",
        "targets/entry-keyid-not-digest-of-key",
        "targets/entry-key-rsa-1024",
        "targets/entry-key-scheme-pss",
        "targets/entry-key-unreadable",
        "targets/entry-key-without-usage",
    ],
    "it refuses the whole file for a key of an unknown sort": [
        "accepted/unknown-key-beside",
    ],
}


def take(data, case):
    """The case's steps, by python-tuf's rules; raises where it refuses."""
    if case["step"] == "trusted-root":
        return TrustedMetadataSet(data, EnvelopeType.METADATA)
    trusted = TrustedMetadataSet((HERE / case["trusted"]).read_bytes(), EnvelopeType.METADATA)
    trusted.reference_time = datetime.strptime(case["time"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    for step, path in case["before"]:
        offer(trusted, (HERE / path).read_bytes(), step, case)
    offer(trusted, data, case["step"], case)
    if "target" in case:
        names = [name for name, _ in trusted.targets.delegations.get_roles_for_target(case["target"])]
        if case["step"] not in names or case["target"] not in trusted[case["step"]].targets:
            raise RepositoryError("not this role's target")
    return trusted


def offer(trusted, data, step, case):
    match step:
        case "root" | "last-root":
            trusted.update_root(data)
            if step == "last-root" and trusted.root.is_expired(trusted.reference_time):
                raise RepositoryError("root is expired")
        case "timestamp":
            trusted.update_timestamp(data)
        case "snapshot" | "stored-snapshot":
            trusted.update_snapshot(data, trusted=step == "stored-snapshot")
        case "targets":
            trusted.update_targets(data)
        case role:
            trusted.update_delegated_targets(data, role, case["delegator"])


def verdict(case):
    data = (HERE / case["document"]).read_bytes()
    data += b" " * (case.get("padTo", 0) - len(data))
    try:
        take(data, case)
    except EqualVersionNumberError:  # Its word for: nothing new.
        return "accepted"
    except (RepositoryError, DownloadError, ValueError) as error:
        return f"refused: {type(error).__name__}: {error}"
    except Exception as error:  # It falls over where it should refuse.
        return f"fell: {type(error).__name__}: {error}"
    return "accepted"


explained = {name for names in DIFFERENT.values() for name in names}
offered, same, wrong = 0, 0, []
for table in sorted(HERE.glob("*/cases.json")):
    for case in json.loads(table.read_text())["cases"]:
        if case["reads"] != "metadata":
            continue
        offered += 1
        name = f"{table.parent.name}/{case['case']}"
        found = verdict(case)
        agrees = (found == "accepted") == (case["expect"] == "accepted")
        same += agrees
        if agrees == (name in explained):
            wrong.append(f"{name}\n    here: {case['expect']}\n    python-tuf: {found}")
print(*wrong, sep="\n")
print(f"{offered} cases offered to python-tuf: {same} end alike, {offered - same} do not, {len(wrong)} of them unexplained")
sys.exit(1 if wrong else 0)
