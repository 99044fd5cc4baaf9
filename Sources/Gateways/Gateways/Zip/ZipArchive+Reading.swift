import PatchCompression
import PatchFormat

extension ZipArchive {
    /// Reads an archive as `zip` writes it to a file, and rejects every ambiguous one.
    ///
    /// Its entries are contiguous from the first byte to the list, and the end record is last. Entries of folders are ignored. All
    /// sizes are checked against the bounds before anything is unpacked, and unpacking stops at an entry's announced size.
    package init(reading bytes: [UInt8], within bounds: Bounds) throws(ZipError) {
        guard bytes.count <= bounds.archive else { throw .tooLarge(limit: bounds.archive) }
        let entries = try ZipListing(of: bytes, within: bounds).entries
        var seen: Set<AssetPath> = []
        for entry in entries where !seen.insert(entry.path).inserted { throw .entry(entry.path.text, .doubled) }
        try Self.checkTiling(entries, end: ZipListing.start(in: bytes))
        var left = bounds.contents
        for entry in entries {
            left -= entry.size
            guard left >= 0 else { throw .tooLong(limit: bounds.contents) }
        }
        var files: [File] = []
        for entry in entries where !entry.isFolder {
            do throws(ZipError.EntryRule) { files.append(File(entry.path, try entry.content(in: bytes))) } catch {
                throw .entry(entry.path.text, error)
            }
        }
        try self.init(files)
    }

    /// Checks that each entry begins at the end of the previous one.
    private static func checkTiling(_ entries: [ZipEntry], end: Int) throws(ZipError) {
        var place = 0
        for entry in entries.sorted(by: { $0.offset < $1.offset }) {
            guard entry.offset == place else { throw .misplaced(at: entry.offset) }
            place = entry.packed.upperBound
        }
        guard place == end else { throw .misplaced(at: place) }
    }
}

/// The list of an archive's entries, located by its end record.
private struct ZipListing {
    private(set) var entries: [ZipEntry] = []

    /// The offset of the list of an archive that has an end record.
    static func start(in bytes: [UInt8]) -> Int {
        var end = ZipReader(bytes[(bytes.count - 6)...])
        return end.four()
    }

    init(of bytes: [UInt8], within bounds: ZipArchive.Bounds) throws(ZipError) {
        let place = try Self.endRecord(of: bytes)
        var end = ZipReader(bytes[(place + 4)...])
        let disks = (end.two(), end.two(), end.two())
        let count = end.two()
        let (size, start) = (end.four(), end.four())
        guard disks.0 != 0xFFFF, count != 0xFFFF, size != 0xFFFF_FFFF, start != 0xFFFF_FFFF else { throw .zip64 }
        guard disks.0 == 0, disks.1 == 0, disks.2 == count else { throw .split }
        guard count <= bounds.entries else { throw .tooMany(count, limit: bounds.entries) }
        // Other readers interpret records between the list and the end record, for example zip64's. Rejecting them avoids two
        // readings.
        guard start + size == place else { throw .list("does not end where the end record begins") }
        var offset = start
        while entries.count < count {
            let entry = try ZipEntry(entries.count + 1, listedAt: offset, in: bytes, until: place, end: start)
            offset += entry.listedSize
            entries.append(entry)
        }
        guard offset == place else { throw .list("holds more than its entries") }
    }

    /// The offset of the end record, which must be the last 22 bytes.
    ///
    /// A record further up, within reach of a comment, only serves the error message.
    private static func endRecord(of bytes: [UInt8]) throws(ZipError) -> Int {
        let last = bytes.count - ZipRecords.endSize
        var place = last
        while place >= max(0, last - 0xFFFF) {
            var record = ZipReader(bytes[place...])
            if record.four() == ZipRecords.endSignature {
                guard place == last else { throw .bytesBehind(last - place) }
                // The last field is the comment's length: 0.
                guard bytes[bytes.count - 2] == 0, bytes[bytes.count - 1] == 0 else {
                    throw .list("ends before its comment does")
                }
                return place
            }
            place -= 1
        }
        throw .noEnd
    }
}
