/// The host names that a listener accepts.
///
/// This prevents DNS rebinding: a page in a local browser could resolve a name of its own to 127.0.0.1 and read the answers under
/// that name.
///
/// A rebound name is never an address or `localhost`, so those are safe. A listener with TLS, or for other machines, accepts every
/// name: its certificate or the network restricts its clients.
package struct ListenerNames: Equatable, Sendable {
    package enum Fault: Equatable, Sendable {
        /// Answered 421.
        case otherName
        /// Answered 403: the request is from a page of another origin.
        case foreignOrigin

        package var message: String {
            switch self {
            case .otherName: "This listener accepts only localhost and IP addresses as its name."
            case .foreignOrigin: "Requests from pages of other origins are rejected."
            }
        }
    }

    private let answersToAll: Bool

    package static let all = ListenerNames(answersToAll: true)

    private init(answersToAll: Bool) {
        self.answersToAll = answersToAll
    }

    /// - Parameter host: The address or name that the listener is bound to.
    package init(boundTo host: String, hasTLS: Bool) {
        answersToAll = hasTLS || !Self.isLoopback(host)
    }

    /// - Parameters:
    ///   - host: The request's host, or nil for an HTTP/1.0 client without one, which is never a browser.
    ///   - origins: The values of the request's `Origin`.
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

    /// Whether `host` is a loopback address or `localhost`.
    package static func isLoopback(_ host: String) -> Bool {
        guard let address = IPAddress(host) else { return isLocalhost(host.lowercased()) }
        return address.bytes.first == 127 && address.bytes.count == 4
            || address.bytes == [UInt8](repeating: 0, count: 15) + [1]
    }
}
