import FileFacts
import PatchChoice
import PatchDelta
import PatchFetch
import PatchFormat
import PatchStore
import PatchTrust

/// A version of a bundle that is here, and what packs from it are applied with.
struct BaseVersion {
    let patch: InstalledPatch
    let manifest: PackManifest
    let limits: PackReader.Bounds
    /// Of the manifest that packs from it are to make, as it is signed.
    private let size: Int
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
        (self.patch, self.manifest, self.store, size) = (patch, manifest, store, new.fingerprint.size)
        let column = patch.column.flatMap { try? store.files.identity(of: try store.place(of: $0).path)?.size }
        let contents = manifest.fingerprints.reduce(0) { $0 + $1.size }
        limits = PackReader.Bounds(fromBaseOf: contents + patch.fingerprint.size + (column ?? 0))
    }

    /// Its signatures; nil unless they are here as they were verified.
    func column() -> [UInt8]? {
        guard let digest = patch.column, let place = try? store.place(of: digest),
            let bytes = try? store.files.read(place.path, limit: Limits.signatureColumn),
            SHA256Digest(of: bytes) == digest
        else { return nil }
        return bytes
    }

    /// Contents by digest, which packs compare; nil for what is not there.
    private var objects: PackObjects {
        PackObjects { [store] digest in
            (try? store.files.open(try store.place(of: digest).path, limit: Limits.object)).map(FileBytes.init)
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
