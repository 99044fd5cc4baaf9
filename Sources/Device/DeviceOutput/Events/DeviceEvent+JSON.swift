import AssetServer
import PatchChoice
package import PatchFormat
import PatchSync
package import Patchline

extension DeviceEvent {
    /// As `patchsync serve --json` names it, where it has one.
    package var name: String {
        switch what {
        case .told(let event): ServeEvent.told(of: event).first?.name ?? "unknown"
        case .failed: "trouble"
        case .update: "update"
        case .updateDone: "updateDone"
        case .script: "script"
        case .awaiting: "awaiting"
        case .approved: "approved"
        case .postponed: "postponed"
        case .postponementEnded: "postponementEnded"
        case .asked(let asked):
            switch asked.question {
            case .share: "gray"
            case .condition: "condition"
            }
        }
    }

    /// - Parameters:
    ///   - store: as the settings file names it.
    ///   - id: where a listener may go on.
    package func json(at time: UTCTime, store: String, id: String) -> JSON {
        .fields(
            [
                ("id", .text(id)), ("at", .text(time.description)), ("store", .text(store)),
                ("type", .integer(type.rawValue)), ("typeName", .text(type.name)), ("event", .text(name)),
                ("data", data(withText: true)),
            ] + members + labelMembers
        )
    }

    /// A line of a store's log: what it says, and of its members only what is nobody's secret.
    ///
    /// - Parameter program: who writes it.
    package func logged(at time: UTCTime, by program: String) -> JSON {
        .fields(
            [
                ("at", .text(time.description)), ("by", .text(program)), ("type", .integer(type.rawValue)),
                ("typeName", .text(type.name)), ("event", .text(name)), ("data", data(withText: false)),
                ("text", .text(String(text.prefix(Self.longestText)))),
            ] + labelMembers
        )
    }

    /// In characters, for a log that is bounded.
    private static let longestText = 1_000

    private var members: [(String, JSON?)] {
        switch what {
        // The version of a failed script is a member of every event that has one: ``labelMembers``.
        case .told(.app(.scriptFailed(let failure))): failure.details
        case .told(let event): ServeEvent.told(of: event).first?.members ?? []
        case .failed(let failure): [("error", .text("\(failure.patchID) \(failure.version): \(failure.error)"))]
        case .awaiting(let version): version.security.map { [("security", $0.json)] } ?? []
        case .postponed(let until): [("until", .text(until.description))]
        case .update, .updateDone, .script, .asked, .approved, .postponementEnded: []
        }
    }

    private var labelMembers: [(String, JSON?)] {
        guard let label else { return [] }
        return [("patchId", .text(label.patchID.text)), ("version", .text(label.version.text))]
    }

    private func data(withText: Bool) -> JSON? {
        if isRollback {
            return .fields([
                ("rollback", .bool(true)), ("reason", setback.map { .text($0.reason.code) }),
                ("pageError", setback?.error?.json),
            ])
        }
        guard case .asked(let asked) = what else { return nil }
        switch asked.question {
        case .share(let share): return .fields([("isHit", .bool(asked.isHit)), ("gray", .integer(share))])
        case .condition(let text):
            return .fields([("isHit", .bool(asked.isHit)), ("condition", withText ? .text(text) : nil)])
        }
    }
}
