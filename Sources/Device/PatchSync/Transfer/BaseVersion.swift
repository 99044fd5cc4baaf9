import Linux
import PatchChoice
import PatchDelta
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// A version of a bundle that is here, and what packs from it are applied with.
struct BaseVersion {
    let version: VersionLabel
    let manifest: PackManifest
    private(set) var limits: PackReader.Bounds
    /// Of all its contents, in bytes.
    let contents: Int
    /// Of the manifest that packs from it are to make.
    private var size: Int
    private let columnDigest: SHA256Digest?
    /// Of a version that nobody vouches for: made of what the index names.
    private var madeColumn: [UInt8]?
    /// Where contents lie that are no objects.
    private let intermediate: FilePath?
    private let store: DeviceStore

    /// Nil unless all of it is as it was verified.
    ///
    /// - Parameter new: the version that packs from it are to make.
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

    /// The version between this one and `new`, which nobody vouches for, as its pack made it.
    ///
    /// Its contents may be of any path, for they are looked up by digest alone.
    ///
    /// - Throws: for a version of another patch, or one that claims to have more than it may.
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

    /// The same, for a pack that has so many bytes and makes a manifest of so many, as somebody said who may lie.
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

    /// Its signatures; nil unless they are here as they were verified, or as they were made.
    func column() -> [UInt8]? {
        if let madeColumn { return madeColumn }
        guard let digest = columnDigest, let place = try? store.place(of: digest),
            let bytes = try? store.files.read(place.path, limit: Limits.signatureColumn),
            SHA256Digest(of: bytes) == digest
        else { return nil }
        return bytes
    }

    /// Contents by digest, which packs compare; nil for what is not there.
    private var objects: PackObjects {
        PackObjects { [store, intermediate] digest in
            let made = intermediate.flatMap { try? store.files.open($0.at(digest.hex), limit: Limits.object) }
            let object = made ?? (try? store.files.open(try store.place(of: digest).path, limit: Limits.object))
            return object.map(FileBytes.init)
        }
    }

    /// Reads a pack of which all is here.
    ///
    /// - Parameters:
    ///   - name: for errors.
    ///   - take: is told all that comes of it, in order; false ends it.
    /// - Returns: the new manifest, once it is the one that the pack is named after; nil when `take` ended it.
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
    /// - Parameter size: of everything that the base is made of. A pack with more bytes is not worth it, and a version has at most
    ///   four times as many.
    init(fromBaseOf size: Int) {
        self.init(pack: max(1_048_576, size), contents: 4 * max(PackLimits.held, size))
    }
}

extension PackManifest {
    /// Bytes of all its rows; no sum of them overflows.
    fileprivate var contents: Int { fingerprints.reduce(0) { $0 + $1.size } }
}

/// A version that is here, and the base for packs from it.
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

    /// Nil unless all of the version is here.
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

/// The contents of a version that nobody vouches for: what the first pack of two makes, for the second to read.
///
/// They lie in a folder of their own below `Downloading/`, each under the digest that it turned out to have: never served, never
/// linked, no objects, and gone with the sync. A crash leaves them to the next one.
struct IntermediateContents {
    let folder: FilePath
    private let files: any FileOperations
    /// In bytes: of the contents that are written, and of all that the version claims to have.
    let limit: Int
    private var written = 0
    private var current: (any FileWriter)?

    /// - Parameter base: bytes of the contents that it is made from.
    init(in store: DeviceStore, fromBaseOf base: Int) throws(FileError) {
        (folder, files) = (store.intermediate, store.files)
        limit = Self.most(fromBaseOf: base)
        try store.removeIntermediate()
        try files.makeDirectory(folder)
    }

    /// A version has about as much as the one before it: twice that is more than any needs.
    static func most(fromBaseOf base: Int) -> Int { max(PackLimits.held, 2 * base) }

    mutating func take(_ result: PackResult, named name: String) throws(SyncError) {
        if case .piece(let bytes, _) = result {
            written += bytes.count
            guard written <= limit else { throw .pack(name, .tooMuch(written, limit: limit)) }
        }
        do throws(FileError) {
            // An empty content may come without a piece.
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
    /// Below `Downloading/`, which a clean-up empties.
    var intermediate: FilePath { downloading.at("intermediate") }

    func removeIntermediate() throws(FileError) {
        if try files.status(of: intermediate) != nil { try files.removeTree(intermediate) }
    }
}
