package import PatchFormat

extension TargetPath {
    /// Of a bundle's document, `CHANNEL/PATCH/VERSION/NAME`.
    package var patchID: PatchID? {
        let parts = text.split(separator: "/")
        return parts.count == 4 ? PatchID(String(parts[1])) : nil
    }

    /// The signature column beside a manifest; nil for anything else.
    package var columnBeside: TargetPath? {
        isManifest ? TargetPath("\(text.dropLast("json".count))sigs") : nil
    }
}
