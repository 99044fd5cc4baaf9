import Gateways
package import PatchFormat

/// The change for JSPatch's own clients on one wire, for one app version.
package enum PackageChange: Equatable, Sendable {
    case switchedOn(GatewayPackages)
    /// A new package.
    case version(GatewayPackages, from: LoaderVersion)
    /// Their package is withdrawn, and no other one is available.
    case withdrawn(GatewayPackages)
    case switchedOff(GatewayPackages)

    package static func all(from base: [GatewayPackages], to release: [GatewayPackages]) -> [PackageChange] {
        release.compactMap { row in
            let old = base.first { $0.line == row.line }
            guard row.isSwitchedOn else { return old?.isSwitchedOn == true ? .switchedOff(row) : nil }
            guard let old, old.isSwitchedOn else { return .switchedOn(row) }
            if row.newest == nil { return old.newest == nil ? nil : .withdrawn(row) }
            return row.latest == old.latest ? nil : .version(row, from: old.latest)
        }
    }

    /// The description for a signer.
    package var words: String {
        switch self {
        case .switchedOn(let row):
            "~ \(row.line): \(row.line.wire.gateway.system) gives its clients \(row.names) as version \(row.latest), "
                + row.limits
        case .version(let row, let old):
            "~ \(row.line): version \(row.latest) follows \(old), with \(row.names)"
        case .withdrawn(let row): "- \(row.line): \(Self.withdrawn(row.latest, on: row.line.wire))"
        case .switchedOff(let row):
            "~ \(row.line): its clients get no more versions and keep theirs"
        }
    }

    /// The consequences of a withdrawn package for clients, including those that have it.
    package static func withdrawn(_ version: LoaderVersion, on wire: GatewayPackages.Wire) -> String {
        switch wire {
        case .loader: "version \(version) is no longer offered; clients that have it keep it"
        case .platform: "version \(version) is withdrawn; clients delete it"
        }
    }

    package var json: JSON {
        let (name, row): (String, GatewayPackages) =
            switch self {
            case .switchedOn(let row): ("switchedOn", row)
            case .version(let row, _): ("version", row)
            case .withdrawn(let row): ("withdrawn", row)
            case .switchedOff(let row): ("switchedOff", row)
            }
        return .fields([
            ("change", .text(name)), ("gateway", .text(row.line.wire.gateway.rawValue)),
            ("appKey", row.line.wire.appKey.map { .text($0.text) }), ("appVersion", .text(row.line.appVersion.text)),
            ("latest", .integer(row.latest.number)),
        ])
    }
}

extension GatewayPackages {
    /// `main.js of fix, cart.js of cart`.
    fileprivate var names: String {
        scripts.sorted { $0.key < $1.key }.map { "\($0.key) of \($0.value)" }.joined(separator: ", ")
    }

    /// The features that the wire does not support.
    fileprivate var limits: String {
        switch line.wire {
        case .loader:
            "once every device may install it; "
                + "the format has a signature over an MD5, but no roles, expiry, rollout, conditions or rollback"
        case .platform:
            "for the tenths of devices that list and dial allow; "
                + "the format has a signature over an MD5 and an unsigned sync file, but no roles, "
                + "expiry, head-counts, users or rollback"
        }
    }
}
