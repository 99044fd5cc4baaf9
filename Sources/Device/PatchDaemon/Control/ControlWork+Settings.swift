import DeviceOutput
import HTTPAPI
import NIOHTTP1
import PatchFetch
import PatchFormat
import PatchSync

extension ControlWork {
    var aboutSettings: [ControlRoute] {
        [
            ControlRoute(
                method: .GET,
                path: "\(Self.store)/settings",
                name: "settings",
                about: "As `patchsync set --json`: the values for rules, and the servers.",
                answers: [.init(status: 200, about: "The settings.", schema: .named("Settings"))]
            ) { call in .json(try device(call).configuration.facts) },
            ControlRoute(
                method: .PATCH,
                path: "\(Self.store)/settings",
                name: "set",
                about:
                    "As `patchsync set`: a merge patch (RFC 7396). Null removes a setting; a missing member changes nothing.",
                body: .json(
                    DeviceSettings.schema.closed,
                    limit: ControlCall.bodyLimit,
                    type: "application/merge-patch+json",
                    isRequired: false
                ),
                answers: [.init(status: 200, about: "The new settings.", schema: .named("Settings"))]
            ) { call in .json(try await set(call)) },
        ]
    }

    private func set(_ call: ControlCall) async throws(APIProblem) -> JSON {
        let (device, fields) = (try device(call), try call.fields())
        let settings: DeviceSettings
        do throws(FormatError) { settings = try DeviceSettings(fields) } catch { throw .invalid(error) }
        do throws(SyncError) {
            return try await device.store.changingConfiguration { configuration throws(SyncError) in
                try settings.apply(to: &configuration)
            }.facts
        } catch {
            guard case .fetch(.tls) = error else { throw APIProblem(error) }
            // The requested value contradicts the server's URL, or contains no certificate.
            let failure = Failure(error)
            throw APIProblem(Failure(failure.message, hint: failure.hint, code: .usage))
        }
    }
}
