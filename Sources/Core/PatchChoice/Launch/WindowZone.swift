/// The clock that maintenance windows refer to.
package enum WindowZone: Hashable, Sendable {
    /// A constant offset from UTC.
    case fixed(ZoneOffset)
    /// A zone of the system's database, with daylight saving time.
    case named(ZoneName)
    /// The machine's own zone: `/etc/localtime`.
    case local

    package static let rule =
        "must be UTC, an offset from -14:00 to +14:00 such as +01:00, a time zone such as Europe/Berlin, or local"
    package static let utc = WindowZone.fixed(.utc)

    package init?(_ text: String) {
        if text == "local" {
            self = .local
        } else if let offset = ZoneOffset(text) {
            self = .fixed(offset)
        } else if let name = ZoneName(text) {
            self = .named(name)
        } else {
            return nil
        }
    }

    /// The rules, or nil for a zone whose rules are in a file.
    package var fixedRules: TimeZoneRules? {
        if case .fixed(let offset) = self { TimeZoneRules(offset: offset.minutes * 60) } else { nil }
    }
}

extension WindowZone: CustomStringConvertible {
    package var description: String {
        switch self {
        case .fixed(let offset): offset.description
        case .named(let name): name.text
        case .local: "local"
        }
    }
}

/// The name of a time zone in the system's database: `Europe/Berlin`, `America/Argentina/Ushuaia`, `CET`.
///
/// It is a relative path of plain names without dots, so it cannot leave the database's folder.
package struct ZoneName: Hashable, Sendable {
    package let text: String

    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }
        guard text.utf8.count <= 64, parts.count <= 3,
            parts.allSatisfy({ part in
                guard let first = part.utf8.first, isLetter(first) else { return false }
                return part.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "_+-".utf8.contains($0) }
            })
        else { return nil }
        self.text = text
    }
}
