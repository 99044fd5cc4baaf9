package import PatchChoice
package import PatchFormat
package import PatchSync
import SystemPackage

extension StatusReport {
    /// As `patchsync status --json` has it.
    package func json(_ configuration: DeviceConfiguration) -> JSON {
        .object(JSONObject(members(configuration)))
    }

    package func members(_ configuration: DeviceConfiguration) -> [(String, JSON)] {
        let members: [(String, JSON?)] = [
            ("app", .text(configuration.app.text)), ("channel", .text(configuration.channel.text)),
            ("server", .text(configuration.server.text)), ("phase", .text(phase.rawValue)),
            ("lastSync", lastSync.map { .text($0.at.description) }), ("lastFailure", syncFailure?.json),
            ("roleVersion", lastSync.map { .integer($0.roleVersion) }),
            ("appBuild", configuration.appBuild.map { .text($0.text) }),
            ("host", .text(configuration.pages.host.rawValue)), ("ownHost", .bool(configuration.host != nil)),
            ("reserve", configuration.reserve.map { .integer($0) }), ("embedded", embedded(configuration)),
            ("entrySignatures", .text(configuration.entrySignatures.rawValue)),
            (
                "launch",
                { if case .trying(_, _, let launch) = machine.state { .text(launch.token.text) } else { nil } }()
            ),
            (
                "pageError",
                { if case .trying(_, _, let launch) = machine.state { launch.error?.json } else { nil } }()
            ),
            ("unproven", machine.isUnproven ? .bool(true) : nil),
            ("stateFault", fault.map { .fields($0.members) }), ("damagedState", damagedState.map { .text($0.string) }),
            (
                "patches",
                .array(
                    rows.map { row in
                        let members: [(String, JSON?)] = [
                            ("patchId", .text(row.patchID.text)), ("kind", .text(row.kind.rawValue)),
                            ("version", .text(row.version.text)), ("state", .text(row.state.name)),
                            ("meaning", .text(row.state.meaning)), ("fault", row.fault.map { .text($0) }),
                            ("pending", .bool(row.isPending)), ("file", row.file.map { .text($0.string) }),
                        ]
                        return .fields(members + row.place.members)
                    }
                )
            ),
            (
                "blocks",
                .array(
                    machine.blocks.blocks.sorted { $0.key < $1.key }.map { content, block in
                        .fields([
                            ("patchId", .text(content.patchID.text)), ("version", .text(block.version.text)),
                            ("failures", .integer(block.failures)), ("until", .text(block.until.description)),
                            ("reason", .text(block.reason.rawValue)), ("code", .text(block.reason.code)),
                            ("pageError", block.error?.json),
                            ("next", retries[content].map { .text($0.rawValue) }),
                        ])
                    }
                )
            ),
            ("transfers", transfersJSON), ("unfit", unfitJSON), ("network", configuration.network.json),
            ("putOff", putOff.rows.isEmpty ? nil : putOff.told), ("noRoom", noRoom.json),
            (
                "passedOver",
                .array(
                    heldBack.map { decision, passed in
                        .fields([("patchId", .text(decision.patchID.text))] + passed.members)
                    }
                )
            ),
            (
                "withdrawn",
                leaving.isEmpty
                    ? nil
                    : .array(
                        leaving.map { leaving in
                            .fields([
                                ("patchId", .text(leaving.patch.patchID.text)),
                                ("version", .text(leaving.patch.version.text)), ("named", .bool(leaving.isNamed)),
                                ("next", leaving.next.map { .text($0.version.text) }),
                            ])
                        }
                    )
            ),
            ("activates", pendingActivation.map { .text($0.rawValue) }),
        ]
        return (members + decidingMembers(configuration.policy)).compactMap { name, value in value.map { (name, $0) } }
    }

    private func embedded(_ configuration: DeviceConfiguration) -> JSON? {
        guard let folder = configuration.embedded else { return nil }
        return .fields([
            ("folder", .text(folder.string)), ("roleVersion", machine.embedded.map { .integer($0.roleVersion) }),
            ("running", .bool(runsEmbedded)),
        ])
    }

    /// Whether what the app ships is what runs.
    package var runsEmbedded: Bool {
        guard let embedded = machine.embedded else { return false }
        return machine.state.running?.contents == embedded.contents
    }

    /// From when on what waits may run.
    package var pendingActivation: ActivationTime? {
        if case .pending(_, let next) = machine.state { next.activates } else { nil }
    }

    /// What could not be fetched, and until when it is left alone.
    private var transfersJSON: JSON {
        .array(
            transfers.counts.sorted { $0.key < $1.key }.map { content, count in
                .fields([
                    ("patchId", .text(content.patchID.text)), ("version", .text(count.version.text)),
                    ("failures", .integer(count.failures)), ("until", count.until.map { .text($0.description) }),
                ])
            }
        )
    }

    /// What is made for another native part.
    private var unfitJSON: JSON {
        .array(
            unfit.rows.sorted { $0.key < $1.key }.map { content, row in
                .fields([
                    ("patchId", .text(content.patchID.text)), ("version", .text(row.version.text)),
                    ("platform", .text(row.platform.name)), ("compatibility", .text(row.platform.compatibility)),
                    ("needs", row.needs.map { .text($0) }),
                ])
            }
        )
    }
}
