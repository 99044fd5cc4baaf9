import Linux
import NIOCore
import PatchCompression
package import PatchFormat
import PatchStore
import SystemPackage

/// A part of a release that the server does not have yet.
package struct UploadNeed: Equatable, Sendable {
    /// For people: a target's path, or the entry that an object belongs to.
    package let name: String
    package let sha256: SHA256Digest
    /// In bytes.
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

/// The file in which one part grows until it is whole and gets its name.
///
/// Disk and digests are work for whoever brings the bytes: nobody else waits for them.
struct UploadPart: Sendable {
    let need: UploadNeed
    let path: FilePath
    let blob: FilePath
    let files: any FileOperations

    /// How many bytes are here.
    var size: Int {
        get throws(UploadError) {
            do throws(FileError) { return try files.status(of: path)?.identity.size ?? 0 } catch { throw .file(error) }
        }
    }

    /// Takes bytes from `offset` on, which is where the file ends.
    ///
    /// - Parameter coding: what the body is compressed by: it decodes to these bytes, and is read as it comes.
    /// - Returns: how many are here now. What came before an error stays.
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

    /// Gives a part that is whole its name; the bytes are gone where they are others.
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
