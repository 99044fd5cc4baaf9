import PatchCompression
import PatchFormat
import PatchStore
import SystemPackage

/// Looks for secrets in the files of an archive, one level deep.
///
/// ``Bounds`` limits work and memory, regardless of the sizes that the archive states.
struct ArchiveSearch {
    struct Bounds: Sendable {
        /// The size of a zip archive, which is read into memory.
        var archive = 128 << 20
        /// The total size of the unpacked contents.
        var contents = 512 << 20
        var entries = 20_000
        /// The maximum number of secrets that are reported.
        var secrets = 20
    }

    private var bounds: Bounds
    private(set) var secrets: [ArchivedSecret] = []
    /// The first gap.
    private(set) var gap: ArchiveGap?
    /// The number of bytes searched.
    private(set) var searched = 0

    init(_ bounds: Bounds = Bounds()) { self.bounds = bounds }

    private var isFull: Bool { secrets.count >= bounds.secrets || gap == .tooLarge }

    private mutating func note(_ gap: ArchiveGap) {
        // The reason that ends the search replaces the others.
        if self.gap == nil || gap == .tooLarge { self.gap = gap }
    }

    private mutating func note(_ path: [UInt8], _ secret: SecretKind?) {
        let isSettings = SettingsFileName.isSecret(String(decoding: path.prefix(4_096), as: UTF8.self))
        guard let kind = secret ?? (isSettings ? .settings : nil) else { return }
        secrets.append(ArchivedSecret(path, kind))
    }

    /// Reads and searches an archive.
    mutating func search(_ file: FilePath, _ format: ArchiveFormat, of disk: any FileOperations) throws(FileError) {
        switch format {
        case .zip:
            do throws(FileError) { searchZip(try disk.read(file, limit: bounds.archive)) } catch .tooLarge {
                note(.tooLarge)
            }
        case .tar, .gzip, .zstandard:
            guard let stream = stream(format, named: file.lastComponent?.string ?? "") else { return }
            let reader = try disk.open(file, limit: Limits.object)
            var isWanted = true
            while isWanted, let piece = try reader.next() { isWanted = take(piece, from: stream) }
            finish(stream, isAtEnd: isWanted)
        }
    }

    /// Searches an archive in memory.
    mutating func search(_ bytes: [UInt8], _ format: ArchiveFormat, named name: String) {
        guard format != .zip else { return searchZip(bytes) }
        guard let stream = stream(format, named: name) else { return }
        finish(stream, isAtEnd: take(bytes, from: stream))
    }

    // MARK: Streams

    private mutating func stream(_ format: ArchiveFormat, named name: String) -> ArchiveStream? {
        do throws(CompressionError) {
            return try ArchiveStream(format, name: name, limit: bounds.contents)
        } catch {
            note(.damaged)
            return nil
        }
    }

    /// - Returns: whether more bytes are needed.
    private mutating func take(_ bytes: [UInt8], from stream: ArchiveStream) -> Bool {
        var isSound = true
        do throws(ArchiveStream.Fault) { try stream.take(bytes) { note($0, $1) } } catch {
            note(error == .tooLarge ? .tooLarge : .damaged)
            isSound = false
        }
        searched = stream.produced
        if stream.entries > bounds.entries { note(.tooLarge) }
        return isSound && !isFull && !stream.hasEnded
    }

    /// - Parameter isAtEnd: whether the input ended before the search did.
    private mutating func finish(_ stream: ArchiveStream, isAtEnd: Bool) {
        if isAtEnd, !stream.isComplete { note(.damaged) }
        if !isFull { stream.finish { note($0, $1) } }
    }

    // MARK: Zip

    private mutating func searchZip(_ bytes: [UInt8]) {
        guard var list = ZipList(bytes) else { return note(.damaged) }
        var count = 0
        while !isFull, let entry = list.next() {
            count += 1
            guard count <= bounds.entries else { return note(.tooLarge) }
            guard !entry.isFolder else { continue }
            note(entry.name, secret(in: entry, of: bytes))
        }
        if !isFull, !list.isComplete { note(.damaged) }
    }

    private mutating func secret(in entry: ZipList.Entry, of bytes: [UInt8]) -> SecretKind? {
        guard !entry.isEncrypted else {
            note(.encrypted)
            return nil
        }
        guard let start = entry.contents(in: bytes) else {
            note(.damaged)
            return nil
        }
        var search = ContentSearch([])
        let left = bounds.contents - searched
        switch entry.method {
        case 0:
            let end = min(bytes.count, start + min(entry.size, left))
            if start + entry.size > bytes.count { note(.damaged) }
            for place in stride(from: start, to: end, by: 131_072) {
                search.take(Array(bytes[place..<min(end, place + 131_072)]))
            }
            searched += end - start
            if min(entry.size, bytes.count - start) > left { note(.tooLarge) }
        case 8:
            var count = 0
            do throws(CompressionError) {
                try BareDeflate.read(bytes[start...], limit: left) { piece in
                    count += piece.count
                    search.take(piece)
                }
            } catch { note(error.isTooLong ? .tooLarge : .damaged) }
            // An empty stream also costs work.
            searched += count + 64
            if searched >= bounds.contents { note(.tooLarge) }
        default:
            note(.otherCompression)
            return nil
        }
        return search.finish().secret
    }
}

extension CompressionError {
    fileprivate var isTooLong: Bool { if case .tooLong = self { true } else { false } }
}
