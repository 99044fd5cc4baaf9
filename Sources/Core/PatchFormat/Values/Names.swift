/// A name from outside that has been checked against its grammar.
package protocol ParsedName: Hashable, Comparable, Sendable, CustomStringConvertible, LosslessStringConvertible {
    /// The grammar in words, for error messages.
    static var rule: String { get }
    var text: String { get }
    init?(_ text: String)
}

extension ParsedName {
    package var description: String { text }

    package static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

private func isName(_ text: String, upTo limit: Int, plus extra: String) -> Bool {
    let (utf8, extra) = (text.utf8, extra.utf8)
    func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: extra.contains(byte)
        }
    }
    return (1...limit).contains(utf8.count) && utf8.allSatisfy(isAllowed) && text != "." && text != ".."
}

private let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/// An app's identifier, such as `com.example.storefront`.
///
/// It is also the first segment of every published path.
package struct AppID: ParsedName {
    package static let rule = "must be 1 to 128 of A-Z a-z 0-9 . _ - and not '.' or '..'"
    package let text: String

    package init?(_ text: String) {
        guard isName(text, upTo: 128, plus: letters + "._-") else { return nil }
        self.text = text
    }
}

/// The identifier of a proposed change on a server.
package struct ProposalID: ParsedName {
    package static let rule = "must be 16 lowercase hex digits"
    package let text: String

    package init?(_ text: String) {
        guard text.utf8.count == 16, text.utf8.allSatisfy({ Hex.value(of: $0) != nil }) else { return nil }
        self.text = text
    }
}

/// The name of a script or bundle that a list delivers.
package struct PatchID: ParsedName {
    package static let rule = "must be 1 to 128 of A-Z a-z 0-9 . _ - and not '.' or '..'"
    package let text: String

    package init?(_ text: String) {
        guard isName(text, upTo: 128, plus: letters + "._-") else { return nil }
        self.text = text
    }
}

/// The name of an online parameter, such as `checkout.banner`.
package struct ParameterName: ParsedName {
    package static let rule = "must be 1 to 64 of A-Z a-z 0-9 . _ - and not '.' or '..'"
    package let text: String

    package init?(_ text: String) {
        guard isName(text, upTo: 64, plus: letters + "._-") else { return nil }
        self.text = text
    }
}

/// An immutable label of a version; the version's identity is (patchId, sha256).
package struct VersionLabel: ParsedName {
    package static let rule = "must be 1 to 64 of A-Z a-z 0-9 . _ + - and not '.' or '..'"
    package let text: String

    package init?(_ text: String) {
        guard isName(text, upTo: 64, plus: letters + "._+-") else { return nil }
        self.text = text
    }
}

/// `production`, `beta`.
///
/// It is also the name of a TUF role, so the names of TUF's and Patchline's own roles are invalid.
package struct ChannelName: ParsedName {
    package static let rule =
        "must be 1 to 32 of a-z 0-9 and not the name of a role (root, targets, snapshot, timestamp, mirrors, dial)"
    package static let reserved: Set<String> = ["root", "targets", "snapshot", "timestamp", "mirrors", "dial"]
    package let text: String

    package init?(_ text: String) {
        guard isName(text, upTo: 32, plus: ""), !Self.reserved.contains(text) else { return nil }
        self.text = text
    }
}

/// One build of an app's native part, as numbered by its makers: `1042`, `2.1.0-17`.
package struct AppBuild: ParsedName {
    package static let rule = VersionLabel.rule
    package let text: String

    package init?(_ text: String) {
        guard let label = VersionLabel(text) else { return nil }
        self.text = label.text
    }
}
