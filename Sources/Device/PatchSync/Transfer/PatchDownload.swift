import PatchChoice
import PatchFormat

/// A patch of which something has to come, and what.
struct PatchDownload {
    enum Content {
        /// Whether its text has to come.
        case script(isMissing: Bool)
        /// A manifest verified with every signature, and the places in it of the assets that have to come.
        case bundle(AssetManifest, missing: [Int32])
    }

    let wanted: SyncPlan.Wanted
    let content: Content

    /// How many objects have to come; some may be the same.
    var count: Int {
        switch content {
        case .script(let isMissing): isMissing ? 1 : 0
        case .bundle(_, let missing): missing.count
        }
    }

    /// The weight of each asset in the bundle's pack; nil for a script.
    var weights: PackWeights? {
        guard case .bundle(let manifest, _) = content else { return nil }
        return PackWeights(manifest.assets)
    }

    /// Its row in the manifest; nil for a script.
    func row(_ number: Int) -> Int? {
        guard case .bundle(_, let missing) = content else { return nil }
        return Int(missing[number])
    }

    func fingerprint(_ number: Int) -> Fingerprint {
        switch content {
        case .script: wanted.patch.fingerprint
        case .bundle(let manifest, let missing): manifest.assets[Int(missing[number])].fingerprint
        }
    }

    /// Of what has to come.
    var digests: some Sequence<SHA256Digest> { (0..<count).lazy.map { fingerprint($0).sha256 } }

    func request(_ number: Int) -> ObjectRequest {
        let patch = wanted.patch
        switch content {
        case .script:
            return ObjectRequest(ExpectedFile(patch.fingerprint), path: patch.url, entry: patch.label.description)
        case .bundle(let manifest, let missing):
            let asset = manifest.assets[Int(missing[number])]
            let path = URLLayout.object(asset.fingerprint.sha256)
            return ObjectRequest(ExpectedFile(asset.fingerprint), path: path, entry: "\(patch.label) \(asset.path)")
        }
    }
}
