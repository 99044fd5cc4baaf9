import NIOCore
import PatchDelta
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// The parts of an uploaded bundle that the server derives from an uploaded pack and a version in its tree.
///
/// The pack is untrusted. The base bounds its memory and work, and its output is used only if it is the manifest in the release.
/// Each content is then digested like a separately uploaded part.
struct UploadPack: Sendable {
    let pack: BasePack
    /// The size of the pack in bytes; signatures follow.
    let length: Int
    let base: PackBase
    /// The tree with the contents of the base.
    let repository: AppRepository
    /// The new manifest and its column, as described by the release.
    let manifest: UploadNeed
    let column: UploadNeed?
    /// The folder of contents with a still unknown digest.
    let folder: FilePath
    let files: any FileOperations

    /// The output of the pack.
    struct Made: Sendable {
        let manifest: [UInt8]
        /// Nil if no signatures were sent.
        let column: [UInt8]?
        /// The contents by the digest that they claim; in ``UploadPack/folder``.
        let contents: [SHA256Digest: FilePath]
    }

    /// - Parameter isAvailable: whether a content is already stored.
    @concurrent
    func take<Body: AsyncSequence & Sendable>(
        _ body: Body,
        isAvailable: @Sendable (SHA256Digest) throws -> Bool
    ) async throws(UploadError) -> Made where Body.Element == ByteBuffer {
        do {
            var reader = PackReader(
                base: base.manifest,
                manifest: pack.manifest,
                size: manifest.size,
                objects: repository.contents,
                limits: PackReader.Bounds(pack: length, contents: base.work)
            )
            var (left, signatures) = (length, [UInt8]())
            var made = UploadedRows(folder: folder, files: files)
            for try await piece in body {
                let bytes = Array(piece.readableBytesView)
                let own = bytes.prefix(left)
                left -= own.count
                if !own.isEmpty { reader.feed(Array(own)) }
                while let result = try reader.next() { try made.take(result, isAvailable: isAvailable) }
                signatures += bytes.dropFirst(own.count)
                guard signatures.count <= column?.size ?? 0 else {
                    throw UploadError.tooLong(pack.manifest, size: length + (column?.size ?? 0))
                }
            }
            guard left == 0 else { throw UploadError.interrupted }
            let bytes = try reader.finish()
            return Made(manifest: bytes, column: try column(of: bytes, signatures), contents: made.whole)
        } catch let error as UploadError {
            throw error
        } catch let error as FileError {
            throw .file(error)
        } catch let error as PackError {
            throw .badPack(pack.manifest, error)
        } catch { throw .interrupted }
    }

    /// Removes the remaining files.
    @concurrent
    func discard() async { try? files.removeTree(folder) }

    private func column(of manifest: [UInt8], _ signatures: [UInt8]) throws(PackError) -> [UInt8]? {
        guard let column, !signatures.isEmpty else { return nil }
        return try PackSignatures.column(
            from: base.manifest,
            column: base.column,
            to: try PackManifest(manifest),
            signatures: signatures,
            digest: column.sha256
        )
    }
}

/// The contents of a pack, each in a separate file until it is complete.
private struct UploadedRows {
    let folder: FilePath
    let files: any FileOperations
    private(set) var whole: [SHA256Digest: FilePath] = [:]
    private var open: (row: Int, path: FilePath, writer: any FileWriter)?

    init(folder: FilePath, files: any FileOperations) {
        (self.folder, self.files) = (folder, files)
    }

    mutating func take(_ result: PackResult, isAvailable: (SHA256Digest) throws -> Bool) throws {
        switch result {
        case .piece(let bytes, let row):
            if open?.row != row {
                let path = folder.at("\(row)")
                open = (row, path, try files.create(path, permissions: .privateFile))
            }
            try open?.writer.append(bytes)
        case .content(let fingerprint, let row):
            guard let file = open.take(), file.row == row else { return }
            try file.writer.close()
            if try isAvailable(fingerprint.sha256) || whole[fingerprint.sha256] != nil {
                try files.remove(file.path)
            } else {
                whole[fingerprint.sha256] = file.path
            }
        }
    }
}
