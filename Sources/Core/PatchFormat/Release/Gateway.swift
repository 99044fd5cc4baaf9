/// The wire of another system, over which a version is served to that system's own clients as well.
///
/// It stands in the signed list for servers; a device of ours passes it over, and never reads such a wire.
package enum Gateway: String, CaseIterable, Comparable, Sendable {
    /// `__cordova/` of Meteor's servers; a bundle, whose index page is a Meteor app's.
    case meteor
    /// `APPVERSION/vN.zip` of JSPatch's loader: packages of scripts, see ``GatewayPackages``.
    case loader
    /// `APPKEY/APPVERSION` and `fileN` of JSPatch's platform: packages of scripts, see ``GatewayPackages``.
    case platform

    /// Those that an entry is switched on for by itself.
    package static let ofEntries: [Gateway] = [.meteor]
    package static let rule = "must be \(ofEntries.map(\.rawValue).joined(separator: " or "))"

    package static func < (left: Gateway, right: Gateway) -> Bool { left.rawValue < right.rawValue }

    /// Whose clients they are.
    package var system: String {
        switch self {
        case .meteor: "Meteor"
        case .loader: "JSPatch's loader"
        case .platform: "JSPatch's platform"
        }
    }
}

extension Fields {
    /// In order; one that this reader does not know is none of its business.
    func gateways(_ key: String) throws(FormatError) -> [Gateway] {
        guard has(key) else { return [] }
        let known = try strings(key, limit: Limits.gateways).compactMap { Gateway(rawValue: $0) }
        return Set(known).intersection(Gateway.ofEntries).sorted()
    }
}

extension [Gateway] {
    /// Nil for none.
    package var json: JSON? { isEmpty ? nil : .array(map { .text($0.rawValue) }) }
}
