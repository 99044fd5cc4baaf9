import AssetServer
import PatchChoice
package import PatchFormat
import PatchSync
package import Patchline

/// A line of `patchsync serve --json`.
package struct ServeEvent: Sendable {
    package let name: String
    package let members: [(String, JSON?)]

    package init(_ name: String, _ members: [(String, JSON?)] = []) {
        (self.name, self.members) = (name, members)
    }

    package var json: JSON { .fields([("event", .text(name))] + members) }

    /// Whether somebody may have to look.
    package var isTrouble: Bool {
        [
            "trouble", "rolledBack", "unproven", "scriptFailed", "scriptsLeftOut", "stalePage", "damaged",
            "bundleMissing", "stateFault",
        ].contains(name)
    }

    /// What one event of a running app comes to; nothing where it is for people alone.
    package static func told(of event: LocalServer.Event) -> [ServeEvent] {
        switch event {
        case .app(let event): [told(of: event)]
        case .syncing, .decided, .fileTrouble, .portTaken: []
        case .synced(.success(let report)):
            [
                ServeEvent(
                    "synced",
                    [
                        ("roleVersion", .integer(report.roleVersion)), ("isNew", .bool(report.staging == .staged)),
                        ("putOff", report.putOff.isEmpty ? nil : .array(report.putOff.map(\.json))),
                        ("awaiting", report.awaiting.isEmpty ? nil : .array(report.awaiting.map(\.json))),
                    ]
                )
            ]
                + report.noRoom.map { ServeEvent("noRoom", $0.members) }
                + report.failures.filter { if case .noRoom = $0.error { false } else { true } }
                .map { trouble("\($0.patchID) \($0.version): \($0.error.description)") }
        case .synced(.failure(let error)): [trouble("sync: \(error.description)")]
        case .parametersTrouble(let error): [trouble("the last good parameters stay: \(error.description)")]
        }
    }

    private static func told(of event: RunningApp.Event) -> ServeEvent {
        switch event {
        case .nothingInstalled: ServeEvent("nothingInstalled")
        case .serving(let selection, let trial):
            ServeEvent(
                "serving",
                [
                    ("patches", selection.told), ("launch", trial.map { .text($0.text) }),
                    ("selection", .integer(selection.number)),
                ]
            )
        case .following(let channel): ServeEvent("following", [("channel", .text(channel.text))])
        case .withdrawn(let ids): ServeEvent("withdrawn", [("patches", .array(ids.map { .text($0.text) }))])
        case .damaged(let files): ServeEvent("damaged", [("files", .array(files.map { .text($0) }))])
        case .confirmed(let selection): ServeEvent("confirmed", [("patches", selection.told)])
        case .rolledBack(let good, let bad, let setback):
            ServeEvent("rolledBack", [("to", good?.told), ("from", bad.told)] + (setback?.members ?? []))
        case .unproven(let selection): ServeEvent("unproven", [("patches", selection.told)])
        case .superseded(let selection, let next):
            ServeEvent("superseded", [("patches", selection.told), ("by", next.told)])
        case .scriptFailed(let failure): ServeEvent("scriptFailed", failure.members)
        case .scriptsLeftOut(let page, let reason):
            ServeEvent("scriptsLeftOut", [("page", .text(page)), ("reason", .text(reason.rawValue))])
        case .stalePage(let version): ServeEvent("stalePage", [("version", version.map { .text($0) })])
        case .bundleMissing(let id, let there):
            ServeEvent(
                "bundleMissing",
                [("bundle", .text(id.text)), ("bundles", .array(there.map { .text($0.text) }))]
            )
        case .stateFault(let fault): ServeEvent("stateFault", fault.members)
        case .parametersChanged(let parameters):
            ServeEvent(
                "parameters",
                [("channel", .text(parameters.channel.text)), ("parameters", parameters.values.json)]
            )
        case .trouble(let error): trouble(error.description)
        }
    }

    private static func trouble(_ text: String) -> ServeEvent { ServeEvent("trouble", [("error", .text(text))]) }
}
