import PatchChoice
package import PatchFormat
package import PatchSync
import SystemPackage

extension SyncReport {
    /// 0 when everything is as listed, 3 when something was refused by its signature or digest, or the server has been
    /// behind for a day, and nothing else failed; 6 when versions do not fit on the disk, and nothing else failed; 9 when
    /// patches failed in other ways.
    package var code: ResultCode {
        let isOverdue = staleMirror?.isOverdue == true
        guard !isComplete || isOverdue else { return .done }
        let isRefused = !refused.isEmpty || !republished.isEmpty || isOverdue
        let isUnwritable = if case .refused = staging { true } else { false }
        let codes = Set(
            failures.map(\.error.code) + (isRefused ? [.refused] : []) + (isUnwritable ? [.malformed] : [])
        )
        return codes == [.refused] ? .refused : codes == [.disk] ? .disk : .partial
    }

    /// As `patchsync sync --json` has it.
    ///
    /// - Parameter scripts: what the device has once the sync is over.
    package func json(_ scripts: [InstalledScript]) -> JSON {
        .fields(
            [
                ("roleVersion", .integer(roleVersion)), ("staging", .text(staging.word)),
                ("stagingError", staging.why.map { .text($0) }),
                ("stateFault", stateFault.map { .fields($0.members) }),
                ("activates", staging == .staged ? .text(activates.rawValue) : nil),
                ("files", .integer(filesReceived)), ("bytes", .integer(bytesReceived)),
                ("transferred", .integer(bytesTransferred)),
                ("packs", packs.isEmpty ? nil : .array(packs.map(\.json))),
                ("putOff", putOff.isEmpty ? nil : .array(putOff.map(\.json))),
                ("noRoom", noRoom.json),
                (
                    "patches",
                    .array(
                        states.with(scripts).map { patch in
                            .fields([
                                ("patchId", .text(patch.patchID.text)), ("version", .text(patch.version.text)),
                                ("states", .array(patch.states.map { .text($0.name) })),
                                ("meaning", patch.states.last.map { .text($0.meaning) }),
                                ("fault", patch.fault.map { .text($0) }), ("file", patch.file.map { .text($0.string) }),
                            ])
                        }
                    )
                ),
                ("healed", .array(healed.map { .text($0.description) })),
                ("refused", refusedJSON),
                (
                    "failures",
                    .array(
                        failures.map { failure in
                            .fields([
                                ("patchId", .text(failure.patchID.text)), ("version", .text(failure.version.text)),
                                ("error", .text(failure.error.description)),
                            ])
                        }
                    )
                ),
                ("unanswered", unanswered.map { .text($0.description) }),
                ("parameters", parameters.word.map { .text($0) }),
                ("parametersError", parametersError.map { .text($0.description) }),
            ] + offerMembers
        )
    }

    package var parametersError: SyncError? {
        if case .kept(let error) = parameters { error } else { nil }
    }
}

extension PackUse {
    fileprivate var json: JSON {
        .fields([
            ("patchId", .text(label.patchID.text)), ("version", .text(label.version.text)), ("from", .text(base.text)),
            ("through", through.map { .text($0.text) }),
            ("bytes", .integer(bytes)), ("estimate", .integer(estimate)),
        ])
    }
}

extension ParametersUpdate {
    /// Nil where there is nothing to say.
    fileprivate var word: String? {
        switch self {
        case .unchanged: nil
        case .changed: "changed"
        case .removed: "removed"
        case .kept: "kept"
        }
    }
}

extension SelectionMachine.Staging {
    fileprivate var word: String { why == nil ? "\(self)" : "refused" }

    fileprivate var why: String? {
        if case .refused(let why) = self { why.description } else { nil }
    }
}
