import PatchCrypto
import PatchDelta
import PatchFormat
import PatchServer
import PatchStore
import PatchTrust
import ReleaseFolder
import SystemPackage

/// A release that is being uploaded: its files, and those still missing.
///
/// ```
/// role ──▶ targets: list, manifests, columns
/// list ──▶ scripts, and the listed manifests ──▶ assets
/// ```
///
/// Each list and manifest is read once, when it and the files that refer to it are stored: ``nextToRead()``, ``contents(of:)``,
/// ``take(_:limit:)``.
struct UploadedRelease: Sendable {
    /// The limit of one release's contents together, stored anywhere.
    static let totalLimit = 64_000_000_000
    /// The limit of lists, manifests and columns together, each once: publishing reads them into memory.
    static let targetLimit = 256_000_000

    private(set) var offer: ReleaseOffer
    let sources: UploadSources
    /// The missing parts, by digest.
    private(set) var wanted: [SHA256Digest: UploadNeed] = [:]

    private let paths: [SHA256Digest: [TargetPath]]
    private var here: Set<TargetPath> = []
    /// The entry of each manifest in the list.
    private var manifests: [TargetPath: Label] = [:]
    private var unread: [TargetPath] = []
    /// Objects that were counted.
    private(set) var objects: Set<SHA256Digest> = []
    private var total = 0

    var header: ReleaseHeader { offer.header }
    var role: Envelope { offer.role }
    var identity: SHA256Digest { offer.identity }

    /// Checks all stored files.
    init(_ offer: ReleaseOffer, on sources: UploadSources, totalLimit: Int) throws(UploadError) {
        self.offer = offer
        self.sources = sources
        let targets = try Self.targets(of: offer.parsed)
        paths = Dictionary(grouping: targets, by: \.file.sha256).mapValues { $0.map(\.path) }
        let sizes = Dictionary(targets.map { ($0.file.sha256, $0.file.size) }) { first, _ in first }
        let inMemory = sizes.values.reduce(0, +)
        guard inMemory <= Self.targetLimit else { throw .tooLarge(bytes: inMemory, limit: Self.targetLimit) }
        for (path, file) in targets {
            total += file.size
            if try sources.hasTarget(path, file.sha256) { arrived(path) } else { wanted[file.sha256] = file }
        }
        while let path = nextToRead() { try take(try contents(of: path), limit: totalLimit) }
        guard total <= totalLimit else { throw .tooLarge(bytes: total, limit: totalLimit) }
    }

    private static func targets(of role: TargetsRole) throws(UploadError) -> [(path: TargetPath, file: UploadNeed)] {
        var targets: [(TargetPath, UploadNeed)] = []
        for (name, file) in role.targets {
            guard let path = TargetPath(name.text), let sha256 = file.sha256 else {
                throw .malformed(FormatError("role.json", field: "signed.targets.\(name)", rule: TargetPath.rule))
            }
            guard file.length <= Limits.manifest else {
                throw .tooLarge(bytes: file.length, limit: Limits.manifest)
            }
            targets.append((path, UploadNeed(name: path.text, sha256: sha256, size: file.length)))
        }
        return targets
    }

    /// Replaces the offer with one of the same content and more signatures.
    mutating func take(_ offer: ReleaseOffer) {
        self.offer = offer
    }

    /// The missing manifests, and their patches.
    var wantedManifests: [SHA256Digest: PatchID] {
        var found: [SHA256Digest: PatchID] = [:]
        for sha256 in wanted.keys {
            if let path = paths[sha256]?.first(where: \.isManifest) { found[sha256] = path.patchID }
        }
        return found
    }

    /// The signature column of a manifest, if it is missing.
    func columnWanted(beside manifest: SHA256Digest) -> UploadNeed? {
        paths[manifest]?.compactMap(\.columnBeside).compactMap { offer.parsed.targets[ExactString($0.text)]?.sha256 }
            .compactMap { wanted[$0] }.first
    }

    // MARK: - Received parts

    /// Marks a part as received.
    mutating func arrived(_ sha256: SHA256Digest) {
        wanted[sha256] = nil
        for path in paths[sha256] ?? [] { arrived(path) }
    }

    private mutating func arrived(_ path: TargetPath) {
        guard here.insert(path).inserted else { return }
        if path == .patchList(header.channel) || manifests[path] != nil { unread.append(path) }
    }

    /// A received list or manifest that has not been read; the caller reads it.
    mutating func nextToRead() -> TargetPath? { unread.popLast() }

    /// The files in a list or a manifest, and whether the server has them.
    struct Contents: Sendable {
        var needs: [(need: UploadNeed, isAvailable: Bool)] = []
        var manifests: [TargetPath: Label] = [:]
    }

    /// Empty if its bytes were deleted meanwhile: publishing checks everything again.
    func contents(of path: TargetPath) throws(UploadError) -> Contents {
        guard let sha256 = offer.parsed.targets[ExactString(path.text)]?.sha256,
            let bytes = try sources.target(path, sha256)
        else { return Contents() }
        var contents = Contents()
        for need in try needs(of: path, bytes, naming: &contents.manifests) {
            contents.needs.append((need, try sources.hasObject(need.sha256)))
        }
        return contents
    }

    private func needs(
        of path: TargetPath,
        _ bytes: [UInt8],
        naming manifests: inout [TargetPath: Label]
    ) throws(UploadError) -> [UploadNeed] {
        do throws(FormatError) {
            if let label = self.manifests[path] {
                return try AssetManifest(bytes, named: path.text).assets.map {
                    UploadNeed(name: "\(label) \($0.path)", $0.fingerprint)
                }
            }
            let list = try ParsedPatchList(bytes).list
            var needs = list.gatewayPackages.map { line, package in
                UploadNeed(name: package.label(on: line), package.fingerprint)
            }
            for entry in list.entries {
                let label = Label(patchID: entry.patchID, version: entry.version)
                switch entry.kind {
                case .script: needs.append(UploadNeed(name: "\(label)", entry.fingerprint))
                case .bundle: manifests[.manifest(of: label, in: header.channel)] = label
                }
            }
            return needs
        } catch { throw .malformed(error) }
    }

    mutating func take(_ contents: Contents, limit: Int) throws(UploadError) {
        for (need, isAvailable) in contents.needs where objects.insert(need.sha256).inserted {
            total += need.size
            if !isAvailable, wanted[need.sha256] == nil { wanted[need.sha256] = need }
        }
        guard total <= limit else { throw .tooLarge(bytes: total, limit: limit) }
        for (path, label) in contents.manifests where manifests.updateValue(label, forKey: path) == nil {
            if here.contains(path) { unread.append(path) }
        }
    }
}

extension UploadedRelease {
    /// The release to publish: the received parts, and the server's own for the rest.
    func release() throws(UploadError) -> SignedRelease {
        guard wanted.isEmpty else { throw .incomplete(missing: wanted.count) }
        var targets: [TargetPath: [UInt8]] = [:]
        for (sha256, paths) in paths {
            guard let first = paths.first, let bytes = try sources.target(first, sha256) else {
                throw .incomplete(missing: 1)
            }
            for path in paths { targets[path] = bytes }
        }
        var found = sources.draft?.release.objects ?? [:]
        for sha256 in objects where try sources.hasBlob(sha256) { found[sha256] = sources.blob(sha256) }
        return SignedRelease(header: header, role: role, targets: targets, objects: found)
    }
}

extension TargetPath {
    fileprivate static func manifest(of label: Label, in channel: ChannelName) -> TargetPath {
        .manifest(channel: channel, patchID: label.patchID, version: label.version)
    }
}

extension GarbagePins {
    /// The limit of lists and manifests of one upload, which may never have a quorum: that of the largest manifest.
    private static let bytesReadOfUpload = Limits.manifest

    /// All files of a release being uploaded, stored anywhere.
    ///
    /// - Throws: an error for one that can no longer be published.
    init(ofUploadAt folder: FilePath, to repository: AppRepository, files: any FileOperations) throws {
        self.init()
        guard let (header, role) = try UploadFolder(path: folder, files: files).documents() else { return }
        let offer = try ReleaseOffer(of: header, role, to: repository)
        guard offer.bytesToRead <= Self.bytesReadOfUpload else { return }
        let sources = try UploadSources(offer, at: folder, in: repository, files: files)
        objects = try UploadedRelease(offer, on: sources, totalLimit: UploadedRelease.totalLimit).objects
        for (name, file) in offer.parsed.targets {
            guard let path = TargetPath(name.text), let sha256 = file.sha256 else { continue }
            targets.insert(.target(path, sha256))
        }
    }
}

extension ReleaseOffer {
    /// The size of its lists and manifests.
    fileprivate var bytesToRead: Int {
        parsed.targets.filter { !$0.key.text.hasSuffix(".sigs") }.values.reduce(0) { $0 + $1.length }
    }
}
