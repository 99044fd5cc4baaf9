package import PatchFormat
package import PatchStore

/// How the files of a bundle are served, as its description and its files say together.
package struct DescribedServing: Equatable, Sendable {
    package let routing: BundleRouting?
    package let codings: [AssetPath: AssetCoding]
    /// Files that name their source map themselves.
    let namedMaps: Set<AssetPath>
    /// The content types of web app manifests that the description names none for.
    let manifestTypes: [HeaderRule]
    let notes: [BundleNote]
    /// Set where the files decided about the routing.
    package let recognition: BundleRecognition?

    /// - Parameter known: the manifest that is signed under the same label. It is made again as it was, byte for byte: the same
    ///   files under the same label are the same manifest.
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
        // Made again, a manifest has the rules that it had.
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

    /// The codings that the description states; nil for a file that is sent as it is.
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
