package import PatchFormat

extension OnlineParameters {
    /// The document of `patchsync parameters --json`.
    package var shown: JSON {
        .fields([("app", .text(app.text)), ("channel", .text(channel.text)), ("parameters", values.json)])
    }
}
