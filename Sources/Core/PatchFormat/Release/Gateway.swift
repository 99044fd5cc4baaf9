/// The protocol of another system, over which a version is also served to that system's clients.
///
/// The signed list names it for servers. Patchline devices ignore it and never use such a protocol.
package enum Gateway: String, CaseIterable, Comparable, Sendable {
    /// `__cordova/` of a Meteor server. The version is a bundle whose index page belongs to a Meteor app.
    case meteor
    /// `APPVERSION/vN.zip` of JSPatch's loader: packages of scripts, see ``GatewayPackages``.
    case loader
    /// `APPKEY/APPVERSION` and `fileN` of JSPatch's platform: packages of scripts, see ``GatewayPackages``.
    case platform

    /// The gateways that an entry can enable for itself.
    package static let ofEntries: [Gateway] = [.meteor]
    package static let rule = "must be \(ofEntries.map(\.rawValue).joined(separator: " or "))"

    package static func < (left: Gateway, right: Gateway) -> Bool { left.rawValue < right.rawValue }

    /// The name of the system that the clients belong to.
    package var system: String {
        switch self {
        case .meteor: "Meteor"
        case .loader: "JSPatch's loader"
        case .platform: "JSPatch's platform"
        }
    }
}

extension Fields {
    /// Reads the gateways in order and ignores names that this version does not know.
    func gateways(_ key: String) throws(FormatError) -> [Gateway] {
        guard has(key) else { return [] }
        let known = try strings(key, limit: Limits.gateways).compactMap { Gateway(rawValue: $0) }
        return Set(known).intersection(Gateway.ofEntries).sorted()
    }
}

extension [Gateway] {
    /// Nil if there are none.
    package var json: JSON? { isEmpty ? nil : .array(map { .text($0.rawValue) }) }
}
