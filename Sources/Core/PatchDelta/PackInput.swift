/// The received bytes of a pack that have not been used yet.
struct PackInput {
    private var bytes: [UInt8] = []
    private var offset = 0
    /// The number of all received bytes.
    private(set) var total = 0

    var count: Int { bytes.count - offset }

    mutating func append(_ more: [UInt8]) {
        total += more.count
        // Removes used bytes before adding more, so that at most one group is in memory.
        if offset > 0 { bytes.removeFirst(offset) }
        offset = 0
        bytes += more
    }

    mutating func take(_ count: Int) -> [UInt8]? {
        guard self.count >= count else { return nil }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    /// Returns the first `count` bytes without consuming them, or nil if they have not arrived.
    func first(_ count: Int) -> [UInt8]? {
        self.count >= count ? Array(bytes[offset..<offset + count]) : nil
    }

    mutating func takeAtMost(_ count: Int) -> [UInt8] { take(min(count, self.count)) ?? [] }

    /// Returns the version and the length of the head's frame, or nil if they have not arrived.
    mutating func beginning(_ limit: Int) throws(PackError) -> (version: PackHead.Version, length: Int)? {
        let name = PackHead.name
        guard zip(name, bytes).allSatisfy({ $0 == $1 }) else { throw .otherFormat }
        guard bytes.count > name.count else { return nil }
        guard let version = PackHead.Version(rawValue: bytes[name.count]) else { throw .otherFormat }
        let number = bytes[(name.count + 1)...].prefix(8)
        guard let last = number.firstIndex(where: { $0 < 0x80 }) else {
            if number.count == 8 { throw .head(.number) }
            return nil
        }
        var input = HeadInput(Array(number.prefix(through: last)))
        let length = try input.number(upTo: min(limit, PackLimits.headFrame), .size)
        offset = last + 1
        return (version, length)
    }
}
