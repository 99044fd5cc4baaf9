import Linux
import PatchFormat

/// Records in the form of their file.
///
/// They are looked up there, without a dictionary.
struct SavedRecords: Sendable {
    static let header = Array("patchline-verified-v2\n".utf8)
    private static let rowBytes = 72
    static let none = SavedRecords(bytes: header)

    let bytes: [UInt8]

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns nil unless `bytes` are exactly the output of ``init(_:)`` for some records.
    init?(parsing bytes: [UInt8]) {
        let size = bytes.count - Self.header.count
        guard size >= 0, size.isMultiple(of: Self.rowBytes), bytes.starts(with: Self.header) else { return nil }
        self.bytes = bytes
        let rows = 0..<count
        guard rows.dropFirst().allSatisfy({ digestBytes(at: $0 - 1).lexicographicallyPrecedes(digestBytes(at: $0)) }),
            rows.allSatisfy({ bytes[place(of: $0) + 48] < 0x80 && bytes[place(of: $0) + 56] < 0x80 })
        else { return nil }
    }

    init(_ rows: [SHA256Digest: FileIdentity]) {
        self = Self.none.with(rows.mapValues { $0 })
    }

    /// These rows with later changes, merged without an intermediate copy.
    func with(_ changes: [SHA256Digest: FileIdentity?]) -> SavedRecords {
        guard !changes.isEmpty else { return self }
        var out = Self.header
        out.reserveCapacity(bytes.count + changes.count * Self.rowBytes)
        var next = 0
        for digest in changes.keys.sorted() {
            let key = digest.bytes
            while next < count, digestBytes(at: next).lexicographicallyPrecedes(key) {
                out += bytes[place(of: next)..<place(of: next + 1)]
                next += 1
            }
            if next < count, digestBytes(at: next).elementsEqual(key) { next += 1 }
            // The format has no times before 1970; such a file is hashed again.
            guard case .some(.some(let file)) = changes[digest], file.modified >= 0, file.changed >= 0 else { continue }
            out += key
            for number in [
                file.device, file.inode, UInt64(file.size), UInt64(file.modified), UInt64(file.changed),
            ] { FixedRows.append(number, bytes: 8, to: &out) }
        }
        out += bytes[place(of: next)...]
        return SavedRecords(bytes: out)
    }

    var count: Int { (bytes.count - Self.header.count) / Self.rowBytes }

    subscript(digest: SHA256Digest) -> FileIdentity? {
        let (wanted, table) = (digest.bytes, FixedRows(bytes))
        // Eight bytes distinguish nearly all rows.
        let first = FixedRows(wanted).number(at: 0, bytes: 8)
        var range = 0..<count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            let isBefore = table.number(at: place(of: middle), bytes: 8) < first
            range = isBefore ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        var row = range.lowerBound
        while row < count, table.number(at: place(of: row), bytes: 8) == first {
            if digestBytes(at: row).elementsEqual(wanted) { return file(at: row) }
            row += 1
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
