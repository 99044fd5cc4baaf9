import PatchCompression
import PatchFormat

/// Unpacks and searches a tar archive or a single file while its bytes arrive.
final class ArchiveStream {
    enum Fault: Error { case damaged, tooLarge }

    /// Called with the path and the first secret of each file.
    typealias Finding = (_ path: [UInt8], _ secret: SecretKind?) -> Void

    private enum Contents {
        /// The type is determined by the first block.
        case unknown
        case tar(TarSearch)
        case file(ContentSearch)
    }

    /// A class, so that it can be optional.
    private final class Unpacker {
        var stream: Decompressor

        init(_ format: CompressionFormat, limit: Int) throws(CompressionError) {
            stream = try Decompressor(format, limit: limit)
        }
    }

    private let name: [UInt8]
    private let limit: Int
    private let unpacker: Unpacker?
    private let isTar: Bool
    private var contents = Contents.unknown
    private var start: [UInt8] = []
    /// The number of unpacked bytes.
    private(set) var produced = 0

    /// - Parameters:
    ///   - name: The archive's name.
    ///   - limit: The maximum number of unpacked bytes.
    init(_ format: ArchiveFormat, name: String, limit: Int) throws(CompressionError) {
        let coding = [".gz", ".zst"].first { name.lowercased().hasSuffix($0) }
        self.name = Array(name.dropLast(coding?.count ?? 0).utf8)
        self.limit = limit
        isTar = format == .tar
        unpacker =
            switch format {
            case .gzip: try Unpacker(.gzip, limit: limit)
            case .zstandard: try Unpacker(.zstandard, limit: limit)
            case .tar, .zip: nil
            }
    }

    var entries: Int { if case .tar(let tar) = contents { tar.entries } else { 1 } }

    /// Whether the end of the archive was reached.
    var hasEnded: Bool { if case .tar(let tar) = contents { tar.hasEnded } else { false } }

    /// Whether the bytes read so far are a complete archive.
    var isComplete: Bool {
        if case .tar(let tar) = contents { return tar.hasEnded }
        return unpacker?.stream.isComplete ?? !isTar
    }

    func take(_ bytes: [UInt8], _ found: Finding) throws(Fault) {
        guard let unpacker else { return try search(bytes, found) }
        unpacker.stream.feed(bytes)
        while !hasEnded {
            let piece: [UInt8]?
            do throws(CompressionError) { piece = try unpacker.stream.next() } catch .tooLong { throw .tooLarge } catch
            {
                throw .damaged
            }
            guard let piece else { return }
            try search(piece, found)
        }
    }

    /// Reports the file that was not read to its end.
    func finish(_ found: Finding) {
        if case .unknown = contents { try? begin(found) }
        switch contents {
        case .unknown: break
        case .tar(var tar): tar.finish(found)
        case .file(var search): found(name, search.finish().secret)
        }
    }

    private func search(_ bytes: [UInt8], _ found: Finding) throws(Fault) {
        produced += bytes.count
        guard produced <= limit else { throw .tooLarge }
        switch contents {
        case .unknown:
            start += bytes
            if start.count >= TarBlock.size { try begin(found) }
        case .tar(var tar):
            contents = .unknown
            defer { contents = .tar(tar) }
            try tar.take(bytes, found)
        case .file(var search):
            contents = .unknown
            search.take(bytes)
            contents = .file(search)
        }
    }

    private func begin(_ found: Finding) throws(Fault) {
        let bytes = start
        start = []
        guard isTar || TarBlock(bytes.prefix(TarBlock.size)) != nil else {
            var search = ContentSearch([])
            search.take(bytes)
            contents = .file(search)
            return
        }
        var tar = TarSearch()
        defer { contents = .tar(tar) }
        try tar.take(bytes, found)
    }
}
