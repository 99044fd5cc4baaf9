import PatchFormat

extension VerifiedRecords {
    /// The one way in which these records are written.
    package var bytes: [UInt8] {
        var out = Array(Self.header.utf8)
        out.reserveCapacity(out.count + rows.count * 140)
        for (digest, file) in rows.sorted(by: { $0.key < $1.key }) {
            // Times before 1970 have no spelling; that file is hashed again.
            guard file.modified >= 0, file.changed >= 0 else { continue }
            out += digest.hex.utf8
            for number in [
                file.device, file.inode, UInt64(file.size), UInt64(file.modified), UInt64(file.changed),
            ] {
                out.append(UInt8(ascii: " "))
                out += String(number).utf8
            }
            out.append(UInt8(ascii: "\n"))
        }
        return out
    }

    /// Nil unless `bytes` are exactly what ``bytes`` writes.
    package init?(parsing bytes: [UInt8]) {
        self.init()
        guard bytes.starts(with: Self.header.utf8), bytes.last == UInt8(ascii: "\n") else { return nil }
        var rest = bytes.dropFirst(Self.header.utf8.count)
        var last: SHA256Digest?
        while !rest.isEmpty {
            guard let (digest, file) = Self.line(&rest) else { return nil }
            if let last, digest <= last { return nil }
            self[digest] = file
            last = digest
        }
    }

    private static func line(_ rest: inout ArraySlice<UInt8>) -> (SHA256Digest, FileIdentity)? {
        guard let digest = digest(&rest),
            let device = number(&rest, before: " "),
            let inode = number(&rest, before: " "),
            let size = number(&rest, before: " ").flatMap(Int.init(exactly:)),
            let modified = number(&rest, before: " ").flatMap(Int64.init(exactly:)),
            let changed = number(&rest, before: "\n").flatMap(Int64.init(exactly:))
        else { return nil }
        return (
            digest, FileIdentity(device: device, inode: inode, size: size, modified: modified, changed: changed)
        )
    }

    private static func digest(_ rest: inout ArraySlice<UInt8>) -> SHA256Digest? {
        let hexCount = SHA256.byteCount * 2
        guard rest.count > hexCount, rest[rest.startIndex + hexCount] == UInt8(ascii: " ") else { return nil }
        let hex = rest.prefix(hexCount)
        rest = rest.dropFirst(hexCount + 1)
        return SHA256Digest(hex: String(decoding: hex, as: UTF8.self))
    }

    /// A decimal number without leading zeros, and the byte that ends it.
    private static func number(_ rest: inout ArraySlice<UInt8>, before end: Unicode.Scalar) -> UInt64? {
        var value: UInt64 = 0
        var digits = 0
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: end) { return digits > 0 ? value : nil }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), digits == 0 || value > 0 else { return nil }
            let (tenfold, isOver) = value.multipliedReportingOverflow(by: 10)
            let (sum, isOverAfterAll) = tenfold.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            guard !isOver, !isOverAfterAll else { return nil }
            value = sum
            digits += 1
        }
        return nil
    }
}
