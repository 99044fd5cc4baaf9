import PatchCrypto
package import PatchFormat

/// Writes the TUF roles of Patchline as unsigned envelopes, ready to be signed.
///
/// Each role names its app. `app` is nil for a role under a root of trust without an app.
package enum RoleDocument {
    package static let specVersion = "1.0.34"

    /// Keys and threshold of a role that is about to be written.
    package struct Signers: Sendable {
        package let keys: [TUFKey]
        package let threshold: Int

        package init(keys: [TUFKey], threshold: Int) {
            self.keys = keys
            self.threshold = threshold
        }

        var members: [(String, JSON?)] {
            [
                ("keyids", .array(keys.map(\.id.hex).sorted().map { .text($0) })),
                ("threshold", .integer(threshold)),
            ]
        }
    }

    /// One delegation of the top targets role.
    package struct DelegationDraft: Sendable {
        package let name: String
        package let signers: Signers
        package let paths: [String]

        package init(name: String, signers: Signers, paths: [String]) {
            self.name = name
            self.signers = signers
            self.paths = paths
        }

        /// The delegation to a channel: its list, and the manifests and signature columns of its bundles.
        ///
        /// TUF's `*` does not cross `/`.
        package static func channel(_ channel: ChannelName, signers: Signers) -> DelegationDraft {
            DelegationDraft(name: channel.text, signers: signers, paths: ["\(channel)/*", "\(channel)/*/*/*"])
        }

        package static func dial(signers: Signers) -> DelegationDraft {
            DelegationDraft(name: "dial", signers: signers, paths: ["dial/*"])
        }

        /// The row in the list of delegations.
        package var row: JSON {
            .fields(
                signers.members + [
                    ("name", .text(name)), ("terminating", .bool(true)), ("paths", .array(paths.map { .text($0) })),
                ]
            )
        }
    }

    /// - Parameter roles: signers of root, targets, snapshot and timestamp.
    package static func root(
        app: AppID,
        version: Int,
        expires: UTCTime,
        roles: [String: Signers]
    ) -> Envelope {
        precondition(Set(roles.keys) == Set(RootRole.roleNames), "a root names exactly the four top roles")
        return Envelope(
            role: "root",
            signing: .fields(
                header("root", version, expires, app) + [
                    ("consistent_snapshot", .bool(true)),
                    ("keys", table(of: roles.values.flatMap(\.keys))),
                    (
                        "roles",
                        .fields(roles.sorted { $0.key < $1.key }.map { ($0.key, .fields($0.value.members)) })
                    ),
                ]
            )
        )
    }

    /// The top targets role, which contains only delegations.
    package static func targets(
        app: AppID? = nil,
        version: Int,
        expires: UTCTime,
        delegations: [DelegationDraft],
        retired: [ChannelName] = []
    ) -> Envelope {
        Envelope(
            role: "targets",
            signing: .fields(
                header("targets", version, expires, app) + [
                    ("targets", .object(JSONObject())),
                    (
                        TargetsRole.retiredMember,
                        retired.isEmpty ? nil : .array(retired.sorted().map { .text($0.text) })
                    ),
                    (
                        "delegations",
                        .fields([
                            ("keys", table(of: delegations.flatMap(\.signers.keys))),
                            ("roles", .array(delegations.map(\.row))),
                        ])
                    ),
                ]
            )
        )
    }

    /// A channel's role, or the dial's (which has no entry keys).
    package static func delegated(
        _ name: String,
        app: AppID? = nil,
        version: Int,
        expires: UTCTime,
        targets: [TargetPath: TargetFile],
        entryKeys: EntryKeys? = nil,
        jspatchKeys: JSPatchKeys = .none
    ) -> Envelope {
        let rows = targets.sorted { $0.key < $1.key }.map { path, file in
            (
                path.text,
                Optional(
                    JSON.fields([
                        ("length", .integer(file.length)), ("hashes", file.hashes.json),
                    ])
                )
            )
        }
        return Envelope(
            role: name,
            signing: .fields(
                header("targets", version, expires, app) + [
                    ("targets", .fields(rows)), (EntryKeys.member, entryKeys?.json(with: jspatchKeys)),
                ]
            )
        )
    }

    /// - Parameter files: by role name, without `.json`.
    package static func snapshot(
        app: AppID? = nil,
        version: Int,
        expires: UTCTime,
        files: [String: RoleFile]
    ) -> Envelope {
        Envelope(
            role: "snapshot",
            signing: .fields(
                header("snapshot", version, expires, app) + [
                    ("meta", .fields(files.sorted { $0.key < $1.key }.map { ("\($0.key).json", $0.value.json) }))
                ]
            )
        )
    }

    package static func timestamp(
        app: AppID? = nil,
        version: Int,
        expires: UTCTime,
        snapshot: RoleFile,
        signedAt: UTCTime
    ) -> Envelope {
        Envelope(
            role: "timestamp",
            signing: .fields(
                header("timestamp", version, expires, app) + [
                    ("meta", .fields([("snapshot.json", snapshot.json)])), ("x-signed-at", .text(signedAt.description)),
                ]
            )
        )
    }

    private static func header(_ type: String, _ version: Int, _ expires: UTCTime, _ app: AppID?) -> [(String, JSON?)] {
        [
            ("_type", .text(type)), ("spec_version", .text(specVersion)), ("version", .integer(version)),
            ("expires", .text(expires.description)), (RoleHeader.appMember, app.map { .text($0.text) }),
        ]
    }

    private static func table(of keys: [TUFKey]) -> JSON {
        let unique = Dictionary(keys.map { ($0.id, $0) }) { first, _ in first }
        return .fields(unique.sorted { $0.key < $1.key }.map { ($0.key.hex, $0.value.json) })
    }
}

extension RoleFile {
    /// Describes these bytes as a referrer does.
    package init(of bytes: [UInt8], version: Int) {
        self.init(version: version, length: bytes.count, sha256: SHA256Digest(of: bytes))
    }
}
