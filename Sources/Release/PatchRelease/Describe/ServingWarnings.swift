import PatchFormat

/// Valid but probably unintended parts of a bundle's `headers` and `cacheable`.
struct ServingWarnings {
    private(set) var found: [(key: String, rule: String)] = []

    /// - Parameter before: The manifests of the previous release.
    init(_ manifest: AssetManifest, _ bundle: DescribedBundle, before: [Label: AssetManifest]) {
        for pattern in Set(bundle.headers.map(\.pattern) + bundle.codings.map(\.pattern)).sorted(by: {
            $0.text < $1.text
        })
        where !manifest.assets.contains(where: { pattern.matches($0.path.text) }) {
            found.append(
                (
                    "headers.\(pattern.text)",
                    "matches no file of \(bundle.folder); **/\(pattern.text) is in every folder"
                )
            )
        }
        for rule in bundle.headers {
            guard let value = rule.fields.first(where: { $0.name == "Cache-Control" })?.value,
                CacheRule(value)?.keeps == true
            else { continue }
            let names = manifest.assets
                .filter { rule.pattern.matches($0.path.text) && !ContentName.carriesContent($0.url) }.map(\.path)
            guard !names.isEmpty else { continue }
            let words = "applies only to names that carry their content, such as main.3f9a1c07.js; sent with no-cache: "
            found.append(("headers.\(rule.pattern.text).Cache-Control", words + Self.list(names)))
        }
        let older = before.filter { $0.key.patchID == manifest.patchID && $0.key.version != manifest.version }
        for (label, old) in older.sorted(by: { "\($0.key)" < "\($1.key)" }) { compare(manifest, old, label) }
    }

    /// Finds cacheable files with changed content under an unchanged name.
    private mutating func compare(_ manifest: AssetManifest, _ old: AssetManifest, _ label: Label) {
        let changed = manifest.assets.filter { asset in
            asset.cacheable && old[asset.path].map { $0.fingerprint.sha256 != asset.fingerprint.sha256 } ?? false
        }
        let kept = changed.filter { ContentName.carriesContent($0.url) }.map(\.path)
        if !kept.isEmpty {
            let rule = "keeps \(Self.list(kept)) for a year, and other bytes have the same name in \(label)"
            found.append(("cacheable", "\(rule); build with new names, or leave them out here"))
        }
        let other = changed.filter { !ContentName.carriesContent($0.url) }.map(\.path)
        if !other.isEmpty {
            let rule = "is ignored for \(Self.list(other)): the content changed since \(label) and the name did not"
            found.append(("cacheable", "\(rule); put a hash into the name so that it is kept for a year"))
        }
    }

    private static func list(_ paths: [AssetPath]) -> String {
        let more = paths.count > 3 ? " and \(Words.grouped(paths.count - 3)) more" : ""
        return paths.prefix(3).map(\.text).joined(separator: ", ") + more
    }
}
