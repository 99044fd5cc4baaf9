import Linux
import PatchDelta
import PatchFormat
import PatchStore

/// Stores the contents of a pack.
///
/// Each is compared with its entry in the verified manifest.
struct PackContents: ~Copyable {
    /// The sizes of the contents that were added to the batch, by digest.
    private(set) var received: [SHA256Digest: Int] = [:]
    /// The created objects, by digest.
    private(set) var made: [SHA256Digest: FileIdentity] = [:]

    private let store: ObjectStore
    private let label: String
    private var wanted: [Int: Asset] = [:]
    private var batch: ObjectBatch
    private var current: ObjectReceiver?

    /// - Parameter missing: The rows of the missing files in the manifest.
    init(_ missing: [Int32], of manifest: AssetManifest, named label: String, into store: ObjectStore)
        throws(FileError)
    {
        (self.store, self.label) = (store, label)
        batch = try ObjectBatch(in: store)
        var seen: Set<SHA256Digest> = []
        for row in missing.map(Int.init) where seen.insert(manifest.assets[row].fingerprint.sha256).inserted {
            wanted[row] = manifest.assets[row]
        }
    }

    var hasAll: Bool { wanted.isEmpty }

    mutating func take(_ result: PackResult) throws(SyncError) {
        switch result {
        case .piece(let bytes, let row):
            guard let asset = wanted[row] else { return }
            do throws(StoreError) {
                var receiver = try receiver(of: asset)
                try receiver.append(bytes)
                current = consume receiver
            } catch { throw SyncError(error, entry: "\(label) \(asset.path)") }
        case .content(_, let row):
            guard let asset = wanted.removeValue(forKey: row) else { return }
            do throws(StoreError) {
                let part = try receiver(of: asset).seal()
                received[part.digest] = part.size
                guard let full = batch.add(part) else { return }
                do throws(FileError) { made.merge(try batch.commit(full)) { $1 } } catch { throw .file(error) }
            } catch { throw SyncError(error, entry: "\(label) \(asset.path)") }
        }
    }

    /// The open receiver, or a new one.
    private mutating func receiver(of asset: Asset) throws(StoreError) -> ObjectReceiver {
        if let open = current.take() { return open }
        var receiver = try store.receive(ExpectedFile(asset.fingerprint))
        try receiver.begin(at: 0, validator: nil)
        return receiver
    }

    /// Makes all added contents durable.
    mutating func finish() throws(FileError) {
        made.merge(try batch.finish()) { $1 }
    }
}
