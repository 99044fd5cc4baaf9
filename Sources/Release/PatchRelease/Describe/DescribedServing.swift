package import PatchFormat
package import PatchStore

/// The serving rules of a bundle's files, derived from its description and its files.
package struct DescribedServing: Equatable, Sendable {
    package let routing: BundleRouting?
    package let codings: [AssetPath: AssetCoding]
    /// Files that name their source map in a comment.
    let namedMaps: Set<AssetPath>
    /// The content types of web app manifests without a type in the description.
    let manifestTypes: [HeaderRule]
    let notes: [BundleNote]
    /// Set if the routing was derived from the files.
    package let recognition: BundleRecognition?

    /// - Parameter known: The manifest signed under the same label. The new manifest is identical to it, byte for byte, if the
    ///   files are the same.
    package init(
        of contents: BundleContents,
        _ bundle: DescribedBundle,
        known: AssetManifest?,
        files disk: any FileOperations
    ) throws(SigningError) {
        if let known, known.routing == nil, bundle.routing == nil {
            (routing, codings, namedMaps, recognition) = (nil, Self.codings(of: contents, bundle), [], nil)
            (manifestTypes, notes) = ([], [])
            return
        }
        let types = contents.linkedManifests.rules(besides: bundle.headers)
        // A manifest that is made again keeps its rules.
        manifestTypes = known.map { known in types.filter(known.headers.contains) } ?? types
        notes = contents.linkedManifests.notes(besides: bundle.headers)
        let decided = bundle.routing ?? known?.routing ?? (bundle.routes?.isEmpty == false ? .app : nil)
        recognition = decided == nil ? try BundleRecognition(of: contents, bundle, disk: disk) : nil
        routing = decided ?? recognition?.routing
        let paths = Set(contents.files.map(\.path))
        var codings: [AssetPath: AssetCoding] = [:]
        var named: Set<AssetPath> = []
        for (path, file, _) in contents.files {
            codings[path] = try disk.coding(of: path, at: file, beside: paths)
            guard [.js, .css].contains(AssetType(path: path)), let map = try? AssetPath("\(path).map"),
                paths.contains(map)
            else { continue }
            if try disk.namesSourceMap(file) { named.insert(path) }
        }
        for (path, coding) in Self.described(bundle, paths: contents.files.map(\.path)) { codings[path] = coding }
        (self.codings, namedMaps) = (codings, named)
    }

    private static func codings(of contents: BundleContents, _ bundle: DescribedBundle) -> [AssetPath: AssetCoding] {
        described(bundle, paths: contents.files.map(\.path)).compactMapValues(\.self)
    }

    /// The codings that the description states; nil for a file that is sent unchanged.
    private static func described(_ bundle: DescribedBundle, paths: [AssetPath]) -> [AssetPath: AssetCoding?] {
        var codings: [AssetPath: AssetCoding?] = [:]
        guard !bundle.codings.isEmpty else { return [:] }
        for path in paths {
            guard let rule = bundle.codings.last(where: { $0.pattern.matches(path.text) }) else { continue }
            codings.updateValue(rule.coding, forKey: path)
        }
        return codings
    }
}
