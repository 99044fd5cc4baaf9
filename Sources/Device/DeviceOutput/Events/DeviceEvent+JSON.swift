import AssetServer
import PatchChoice
package import PatchFormat
import PatchSync
package import Patchline

extension DeviceEvent {
    /// The name in `serve --json`, in the local API and in a store's log.
    package var name: String {
        switch self {
        case .nothingInstalled: "nothingInstalled"
        case .serving: "serving"
        case .following: "following"
        case .withdrawn: "withdrawn"
        case .damaged: "damaged"
        case .confirmed: "confirmed"
        case .rolledBack: "rolledBack"
        case .scriptFailed: "scriptFailed"
        case .scriptsLeftOut: "scriptsLeftOut"
        case .stalePage: "stalePage"
        case .unproven: "unproven"
        case .superseded: "superseded"
        case .bundleMissing: "bundleMissing"
        case .stateFault: "stateFault"
        case .parametersChanged: "parameters"
        case .synced(.success): "synced"
        case .trouble, .synced(.failure), .parametersTrouble, .failed, .storeFailed, .fileTrouble: "trouble"
        case .noRoom: "noRoom"
        case .update: "update"
        case .updateDone: "updateDone"
        case .script: "script"
        case .asked(let asked):
            switch asked.question {
            case .share: "gray"
            case .condition: "condition"
            }
        case .awaiting: "awaiting"
        case .approved: "approved"
        case .postponed: "postponed"
        case .postponementEnded: "postponementEnded"
        case .made: "made"
        case .differs: "differs"
        case .follows: "follows"
        case .removed: "removed"
        case .listening: "listening"
        // These events are not part of any document.
        case .syncing: "syncing"
        case .portTaken: "portTaken"
        case .proxyLine: "proxy"
        }
    }

    /// The members in addition to `event`.
    ///
    /// The program adds those of `listening`, because it may have to keep the URL secret.
    package var members: [(String, JSON?)] {
        switch self {
        case .serving(let selection, let trial):
            [
                ("patches", selection.versionsJSON), ("launch", trial.map { .text($0.text) }),
                ("selection", .integer(selection.number)),
            ]
        case .following(let channel): [("channel", .text(channel.text))]
        case .withdrawn(let ids): [("patches", .array(ids.map { .text($0.text) }))]
        case .damaged(let files): [("files", .array(files.map { .text($0) }))]
        case .confirmed(let selection), .unproven(let selection): [("patches", selection.versionsJSON)]
        case .superseded(let selection, let next): [("patches", selection.versionsJSON), ("by", next.versionsJSON)]
        case .rolledBack(let good, let bad, let setback):
            [("to", good?.versionsJSON), ("from", bad.versionsJSON)] + (setback?.members ?? [])
        case .scriptFailed(let failure): failure.members
        case .scriptsLeftOut(let page, let reason): [("page", .text(page)), ("reason", .text(reason.rawValue))]
        case .stalePage(let version): [("version", version.map { .text($0) })]
        case .bundleMissing(let id, let there):
            [("bundle", .text(id.text)), ("bundles", .array(there.map { .text($0.text) }))]
        case .stateFault(let fault): Shapes.stateFault.members(of: fault)
        case .parametersChanged(let parameters):
            [("channel", .text(parameters.channel.text)), ("parameters", parameters.values.json)]
        case .synced(.success(let report)):
            [
                ("roleVersion", .integer(report.roleVersion)), ("isNew", .bool(report.staging == .staged)),
                ("putOff", report.putOff.nonEmpty.map(Shapes.putOff.list.json)),
                ("awaiting", report.awaiting.isEmpty ? nil : .array(report.awaiting.map(\.json))),
            ]
        case .trouble(let error): [("error", .text(error.description))]
        case .synced(.failure(let error)): [("error", .text("sync: \(error.description)"))]
        case .parametersTrouble(let error):
            [("error", .text("the last good parameters stay: \(error.description)"))]
        case .failed(let failure): [("error", .text("\(failure.patchID) \(failure.version): \(failure.error)"))]
        case .noRoom(let version): Shapes.noRoom.members(of: version)
        case .awaiting(let version): version.security.map { [("security", $0.json)] } ?? []
        case .postponed(let until): [("until", .text(until.description))]
        case .differs(let names): [("differences", .array(names.map { .text($0) })), ("hint", hint.map { .text($0) })]
        case .follows(let changes): [("changes", .array(changes.map { .text($0) }))]
        case .storeFailed(let failure): [("error", .text(failure.message)), ("hint", hint.map { .text($0) })]
        case .nothingInstalled, .syncing, .portTaken, .fileTrouble, .update, .updateDone, .script, .asked, .approved,
            .postponementEnded, .made, .removed, .listening, .proxyLine:
            []
        }
    }

    /// One action that resolves the problem.
    ///
    /// It may have several lines.
    package var hint: String? {
        switch self {
        case .differs:
            "correct `root:` in the settings file, or name an empty folder as `store:` to begin anew under the other root."
        case .storeFailed(let failure): failure.hint
        default: nil
        }
    }

    /// - Parameters:
    ///   - store: The store's name in the settings file.
    ///   - id: The position from which a listener can continue.
    package func json(at time: UTCTime, store: String, id: String) -> JSON {
        let own = members
        return .fields(
            [
                ("id", .text(id)), ("at", .text(time.description)), ("store", .text(store)),
                ("type", .integer(type.rawValue)), ("typeName", .text(type.name)), ("event", .text(name)),
                ("data", data(withText: true)),
            ] + own + labelMembers.filter { member in !own.contains { $0.0 == member.0 } }
        )
    }

    /// A line of a store's log: the sentence, and only members without secrets.
    ///
    /// - Parameter program: The program that writes the log.
    package func logged(at time: UTCTime, by program: String) -> JSON {
        .fields(
            [
                ("at", .text(time.description)), ("by", .text(program)), ("type", .integer(type.rawValue)),
                ("typeName", .text(type.name)), ("event", .text(name)), ("data", data(withText: false)),
                ("text", .text(String(text.prefix(Self.longestText)))),
            ] + labelMembers
        )
    }

    /// The limit in characters, because the size of the log is limited.
    private static let longestText = 1_000

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
        guard case .asked(let asked) = self else { return nil }
        switch asked.question {
        case .share(let share): return .fields([("isHit", .bool(asked.isHit)), ("gray", .integer(share))])
        case .condition(let text):
            return .fields([("isHit", .bool(asked.isHit)), ("condition", withText ? .text(text) : nil)])
        }
    }
}
