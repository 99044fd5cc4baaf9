package import PatchFormat

extension OnlineParameters {
    /// As `patchsync parameters --json` has it.
    package var shown: JSON {
        .fields([("app", .text(app.text)), ("channel", .text(channel.text)), ("parameters", values.json)])
    }
}
