import Fuzzing
import PatchFormat

/// A list, a dial, online parameters and a release header say the same after they were written.
func attempt(_ bytes: [UInt8]) {
    if let parsed = try? ParsedPatchList(bytes) { check(parsed) }
    if let dial = try? Dial(bytes) {
        require(try? Dial(dial.json.fileBytes), is: dial, "a dial says the same after it was written")
    }
    if let parameters = try? OnlineParameters(bytes) {
        require(
            try? OnlineParameters(parameters.json.fileBytes),
            is: parameters,
            "parameters say the same after they were written"
        )
    }
    if let header = try? ReleaseHeader(bytes) {
        require(
            try? ReleaseHeader(header.json.fileBytes),
            is: header,
            "a release header says the same after it was written"
        )
    }
}

private func check(_ parsed: ParsedPatchList) {
    let written = parsed.list.json.fileBytes
    guard let again = try? ParsedPatchList(written) else { fatalError("broken: a list that was written is refused") }
    require(again.problems.isEmpty, "entries that were read are read again")
    require(again.list.json.fileBytes == written, "a list has one spelling")
    let labels = parsed.list.entries.map { Label(patchID: $0.patchID, version: $0.version) }
    require(Set(labels).count == labels.count, "a label stands once")
    for (entry, second) in zip(parsed.list.entries, again.list.entries) {
        require(
            entry.statement(app: parsed.list.app, channel: parsed.list.channel)
                == second.statement(app: again.list.app, channel: again.list.channel),
            "an entry's statement is the same after it was written"
        )
        require(entry.rules.knownAlone == second.rules, "rules are the same after they were written")
        require(entry.requires == second.requires && entry.salt == second.salt, "and so is the rest of an entry")
    }
}

private func require<Value: Equatable>(_ found: Value?, is expected: Value, _ property: StaticString) {
    Fuzzing.require(found == expected, property)
}

extension PatchRules {
    /// Unknown members are named, never written.
    fileprivate var knownAlone: PatchRules {
        var rules = self
        rules.unknown = []
        return rules
    }
}
