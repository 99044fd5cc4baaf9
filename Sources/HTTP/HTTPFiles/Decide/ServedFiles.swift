import HTTPCore
import NIOCore
package import NIOHTTP1
import NIOPosix
package import SystemPackage

/// Several files, one after the other, that answer a request as one.
///
/// Conditions and ranges apply to the whole.
///
/// The files are opened while their bytes are sent, once for every piece that contains bytes of them.
package struct ServedFiles: Sendable {
    /// The offset of each file in bytes, and the end of the last one.
    ///
    /// Empty files are never opened.
    package let offsets: [Int]
    /// The folder that contains all files.
    ///
    /// No symlink below it is followed.
    package let root: FilePath
    /// Returns the path of a file.
    package let path: @Sendable (_ number: Int) -> FilePath
    /// A strong tag without its quotes; the same tag means the same bytes.
    package let entityTag: String
    package let contentType: String
    package let cacheControl: String
    /// Further fields of the answer.
    ///
    /// Fields that the server decides (framing, Date, ETag, …) are overwritten.
    package var headers: HTTPHeaders

    /// - Precondition: `offsets` begins with 0 and never falls, and `entityTag` holds only visible characters other than `"`.
    package init(
        offsets: [Int],
        root: FilePath,
        entityTag: String,
        contentType: String = ContentType.unknown,
        cacheControl: String = "no-cache",
        headers: HTTPHeaders = [:],
        path: @escaping @Sendable (_ number: Int) -> FilePath
    ) {
        precondition(offsets.first == 0, "not where a file begins")
        precondition(entityTag.utf8.allSatisfy(EntityTag.isTagCharacter), "not an entity tag")
        self.offsets = offsets
        self.root = root
        self.path = path
        self.entityTag = entityTag
        self.contentType = contentType
        self.cacheControl = cacheControl
        self.headers = headers
    }

    /// The size of all files together, in bytes.
    var size: Int { offsets[offsets.count - 1] }

    /// The parts of `range` in each file: the file's number, and the bytes within it.
    func parts(of range: Range<Int>) -> [(number: Int, bytes: Range<Int>)] {
        var parts: [(number: Int, bytes: Range<Int>)] = []
        var number = number(at: range.lowerBound)
        while number + 1 < offsets.count, offsets[number] < range.upperBound {
            let (begin, end) = (offsets[number], offsets[number + 1])
            let lower = max(begin, range.lowerBound)
            let upper = min(end, range.upperBound)
            if lower < upper { parts.append((number, lower - begin..<upper - begin)) }
            number += 1
        }
        return parts
    }

    /// The number of the last file that begins at or before `offset`.
    private func number(at offset: Int) -> Int {
        var (low, high) = (0, offsets.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if offsets[middle] <= offset { low = middle } else { high = middle - 1 }
        }
        return min(low, max(0, offsets.count - 2))
    }

    /// Streams the bytes of `range`.
    ///
    /// A file that is missing or has another size ends the stream with an error, so that later bytes are never sent at wrong
    /// offsets.
    func stream(_ range: Range<Int>) -> ServedStream {
        ServedStream(headers: [:], length: range.count) { write in
            var start = range.lowerBound
            while start < range.upperBound {
                let piece = start..<min(start + ResponsePieces.size, range.upperBound)
                // A disk may stall; the threads that run Swift's tasks must not.
                try await write(try await NIOThreadPool.singleton.runIfActive { try read(piece) })
                start = piece.upperBound
            }
        }
    }

    private func read(_ range: Range<Int>) throws(OpenFileError) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(range.count)
        for part in parts(of: range) {
            let open = try OpenFile(path(part.number), below: root)
            guard open.size == offsets[part.number + 1] - offsets[part.number] else { throw .shrank }
            buffer = try open.read(part.bytes, after: buffer)
        }
        return buffer
    }
}
