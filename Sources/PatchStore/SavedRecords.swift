import PatchFormat

/// Records as they lie in their file: looked up there, not read into a dictionary first.
struct SavedRecords: Sendable {
    static let header = Array("patchline-verified-v2\n".utf8)
    private static let rowBytes = 72
    static let none = SavedRecords(bytes: header)

    let bytes: [UInt8]

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Nil unless `bytes` are exactly what ``init(_:)`` makes of some records.
    init?(parsing bytes: [UInt8]) {
        let size = bytes.count - Self.header.count
        guard size >= 0, size.isMultiple(of: Self.rowBytes), bytes.starts(with: Self.header) else { return nil }
        self.bytes = bytes
        let rows = 0..<count
        guard rows.dropFirst().allSatisfy({ digestBytes(at: $0 - 1).lexicographicallyPrecedes(digestBytes(at: $0)) }),
            rows.allSatisfy({ bytes[place(of: $0) + 48] < 0x80 && bytes[place(of: $0) + 56] < 0x80 })
        else { return nil }
    }

    /// Times before 1970 have no spelling; such a file is hashed again.
    init(_ rows: [SHA256Digest: FileIdentity]) {
        var out = Self.header
        out.reserveCapacity(out.count + rows.count * Self.rowBytes)
        for (digest, file) in rows.sorted(by: { $0.key < $1.key }) where file.modified >= 0 && file.changed >= 0 {
            out += digest.bytes
            for number in [
                file.device, file.inode, UInt64(file.size), UInt64(file.modified), UInt64(file.changed),
            ] { FixedRows.append(number, bytes: 8, to: &out) }
        }
        bytes = out
    }

    var count: Int { (bytes.count - Self.header.count) / Self.rowBytes }

    subscript(digest: SHA256Digest) -> FileIdentity? {
        let wanted = digest.bytes
        var range = 0..<count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            let there = digestBytes(at: middle)
            if there.elementsEqual(wanted) { return file(at: middle) }
            range =
                there.lexicographicallyPrecedes(wanted)
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    var rows: [SHA256Digest: FileIdentity] {
        let rows = (0..<count).compactMap { row in
            SHA256Digest(bytes: digestBytes(at: row)).map { ($0, file(at: row)) }
        }
        return Dictionary(rows) { first, _ in first }
    }

    private func place(of row: Int) -> Int { Self.header.count + row * Self.rowBytes }

    private func digestBytes(at row: Int) -> ArraySlice<UInt8> {
        bytes[place(of: row)..<place(of: row) + SHA256.byteCount]
    }

    private func file(at row: Int) -> FileIdentity {
        let (table, start) = (FixedRows(bytes), place(of: row) + SHA256.byteCount)
        func number(_ field: Int) -> UInt64 { table.number(at: start + field * 8, bytes: 8) }
        return FileIdentity(
            device: number(0),
            inode: number(1),
            size: Int(truncatingIfNeeded: number(2)),
            modified: Int64(truncatingIfNeeded: number(3)),
            changed: Int64(truncatingIfNeeded: number(4))
        )
    }
}
