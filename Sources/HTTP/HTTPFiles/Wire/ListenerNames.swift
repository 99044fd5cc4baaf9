import NIOHTTP1

/// The names under which a listener answers, against DNS rebinding: a page in a browser on this machine can have a name of its
/// own lead to 127.0.0.1, and would read the answers under that name.
///
/// A rebound name is never an address, so addresses and `localhost` are safe. A listener with TLS or for other machines
/// answers under every name: its certificate, or the network, decides who can ask.
package struct ListenerNames: Equatable, Sendable {
    package enum Fault: Equatable, Sendable {
        /// 421.
        case otherName
        /// 403: a page of another origin asks.
        case foreignOrigin

        package var message: String {
            switch self {
            case .otherName: "This listener answers to localhost and to addresses, and to no other name."
            case .foreignOrigin: "Pages of other origins get nothing here."
            }
        }

        package var answer: FileAnswer {
            switch self {
            case .otherName: .refused(.misdirectedRequest, message: message, headers: ["Cache-Control": "no-store"])
            case .foreignOrigin: .refused(.forbidden, message: message, headers: ["Cache-Control": "no-store"])
            }
        }
    }

    private let answersToAll: Bool

    package static let all = ListenerNames(answersToAll: true)

    private init(answersToAll: Bool) {
        self.answersToAll = answersToAll
    }

    /// - Parameter host: the address or name that the listener is bound to.
    package init(boundTo host: String, hasTLS: Bool) {
        answersToAll = hasTLS || !Self.isLoopback(host)
    }

    /// - Parameters:
    ///   - host: of the request; nil for a client of HTTP/1.0 that names none, which no browser is.
    ///   - origins: the values of its `Origin`.
    package func fault(host: String?, origins: [String]) -> Fault? {
        if !answersToAll, let host, !Self.isSafe(host) { return .otherName }
        let own = host.map { ["http://\($0.lowercased())", "https://\($0.lowercased())"] } ?? []
        return origins.allSatisfy { own.contains($0.lowercased()) } ? nil : .foreignOrigin
    }

    private static func isSafe(_ authority: String) -> Bool {
        if authority.hasPrefix("[") {
            return IPAddress(authority.dropFirst().prefix { $0 != "]" })?.bytes.count == 16
        }
        let name = authority.prefix { $0 != ":" }.lowercased()
        return isLocalhost(name) || IPAddress(name)?.bytes.count == 4
    }

    private static func isLocalhost(_ name: String) -> Bool {
        let name = name.hasSuffix(".") ? String(name.dropLast()) : name
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// Whether an address, or `localhost`, is this machine's own.
    package static func isLoopback(_ host: String) -> Bool {
        guard let address = IPAddress(host) else { return isLocalhost(host.lowercased()) }
        return address.bytes.first == 127 && address.bytes.count == 4
            || address.bytes == [UInt8](repeating: 0, count: 15) + [1]
    }
}
