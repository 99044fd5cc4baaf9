package import PatchCrypto

/// The name under which the pages of an app are served.
package enum PagesHost: String, CaseIterable, Equatable, Sendable {
    /// A host name of the app's own (``HostLabel``). Browsers send its cookies to every port too, but no other program can guess it.
    case own
    /// A name for code that requires it. Its cookies are sent to every port of the machine.
    case localhost
    /// A name for web views that do not resolve the others. Its cookies are sent to every port of the machine.
    case address = "127.0.0.1"

    package static let rule = "must be own, localhost or 127.0.0.1"

    /// Whether all programs of this machine can listen under the same name and receive its cookies.
    package var isShared: Bool { self != .own }

    /// - Parameter name: The host name as used in URLs.
    package init(named name: String) {
        self = PagesHost(rawValue: name).flatMap { $0.isShared ? $0 : nil } ?? .own
    }
}

/// The name under which the pages of a store are served, with the secret of an own name.
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

    /// The name as used in URLs, without the port.
    package var text: String {
        switch self {
        case .own(let label): label.host
        case .shared(let name): name.rawValue
        }
    }

    /// The same name if it already has this kind, because the browser storage belongs to it.
    ///
    /// Otherwise a new name.
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
/// loopback without DNS (RFC 6761 §6.3).
///
/// It is a secret of the store. A host's cookies are sent to each of its ports, so a program that knew the name could lead a
/// browser to its own port under it.
package struct HostLabel: RandomText {
    package let text: String

    package init(_ digits: RandomDigits) {
        text = digits.text
    }

    /// The host name in URLs and in `Host`, without the port.
    package var host: String { "\(text).localhost" }
}
