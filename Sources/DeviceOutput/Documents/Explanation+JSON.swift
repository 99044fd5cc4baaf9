package import PatchChoice
package import PatchFormat
package import PatchSync

extension Explanation {
    /// As `patchsync explain --json` has it.
    ///
    /// - Parameter configuration: of the device whose list it goes by.
    package func json(_ configuration: DeviceConfiguration) -> JSON {
        .fields([
            ("app", .text(configuration.app.text)), ("channel", .text(configuration.channel.text)),
            ("roleVersion", .integer(roleVersion)), ("at", .text(time.description)),
            ("versions", .array(versions.map(\.json))),
        ])
    }
}
