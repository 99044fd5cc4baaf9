import PatchFormat
import PatchRelease
import CommandKit

/// The exit codes and hints of `patchsign` for a rejected draft of root or targets.
extension CeremonyError {
    var code: ResultCode {
        switch self {
        case .malformed: .malformed
        case .moved, .otherContent, .pending: .conflict
        case .foreign, .version, .unexplained, .onlineKey, .keyInTwoUses, .testingKey, .unusableKey, .shapedKey,
            .targetsStay, .expired, .incomplete:
            .refused
        case .threshold, .unknownRole, .unknownKey, .ambiguousKey, .alreadyListed, .nothingChanges, .retired,
            .lastChannel:
            .usage
        }
    }

    var hint: String? {
        switch self {
        case .moved: "make the draft again from the current root of trust"
        case .version: "one draft is one step; devices follow every root in turn"
        case .shapedKey: "add the key with `patchsign delegate` or `root draft --add-key`"
        case .unexplained: "do not sign it; ask its author for the program that made it"
        case .threshold(role: .channel(let name), wanted: _, keys: 0):
            "add a key with `patchsign delegate \(name) --add-key FILE`, or end the channel with "
                + "`patchsign delegate \(name) --retire`"
        case .retired: "name another channel"
        case .lastChannel(let name):
            "make its successor first: `patchsign delegate NAME --add-key FILE`; then retire \(name)"
        case .threshold: "--threshold ROLE=N sets how many keys must sign, --add-key adds one"
        case .keyInTwoUses: "make another key: each key has one use, to limit a theft"
        case .unknownKey, .ambiguousKey:
            "name a public key file, or more of the key id, which `patchsign root inspect` shows"
        case .alreadyListed, .nothingChanges: "without any change `patchsign root draft` renews root and targets"
        case .otherContent: "merge copies of one draft"
        case .incomplete:
            "the other holders run `patchsign root sign`; `patchsign root inspect` shows the missing signatures"
        case .expired: "make the draft again"
        case .pending: "sign it with `patchsign root sign` and publish it with `patchsign root publish`, or remove it"
        case .malformed, .foreign, .onlineKey, .testingKey, .unusableKey, .targetsStay, .unknownRole: nil
        }
    }
}
