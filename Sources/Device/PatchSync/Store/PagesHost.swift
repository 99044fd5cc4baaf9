package import PatchCrypto

/// The name under which the pages of an app are served.
package enum PagesHost: String, CaseIterable, Equatable, Sendable {
    /// A host of the app's own (``HostLabel``), whose cookies reach no other port of the machine.
    case own
    /// For code that looks for this name. Every port of the machine gets its cookies.
    case localhost
    /// For web views that resolve no such name. Every port of the machine gets its cookies.
    case address = "127.0.0.1"

    package static let rule = "must be own, localhost or 127.0.0.1"

    /// Whether every program of this machine can listen under the same name, and gets its cookies.
    package var isShared: Bool { self != .own }

    /// - Parameter name: as URLs have it.
    package init(named name: String) {
        self = PagesHost(rawValue: name).flatMap { $0.isShared ? $0 : nil } ?? .own
    }
}

/// The name under which the pages of a store are served, with the secret of one of its own.
package enum PagesName: Equatable, Sendable {
    case own(HostLabel)
    case shared(Shared)

    package enum Shared: String, Sendable {
        case localhost
        case address = "127.0.0.1"
    }

    package var host: PagesHost {
        switch self {
        case .own: .own
        case .shared(.localhost): .localhost
        case .shared(.address): .address
        }
    }

    /// As URLs have it, without the port.
    package var text: String {
        switch self {
        case .own(let label): label.host
        case .shared(let name): name.rawValue
        }
    }

    /// The same name where it is of this kind, for storage belongs to it; else another one.
    package func changed(to host: PagesHost) -> PagesName {
        switch (host, self) {
        case (.own, .own): self
        case (.own, .shared): .own(.make())
        case (.localhost, _): .shared(.localhost)
        case (.address, _): .shared(.address)
        }
    }
}

/// The name under which the pages of an app are served on this device alone: `LABEL.localhost`, which browsers resolve to
/// loopback by themselves (RFC 6761 §6.3).
///
/// A secret of the store: a host's cookies go to each of its ports, so that whoever knew the name could lead a browser to
/// a port of theirs under it.
package struct HostLabel: RandomText {
    package let text: String

    package init(_ digits: RandomDigits) {
        text = digits.text
    }

    /// What stands in a URL and in `Host`, without the port.
    package var host: String { "\(text).localhost" }
}
