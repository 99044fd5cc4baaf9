import Linux
import PatchChoice
import PatchDelta
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// A stored version of a bundle, with the data to which packs are applied.
struct BaseVersion {
    let version: VersionLabel
    let manifest: PackManifest
    private(set) var limits: PackReader.Bounds
    /// The total size of its contents in bytes.
    let contents: Int
    /// The size in bytes of the manifest that packs from it produce.
    private var size: Int
    private let columnDigest: SHA256Digest?
    /// The column of an unsigned intermediate version, built from the index's data.
    private var madeColumn: [UInt8]?
    /// The folder of contents that are not objects.
    private let intermediate: FilePath?
    private let store: DeviceStore

    /// Returns nil unless all files are as they were verified.
    ///
    /// - Parameter new: The version that packs from it lead to.
    init?(_ patch: InstalledPatch, to new: InstalledPatch, in store: DeviceStore, _ check: inout IntegrityCheck) {
        let digest = patch.fingerprint.sha256
        guard (try? check.faults(of: patch))?.isEmpty == true,
            let bytes = try? store.bytes(of: digest, limit: Limits.manifest)
        else { return nil }
        let digested = DigestedBytes(bytes)
        guard let manifest = try? PackManifest(digested), digested.finish().sha256 == digest else { return nil }
        (version, columnDigest, self.manifest, self.store) = (patch.version, patch.column, manifest, store)
        (size, intermediate) = (new.fingerprint.size, nil)
        let column = patch.column.flatMap { try? store.files.identity(of: try store.place(of: $0).path)?.size }
        contents = manifest.contents
        limits = PackReader.Bounds(fromBaseOf: contents + patch.fingerprint.size + (column ?? 0))
    }

    /// The unsigned intermediate version between this one and `new`, as its pack produced it.
    ///
    /// Its contents may have any path, because they are found by digest alone.
    ///
    /// - Throws: An error for a version of another patch, or one whose declared size exceeds the limit.
    func through(
        _ bytes: [UInt8],
        in contents: IntermediateContents,
        to new: InstalledPatch,
        named name: String
    ) throws(SyncError) -> BaseVersion {
        let (asset, manifest): (AssetManifest, PackManifest)
        do throws(FormatError) { asset = try AssetManifest(bytes, named: name) } catch { throw .format(error) }
        do throws(PackError) { manifest = try PackManifest(bytes) } catch { throw .pack(name, error) }
        guard asset.patchID == new.patchID else {
            throw .trust(
                .foreign(document: name, field: "patchId", found: asset.patchID.text, expected: new.patchID.text)
            )
        }
        guard manifest.contents <= contents.limit else {
            throw .pack(name, .tooMuch(manifest.contents, limit: contents.limit))
        }
        return BaseVersion(version: asset.version, manifest, bytes: bytes.count, in: contents.folder, to: new, store)
    }

    private init(
        version: VersionLabel,
        _ manifest: PackManifest,
        bytes: Int,
        in folder: FilePath,
        to new: InstalledPatch,
        _ store: DeviceStore
    ) {
        (self.version, self.manifest, self.store, intermediate) = (version, manifest, store, folder)
        (contents, size, columnDigest) = (manifest.contents, new.fingerprint.size, nil)
        limits = PackReader.Bounds(fromBaseOf: contents + bytes)
    }

    /// The same base for a pack with these sizes, which an unsigned source announced.
    func expecting(pack: Int, manifest: Int? = nil) -> BaseVersion {
        var copy = self
        copy.limits = PackReader.Bounds(pack: min(limits.pack, pack), contents: limits.contents)
        if let manifest { copy.size = manifest }
        return copy
    }

    func with(column: [UInt8]) -> BaseVersion {
        var copy = self
        copy.madeColumn = column
        return copy
    }

    /// The signature column, or nil unless it is stored as it was verified or was built before.
    func column() -> [UInt8]? {
        if let madeColumn { return madeColumn }
        guard let digest = columnDigest, let place = try? store.place(of: digest),
            let bytes = try? store.files.read(place.path, limit: Limits.signatureColumn),
            SHA256Digest(of: bytes) == digest
        else { return nil }
        return bytes
    }

    /// Contents by digest, to which packs refer, or nil for missing ones.
    private var objects: PackObjects {
        PackObjects { [store, intermediate] digest in
            let made = intermediate.flatMap { try? store.files.open($0.at(digest.hex), limit: Limits.object) }
            let object = made ?? (try? store.files.open(try store.place(of: digest).path, limit: Limits.object))
            return object.map(FileBytes.init)
        }
    }

    /// Reads a pack that is completely stored.
    ///
    /// - Parameters:
    ///   - name: The name of the pack in errors.
    ///   - take: Receives the pack's results in order. Returns false to end the reading.
    /// - Returns: the new manifest, checked against the pack's name, or nil if `take` ended the reading.
    func read(
        _ pack: BasePack,
        named name: String,
        _ take: (PackResult) throws(SyncError) -> Bool
    ) throws(SyncError) -> [UInt8]? {
        let file = try store.wrapped { () throws(FileError) in try store.objects.open(pack, limit: limits.pack) }
        var reader = PackReader(
            base: manifest,
            manifest: pack.manifest,
            size: size,
            objects: objects,
            limits: limits
        )
        while let piece = try store.wrapped({ () throws(FileError) in try file.next() }) {
            if Task.isCancelled { throw .fetch(.cancelled) }
            reader.feed(piece)
            while let result = try Self.next(&reader, name) {
                guard try take(result) else { return nil }
            }
        }
        do throws(PackError) { return try reader.finish() } catch { throw .pack(name, error) }
    }

    private static func next(_ reader: inout PackReader, _ name: String) throws(SyncError) -> PackResult? {
        do throws(PackError) { return try reader.next() } catch { throw .pack(name, error) }
    }
}

extension PackReader.Bounds {
    /// - Parameter size: The bytes of all data of the base. A larger pack is not worth its download, and a version has at most four
    ///   times as many.
    init(fromBaseOf size: Int) {
        self.init(pack: max(1_048_576, size), contents: 4 * max(PackLimits.held, size))
    }
}

extension PackManifest {
    /// The total size of all rows in bytes.
    ///
    /// Their number and size exclude an overflow.
    fileprivate var contents: Int { fingerprints.reduce(0) { $0 + $1.size } }
}

/// A stored version, and the base for packs from it.
struct HeldVersion {
    let patch: InstalledPatch
    let base: BaseVersion
}

/// The versions that an index may lead from.
struct HeldVersions {
    /// Versions from which packs were requested.
    var tried: [HeldVersion] = []
    /// Versions that are kept for a rollback.
    var others: [InstalledPatch] = []

    /// Returns nil unless all files of the version are stored.
    func base(
        _ digest: SHA256Digest,
        for new: InstalledPatch,
        in store: DeviceStore,
        _ check: inout IntegrityCheck
    ) -> BaseVersion? {
        if let found = tried.first(where: { $0.patch.fingerprint.sha256 == digest }) { return found.base }
        let other = others.first { $0.fingerprint.sha256 == digest }
        return other.flatMap { BaseVersion($0, to: new, in: store, &check) }
    }
}

/// The contents of an unsigned intermediate version, which the first of two packs produces for the second one.
///
/// They are stored in a folder of their own below `Downloading/`, each named by its computed digest. They are never served or
/// linked, are not objects, and are deleted at the end of the sync. After a crash the next sync deletes them.
struct IntermediateContents {
    let folder: FilePath
    private let files: any FileOperations
    /// The limit in bytes, for the written contents and for the version's declared size.
    let limit: Int
    private var written = 0
    private var current: (any FileWriter)?

    /// - Parameter base: The bytes of the contents that it is built from.
    init(in store: DeviceStore, fromBaseOf base: Int) throws(FileError) {
        (folder, files) = (store.intermediate, store.files)
        limit = Self.most(fromBaseOf: base)
        try store.removeIntermediate()
        try files.makeDirectory(folder)
    }

    /// A version usually has about the size of the one before it, so twice that size is a generous limit.
    static func most(fromBaseOf base: Int) -> Int { max(PackLimits.held, 2 * base) }

    mutating func take(_ result: PackResult, named name: String) throws(SyncError) {
        if case .piece(let bytes, _) = result {
            written += bytes.count
            guard written <= limit else { throw .pack(name, .tooMuch(written, limit: limit)) }
        }
        do throws(FileError) {
            // An empty content may be sent without a piece.
            if current == nil { current = try files.create(growing, permissions: .privateFile) }
            switch result {
            case .piece(let bytes, _): try current?.append(bytes)
            case .content(let fingerprint, _):
                try current?.close()
                current = nil
                try files.rename(growing, to: folder.at(fingerprint.sha256.hex))
            }
        } catch { throw .file(error) }
    }

    private var growing: FilePath { folder.at("growing") }
}

extension DeviceStore {
    /// The folder below `Downloading/`, which a clean-up empties.
    var intermediate: FilePath { downloading.at("intermediate") }

    func removeIntermediate() throws(FileError) {
        if try files.status(of: intermediate) != nil { try files.removeTree(intermediate) }
    }
}
