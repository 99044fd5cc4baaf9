import DeviceOutput
import HTTPAPI
import NIOHTTP1
import PatchChoice
import PatchFormat
import PatchSync
import Patchline

/// The routes for the owner's decisions about new versions.
extension ControlWork {
    var aboutDecisions: [ControlRoute] {
        [
            ControlRoute(
                method: .POST,
                path: "\(Self.store)/approve",
                name: "approve",
                about:
                    "As `patchsync approve`: approves the waiting version of `patch`, or its `version`; with `all`, every waiting version.",
                body: .members(optional: [("patch", .text()), ("version", .text()), ("all", .bool)]),
                answers: [
                    .init(
                        status: 200,
                        about: "The approved versions. Empty if none waited.",
                        schema: .object([], optional: [("approved", .array(.document))], more: true)
                    )
                ]
            ) { call in .json(try await approve(call)) },
            ControlRoute(
                method: .POST,
                path: "\(Self.store)/postpone",
                name: "postpone",
                about: "As `patchsync postpone`: new versions start after `seconds` at the earliest.",
                body: .members([("seconds", .integer())]),
                answers: [
                    .init(
                        status: 200,
                        about: "The end of the postponement, which the owner's limit may shorten.",
                        schema: .object([("until", .text())], more: true)
                    )
                ]
            ) { call in .json(try await postpone(call)) },
            ControlRoute(
                method: .DELETE,
                path: "\(Self.store)/postpone",
                name: "endPostponement",
                about: "As `patchsync postpone --end`: the pending version may start again.",
                answers: [
                    .init(
                        status: 200,
                        about: "Whether anything was postponed.",
                        schema: .object([("ended", .bool)], more: true)
                    )
                ]
            ) { call in
                let device = try device(call)
                let was = try await Self.mappingErrors { () async throws(SyncError) in
                    try await device.endPostponement()
                }
                if was { try note([.postponementEnded], call) }
                return .json(.fields([("ended", .bool(was))]))
            },
        ]
    }

    private func approve(_ call: ControlCall) async throws(APIProblem) -> JSON {
        let (device, fields) = (try device(call), try call.fields())
        let patch: PatchID?
        let version: VersionLabel?
        do throws(FormatError) {
            patch = fields.has("patch") ? try fields.name("patch") : nil
            version = fields.has("version") ? try fields.name("version") : nil
            if version != nil, patch == nil { throw fields.broken("version", "requires patch") }
            // A misspelled name must not approve all versions.
            guard try fields.bool("all", default: false) != (patch != nil) else {
                throw fields.broken(
                    "patch",
                    "or all is required, but not both: all approves every waiting version"
                )
            }
        } catch { throw .invalid(error) }
        let approval = try await Self.mappingErrors { () async throws(SyncError) in
            try await device.approve(patch, version)
        }
        guard case .approved(let versions) = approval else {
            throw APIProblem(patch.map { .notListed("\($0)" + (version.map { "@\($0)" } ?? "")) } ?? .noListYet)
        }
        try note(versions.map { .approved($0.label) }, call)
        return .fields([("approved", .array(versions.map(\.json)))])
    }

    private func postpone(_ call: ControlCall) async throws(APIProblem) -> JSON {
        let (device, fields) = (try device(call), try call.fields())
        let seconds: Int
        do throws(FormatError) { seconds = try fields.integer("seconds", in: 1...31_536_000) } catch {
            throw .invalid(error)
        }
        let until = try await Self.mappingErrors { () async throws(SyncError) in
            try await device.postpone(for: .seconds(seconds))
        }
        guard let until else {
            throw APIProblem(Failure("the owner's limit for postponements is reached", code: .refused))
        }
        try note([.postponed(until: until)], call)
        return .fields([("until", .text(until.description))])
    }

    /// Reports decisions to listeners and the store's log.
    private func note(_ events: [DeviceEvent], _ call: ControlCall) throws(APIProblem) {
        log.take(events, from: try host(call).name, keptIn: StoreLog(try device(call).store.root))
    }
}
