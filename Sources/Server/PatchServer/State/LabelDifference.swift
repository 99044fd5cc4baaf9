import PatchFormat
import PatchCrypto
import PatchTrust
import ReleaseFolder

/// The difference between content offered under a published label and the published content, in words.
struct LabelDifference: Equatable, Sendable {
    /// How many files are named; of more, the number is given.
    private static let named = 2

    let words: String

    /// The difference of two manifests.
    init(from old: JSON, to new: JSON) {
        let keys = [old, new].flatMap { $0.object?.members.map(\.key.text) ?? [] }
        let members = Set(keys).subtracting(["assets"]).filter { old[$0] != new[$0] }.sorted()
        let files = Self.files(from: old, to: new)
        if members == ["created"], files.isEmpty {
            words = "only the time it was described differs"
            return
        }
        let named = members.map { $0 == "created" ? "the time it was described" : $0 }
        let others =
            named.isEmpty ? [] : [named.joined(separator: " and ") + (named.count == 1 ? " differs" : " differ")]
        words = (files + others).joined(separator: ", ")
    }

    /// The difference of two scripts, or of contents that can no longer be compared.
    init(fromBytes old: Int?, to new: Int) {
        words =
            switch old {
            case nil: "it was published with other bytes"
            case new?: "other bytes, \(new) as before"
            case let old?: "\(new) bytes, not \(old)"
            }
    }

    private static func files(from old: JSON, to new: JSON) -> [String] {
        let (old, new) = (digests(old), digests(new))
        let changes = [
            ("added", Set(new.keys).subtracting(old.keys)), ("removed", Set(old.keys).subtracting(new.keys)),
            ("changed", Set(new.keys.filter { old[$0] != nil && old[$0] != new[$0] })),
        ]
        return changes.filter { !$0.1.isEmpty }.map { word, paths in
            let shown = paths.sorted().prefix(named).joined(separator: ", ")
            return paths.count > named ? "\(paths.count) files \(word), \(shown) among them" : "\(shown) \(word)"
        }
    }

    private static func digests(_ manifest: JSON) -> [String: JSON] {
        guard case .array(let assets) = manifest["assets"] else { return [:] }
        var digests: [String: JSON] = [:]
        for asset in assets {
            guard case .string(let path) = asset["path"] else { continue }
            digests[path.text] = asset
        }
        return digests
    }
}

extension LabelDifference {
    /// Compares with the published content, which is in the tree as long as a release kept for a rollback lists it.
    init(
        of label: String,
        in verified: VerifiedRelease,
        from labels: PublishedLabels,
        _ storage: any TreeStorage
    ) {
        guard let entry = verified.list.entries.first(where: { "\($0.patchID) \($0.version)" == label }),
            let known = labels.rows[Label(patchID: entry.patchID, version: entry.version)]
        else {
            self.init(fromBytes: nil, to: 0)
            return
        }
        func path(_ channel: ChannelName) -> TargetPath {
            .manifest(channel: channel, patchID: entry.patchID, version: entry.version)
        }
        let file = TreePath.File.target(path(known.channel), known.sha256)
        if let old = try? storage.read(file, limit: Limits.manifest),
            let new = verified.release.targets[path(verified.release.header.channel)],
            let was = try? JSON.document(old, named: "manifest", limit: Limits.manifest),
            let offered = try? JSON.document(new, named: "manifest", limit: Limits.manifest)
        {
            self.init(from: was, to: offered)
            return
        }
        let size = (try? storage.status(of: .object(known.sha256)))?.size
        self.init(fromBytes: size, to: entry.fingerprint.size)
    }
}
