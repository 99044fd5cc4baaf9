package import PatchChoice
package import PatchFormat
package import PatchSync

extension Explanation {
    /// As `patchsync explain --json` has it.
    ///
    /// - Parameters:
    ///   - configuration: of the device whose list it goes by.
    ///   - failure: the last sync's.
    package func json(_ configuration: DeviceConfiguration, after failure: SyncFailure? = nil) -> JSON {
        .fields([
            ("app", .text(configuration.app.text)), ("channel", .text(configuration.channel.text)),
            ("roleVersion", .integer(roleVersion)), ("at", .text(time.description)), ("lastFailure", failure?.json),
            ("versions", .array(versions.map(\.json))),
        ])
    }
}

extension Failure {
    package static let noListYet = Failure(
        "no list was verified here yet",
        hint: "run `patchsync sync` first",
        code: .refused
    )

    /// - Parameter patch: as it was asked for.
    package static func notListed(_ patch: String) -> Failure {
        Failure("\(patch) is not listed", hint: "`patchsync explain` shows the listed patches", code: .refused)
    }
}
