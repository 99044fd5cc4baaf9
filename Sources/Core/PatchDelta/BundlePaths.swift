package import PatchFormat

extension TargetPath {
    /// The patch id in the path of a bundle's document, `CHANNEL/PATCH/VERSION/NAME`.
    package var patchID: PatchID? {
        let parts = text.split(separator: "/")
        return parts.count == 4 ? PatchID(String(parts[1])) : nil
    }

    /// The path of a manifest's signature column, or nil for any other document.
    package var columnBeside: TargetPath? {
        isManifest ? TargetPath("\(text.dropLast("json".count))sigs") : nil
    }
}
