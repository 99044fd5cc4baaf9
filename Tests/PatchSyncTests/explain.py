"""A second implementation of the choice of versions, and of its explanation.

usage: explain.py CASES.jsonl

A line is a list's entries, a dial, and devices: each one's facts, a time, and what the engine made of them. Prints which outcomes and
reasons occurred, and how many devices agree; the first difference ends it with status 1.
"""
import hashlib
import json
import re
import sys

BUILT_IN = {"ios": "0.0", "iosver": "0", "ispad": "0"}


class Malformed(Exception):
    pass


def number(text):
    return float(text) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) else None


def version_key(text):
    parts = [int(part) for part in text.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return parts


def compare(sign, left, right):
    return {
        ">=": left >= right, "<=": left <= right, "!=": left != right, ">": left > right, "<": left < right,
        "=": left == right, "==": left == right,
    }[sign]


def failing_bounds(text, has):
    bounds = [re.fullmatch(r"(>=|<=|!=|>|<|=)([0-9.]+)", word).groups() for word in text.split(" ")]
    return [sign + other for sign, other in bounds
            if has is None or not compare(sign, version_key(has), version_key(other))]


def groups_of(text):
    groups = []
    for group in text.split("||"):
        terms = []
        for term in group.split("&&"):
            for sign in ("==", "!=", ">=", "<=", ">", "<"):
                if sign in term:
                    key, value = term.split(sign, 1)
                    terms.append((key.strip(), sign, value.strip()))
                    break
            else:
                raise Malformed(term)
        groups.append(terms)
    return groups


def holds(term, data):
    key, sign, value = term
    if key not in data:
        return False
    if sign in ("==", "!="):
        return compare(sign, data[key], value)
    left, right = number(data[key]), number(value)
    return left is not None and right is not None and compare(sign, left, right)


class Device:
    def __init__(self, told, dial):
        facts = told["facts"]
        self.id = bytes.fromhex(facts["deviceId"])
        self.app_version = facts.get("appVersion")
        self.user = facts.get("user")
        self.data = {**BUILT_IN, **facts.get("data", {})}
        self.platform = facts.get("platform")
        self.at = told["at"]
        self.installed = {row["patchId"]: row for row in facts.get("installed", [])}
        self.blocks = {row["sha256"]: row for row in facts.get("blocks", [])}
        self.transfers = {row["sha256"]: row for row in facts.get("transfers", [])}
        self.unfit = {row["sha256"]: row for row in facts.get("unfit", [])}
        self.approved = {row["sha256"] for row in facts.get("approved", [])}
        self.consent = facts.get("consent", "automatic")
        self.places = set(facts.get("places", []))
        self.has_dial = dial is not None
        self.rows = {row["sha256"]: row for row in (dial or {}).get("rows", [])}

    def refusals(self, entry):
        """Each rule that says no, in order: (rule, reason, turns)."""
        rules, row = entry["rules"], self.rows.get(entry["sha256"])
        salt = bytes.fromhex(entry["salt"])
        current = self.installed.get(entry["patchId"])
        if current and current["version"] == entry["version"] and current["sha256"] != entry["sha256"]:
            yield "label", "republished", [{"code": "label"}]
        if "appVersion" in rules and (failing := failing_bounds(rules["appVersion"], self.app_version)):
            yield "appVersion", "appVersion", [{"code": "appVersion", "appVersion": " ".join(failing)}]
        if entry["unknown"]:
            yield "knownRules", "unknownRule", [{"code": "engine", "rule": sorted(entry["unknown"])[0]}]
        if "condition" in rules:
            try:
                lacking = [[term for term in group if not holds(term, self.data)] for group in groups_of(rules["condition"])]
                if all(lacking):
                    fewest = min(lacking, key=len)
                    yield "condition", "condition", [{"code": "facts", "facts": ["".join(term) for term in fewest]}]
            except Malformed:
                yield "condition", "condition", [{"code": "readableCondition"}]
        if "users" in rules:
            own = self.user and hashlib.sha256(salt + self.user.encode()).hexdigest()
            if own not in rules["users"]:
                yield "users", "users", [{"code": "user"}]
        unfit = self.unfit.get(entry["sha256"])
        if self.platform and unfit and (unfit["platform"], unfit["compatibility"]) == (
                self.platform["name"], self.platform["compatibility"]):
            turn = {"code": "nativePart"}
            if "needs" in unfit:
                turn["compatibility"] = unfit["needs"]
            yield "nativePart", "incompatible", [turn]
        block = self.blocks.get(entry["sha256"])
        if block and block["until"] > self.at:
            if block["reason"] == "rolled back by hand":
                yield "trials", "rolledBackByHand", [{"code": "unblock", "until": block["until"]}]
            elif block["failures"] >= 2:
                yield "trials", "blocked", [{"code": "unblock", "until": block["until"]}]
            else:
                yield "trials", "waiting", [{"code": "time", "until": block["until"]}]
        transfer = self.transfers.get(entry["sha256"])
        if transfer and transfer.get("until", "") > self.at:
            yield "transfers", "transferWaiting", [{"code": "time", "until": transfer["until"]}]
        if rules.get("dial") == "required" and not self.has_dial:
            yield "dial", "dialMissing", [{"code": "dial"}]
        if row and row.get("paused"):
            yield "pause", "paused", [{"code": "resume"}]
        mine = int.from_bytes(hashlib.sha256(salt + self.id).digest(), "big") % 10_000
        ceiling, dialled = rules.get("rollout", 10_000), row["rollout"] if row else 10_000
        if min(ceiling, dialled) <= mine:
            turns = []
            if ceiling <= mine:
                turns.append({"code": "signedRollout", "from": ceiling, "to": mine + 1})
            if dialled <= mine:
                turns.append({"code": "dialRollout", "from": dialled, "to": mine + 1})
            yield "rollout", "rollout", turns
        covered = self.consent == "automatic" or self.consent == "security" and "security" in entry
        if not covered and self.installed and entry["sha256"] not in self.approved:
            yield "consent", "unapproved", [
                {"code": "approval", "patchId": entry["patchId"], "version": entry["version"]}]
        if row and "headcount" in row:
            place = hashlib.sha256(b"patchline-place-v1\n" + salt + bytes.fromhex(entry["sha256"]) + self.id)
            if place.hexdigest() not in self.places:
                yield "headcount", "noPlace", [{"code": "place"}]


KEEPS_THE_OLD = {"waiting", "blocked", "rolledBackByHand", "transferWaiting", "incompatible", "republished",
                 "unapproved"}


class Patch:
    """The versions of one id; a reason is a code, or ("unmet", what stands behind it)."""

    def __init__(self, versions, device, current):
        self.versions, self.device, self.current = versions, device, current
        self.place = None
        if current:
            for index, entry in enumerate(versions):
                fits = "appVersion" not in entry["rules"] or not failing_bounds(
                    entry["rules"]["appVersion"], device.app_version)
                if entry["sha256"] == current["sha256"] and fits:
                    self.place = index
                    break
        end = len(versions) if self.place is None else self.place
        self.reasons = [self.reason(entry) for entry in versions[:end]]
        self.held = set()

    def reason(self, entry):
        first = next(self.device.refusals(entry), None)
        return first[1] if first else None

    @property
    def picked(self):
        return next((index for index, reason in enumerate(self.reasons) if reason is None), None)

    def is_held(self, index):
        entry, reason = self.versions[index], self.reasons[index]
        if index in self.held or reason in ("paused", "dialMissing", "noPlace"):
            return True
        if reason == "rollout":
            mine = int.from_bytes(hashlib.sha256(
                bytes.fromhex(entry["salt"]) + self.device.id).digest(), "big") % 10_000
            return mine < entry["rules"].get("rollout", 10_000)
        return False

    def content(self):
        """The digest after the choice; and whether the current version stays."""
        if self.picked is not None:
            return self.versions[self.picked]["sha256"]
        return self.current["sha256"] if self.current and self.stays() else None

    def stays(self):
        if self.place is not None:
            return True
        keeps = lambda reason: keeps(reason[1]) if isinstance(reason, tuple) else reason in KEEPS_THE_OLD
        return any(keeps(reason) for reason in self.reasons) or any(map(self.is_held, range(len(self.reasons))))

    def could_be(self, digests):
        if self.current and self.current["sha256"] in digests:
            return True
        return any(reason is None and entry["sha256"] in digests for entry, reason in zip(self.versions, self.reasons))

    def behind(self, digests):
        for entry, reason in zip(self.versions, self.reasons):
            if reason is not None and entry["sha256"] in digests:
                return reason
        return None


def choose(patches):
    """Rules in order, ids in the order in which they are to be looked at again."""
    ids = sorted(patches)
    linked, neighbours = set(), {one: {one} for one in ids}
    for one in ids:
        for entry in patches[one].versions:
            for other in entry["requires"]:
                linked.add(one)
                if other in patches:
                    linked.add(other)
                    neighbours[one].add(other)
                    neighbours[other].add(one)
    agendas = [[one for one in ids if one in linked] for _ in range(4)]
    while True:
        turn = next((index for index, agenda in enumerate(agendas) if agenda), None)
        if turn is None:
            return
        one = agendas[turn].pop(0)
        if [lost_requirement, impossible, unmet, breaks][turn](patches, one):
            for agenda in agendas:
                agenda.extend(other for other in sorted(neighbours[one]) if other not in agenda)


def missing(patches, needs, is_met, unknown=False):
    for other in sorted(needs):
        met = is_met(patches[other], needs[other]) if other in patches else unknown
        if not met:
            behind = patches[other].behind(needs[other]) if other in patches else None
            return other, ("unmet", behind)
    return None


def lost_requirement(patches, one):
    patch = patches[one]
    if patch.place is None or patch.picked is not None:
        return False

    def kept(other, digests):
        if not (other.current and other.current["sha256"] in digests and other.place is None):
            return True
        return other.content() in digests

    lost = missing(patches, patch.versions[patch.place]["requires"], kept, unknown=True)
    if not lost:
        return False
    patch.reasons.append(lost[1])
    patch.reasons += [patch.reason(entry) for entry in patch.versions[patch.place + 1:]]
    patch.place = None
    return True


def pass_over(patches, one, is_met):
    patch = patches[one]
    if patch.picked is None:
        return False
    needs = patch.versions[patch.picked]["requires"]
    lacking = missing(patches, needs, is_met)
    if not lacking:
        return False
    other, reason = lacking
    index = patch.picked
    if other in patches:
        them = patches[other]
        if any(them.is_held(place) and them.versions[place]["sha256"] in needs[other] for place in range(len(them.reasons))):
            patch.held.add(index)
    patch.reasons[index] = reason
    return True


def impossible(patches, one):
    return pass_over(patches, one, lambda other, digests: other.could_be(digests))


def unmet(patches, one):
    return pass_over(patches, one, lambda other, digests: other.content() in digests)


def breaks(patches, one):
    patch = patches[one]
    if patch.picked is None or not patch.current or patch.place is None:
        return False
    digest = patch.versions[patch.picked]["sha256"]
    for other in patches.values():
        if other.place is None or other.picked is not None:
            continue
        digests = other.versions[other.place]["requires"].get(one)
        if digests and patch.current["sha256"] in digests and digest not in digests:
            patch.reasons[patch.picked] = "breaks"
            return True
    return False


def explain(entries, device):
    ids = {entry["patchId"] for entry in entries} | set(device.installed)
    patches = {one: Patch([entry for entry in entries if entry["patchId"] == one], device, device.installed.get(one))
               for one in ids}
    choose(patches)
    for entry in entries:
        patch = patches[entry["patchId"]]
        index = patch.versions.index(entry)
        end = patch.picked if patch.picked is not None else len(patch.reasons)
        current = patch.current and patch.current["sha256"] == entry["sha256"]
        if patch.picked == index:
            outcome = ("taken", None)
        elif patch.picked is None and current and patch.stays():
            outcome = ("installed", None)
        elif patch.picked is not None and current:
            outcome = ("replaced", patch.versions[patch.picked]["version"])
        elif index < end:
            reason = patch.reasons[index]
            outcome = ("passedOver", reason[0] if isinstance(reason, tuple) else reason)
        else:
            kept = patch.versions[patch.picked] if patch.picked is not None else patch.current if patch.stays() else entry
            outcome = ("below", kept["version"])
        yield outcome, [(rule, reason, turns) for rule, reason, turns in device.refusals(entry)]


def main():
    seen, count = set(), 0
    for line in open(sys.argv[1], encoding="utf-8"):
        case = json.loads(line)
        for told in case["devices"]:
            answers = explain(case["entries"], Device(told, case.get("dial")))
            for row, (outcome, refusals) in zip(told["versions"], answers, strict=True):
                theirs = (row["outcome"]["code"], row["outcome"].get("why", row["outcome"].get("version")))
                rules = [(rule["rule"], rule["code"], rule.get("turns", [])) for rule in row["rules"] if not rule["passes"]]
                if theirs != outcome or rules != refusals:
                    sys.exit(f"{row['patchId']} {row['version']}: engine {theirs} {rules}, here {outcome} {refusals}\n"
                             f"{case['entries']}\n{case.get('dial')}\n{told}")
                seen.add(f"because {outcome[1]}" if outcome[0] == "passedOver" else f"outcome {outcome[0]}")
            count += 1
    print("\n".join(sorted(seen)))
    print(f"{count} devices")


main()
