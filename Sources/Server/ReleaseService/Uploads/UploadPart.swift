import Linux
import NIOCore
import PatchCompression
package import PatchFormat
import PatchStore
import SystemPackage

/// A part of a release that the server does not have yet.
package struct UploadNeed: Equatable, Sendable {
    /// The name for display: a target's path, or the entry that an object belongs to.
    package let name: String
    package let sha256: SHA256Digest
    /// The size in bytes.
    package let size: Int

    init(name: String, sha256: SHA256Digest, size: Int) {
        self.name = name
        self.sha256 = sha256
        self.size = size
    }

    init(name: String, _ fingerprint: Fingerprint) {
        self.init(name: name, sha256: fingerprint.sha256, size: fingerprint.size)
    }
}

/// The file of one part, which grows until it is complete and is then renamed.
///
/// Disk access and digests run in the sender's task: other calls do not wait for them.
struct UploadPart: Sendable {
    let need: UploadNeed
    let path: FilePath
    let blob: FilePath
    let files: any FileOperations

    /// The number of received bytes.
    var size: Int {
        get throws(UploadError) {
            do throws(FileError) { return try files.status(of: path)?.identity.size ?? 0 } catch { throw .file(error) }
        }
    }

    /// Receives bytes from `offset` on, the end of the file.
    ///
    /// - Parameter coding: the compression of the body, which is decoded while it is received.
    /// - Returns: the number of received bytes. Bytes received before an error are kept.
    @concurrent
    func take<Body: AsyncSequence & Sendable>(
        _ body: Body,
        from offset: Int,
        as coding: CompressionFormat? = nil
    ) async throws(UploadError) -> Int where Body.Element == ByteBuffer {
        var received = offset
        do {
            let writer = try offset > 0 ? files.append(to: path) : newFile()
            func append(_ bytes: [UInt8]) throws {
                guard received + bytes.count <= need.size else {
                    throw UploadError.tooLong(need.sha256, size: need.size)
                }
                try writer.append(bytes)
                received += bytes.count
            }
            if let coding {
                var form = try Decompressor(coding, limit: need.size - offset)
                for try await piece in body {
                    form.feed(Array(piece.readableBytesView))
                    while let bytes = try form.next() { try append(bytes) }
                }
                try form.finish()
            } else {
                for try await piece in body { try append(Array(piece.readableBytesView)) }
            }
            try writer.close()
        } catch let error as UploadError {
            throw error
        } catch let error as FileError {
            throw .file(error)
        } catch CompressionError.tooLong {
            throw .tooLong(need.sha256, size: need.size)
        } catch let error as CompressionError {
            throw .badForm(need.sha256, error)
        } catch { throw .interrupted }
        return received
    }

    private func newFile() throws(FileError) -> any FileWriter {
        try files.removeIfPresent(path)
        return try files.create(path, permissions: .privateFile)
    }

    /// Renames a complete part; deletes the bytes if their digest is wrong.
    @concurrent
    func settle() async throws(UploadError) {
        let isRight: Bool
        do throws(FileError) {
            isRight = try await files.digest(of: path) == need.sha256
            if isRight { try files.rename(path, to: blob) } else { try files.removeIfPresent(path) }
        } catch { throw .file(error) }
        guard isRight else { throw .wrongBytes(need.sha256) }
    }
}
