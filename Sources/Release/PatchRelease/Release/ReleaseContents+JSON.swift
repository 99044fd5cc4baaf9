package import PatchFormat
import PatchCrypto
import PatchTrust

extension ReleaseContents {
    /// The output of `patchsign inspect --json`.
    package var json: JSON {
        .fields([
            ("app", .text(app.text)), ("channel", .text(channel.text)), ("roleVersion", .integer(roleVersion)),
            (
                "base",
                base.map {
                    .fields([("roleVersion", .integer($0.roleVersion)), ("sha256", .text($0.sha256.hex))])
                } ?? .null
            ),
            ("serial", .integer(list.serial)), ("published", .text(list.published.description)),
            ("expires", .text(expires.description)),
            ("entryKeys", .array(entryKeys.sorted().map { .text($0.hex) })),
            ("patches", .array(list.entries.map(json(of:)))),
            ("withdrawn", list.withdrawn.isEmpty ? nil : .array(list.withdrawn.map(\.json))),
            ("gateways", list.gateways.isEmpty ? nil : .array(list.gateways.map(\.json))),
        ])
    }

    private func json(of entry: PatchEntry) -> JSON {
        let manifest = manifests[entry.label]
        let members: [(String, JSON?)] = [
            ("patchId", .text(entry.patchID.text)), ("version", .text(entry.version.text)),
            ("kind", .text(entry.kind.rawValue)), ("sha256", .text(entry.fingerprint.sha256.hex)),
            ("files", manifest.map { .integer($0.assets.count) }),
            ("bytes", .integer(bytes(of: entry))), ("rules", entry.rules.json),
            ("security", entry.security?.json), ("gateways", entry.gateways.json),
        ]
        return .fields(members + entry.place.members)
    }

    /// The size of the script, or of all files of the bundle.
    package func bytes(of entry: PatchEntry) -> Int {
        manifests[entry.label]?.assets.reduce(0) { $0 + $1.fingerprint.size } ?? entry.fingerprint.size
    }
}

extension ReleaseDifference {
    /// The form for scripts; `words` contains the lines for display.
    package var json: JSON {
        .fields([
            ("fromRoleVersion", roleVersion.from.map { .integer($0) } ?? .null),
            ("toRoleVersion", .integer(roleVersion.to)),
            ("expires", .text(expires.description)), ("changes", .array(changes.map(\.json))),
            ("packages", packages.isEmpty ? nil : .array(packages.map(\.json))),
            ("entryKeysAdded", .array(entryKeysAdded.map { .text($0.hex) })),
            ("entryKeysRemoved", .array(entryKeysRemoved.map { .text($0.hex) })),
            ("unmet", .array(unmet.map { .text($0.description) })), ("words", .array(words.map { .text($0) })),
        ])
    }
}

extension ReleaseDifference.Change {
    fileprivate var json: JSON {
        switch self {
        case .added(let entry, _): Self.json("added", entry)
        case .version(let old, let new, let files): Self.json("version", new, from: old, files: files)
        case .rules(let old, let new): Self.json("rules", new, from: old)
        case .security(let old, let new): Self.json("security", new, from: old)
        case .gateways(let entry, _): Self.json("gateways", entry)
        case .requirements(let entry): Self.json("requirements", entry)
        case .behind(let entry, let listed): Self.json(listed ? "listedAgain" : "noLongerListed", entry)
        case .withdrawn(let entry): Self.json("withdrawn", entry)
        case .withdrawnForGood(let entry): Self.json("withdrawnForGood", entry)
        case .unlistedWithdrawn(let gone):
            .fields([
                ("change", .text("withdrawnForGood")), ("patchId", .text(gone.patchID.text)),
                ("version", .text(gone.version.text)), ("sha256", .text(gone.sha256.hex)), ("listed", .bool(false)),
            ])
        case .unchanged(let entry): Self.json("unchanged", entry)
        }
    }

    private static func json(
        _ change: String,
        _ entry: PatchEntry,
        from old: PatchEntry? = nil,
        files: BundleDifference? = nil
    ) -> JSON {
        let members: [(String, JSON?)] = [
            ("change", .text(change)), ("patchId", .text(entry.patchID.text)), ("version", .text(entry.version.text)),
            ("fromVersion", old.map { .text($0.version.text) }), ("sha256", .text(entry.fingerprint.sha256.hex)),
            ("rules", entry.rules.json), ("fromRules", old.map(\.rules.json)),
            ("security", entry.security?.json), ("files", files.map(\.json)),
            ("gateways", entry.gateways.json),
        ]
        return .fields(members + entry.place.members)
    }
}

extension BundleDifference {
    fileprivate var json: JSON {
        func paths(_ paths: [AssetPath]) -> JSON { .array(paths.map { .text($0.text) }) }
        return .fields([
            ("added", paths(added)), ("changed", paths(changed)), ("removed", paths(removed)),
            ("unchanged", .integer(unchanged)), ("bytesToFetch", .integer(bytesToFetch)),
        ])
    }
}
