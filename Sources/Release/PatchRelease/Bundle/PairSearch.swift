import CLinux

/// Finds possible positions of many texts in one pass over the bytes, by two bytes of each text.
struct PairSearch: Sendable {
    private let flags: [UInt8]

    init(_ pairs: some Sequence<(UInt8, UInt8)>) {
        var flags = [UInt8](repeating: 0, count: 65_536)
        for (first, second) in pairs { flags[Self.number(first, second)] = 1 }
        self.flags = flags
    }

    static func number(_ first: UInt8, _ second: UInt8) -> Int { Int(first) | Int(second) << 8 }

    /// The first pair that begins at or after `start` and before `end`.
    func next(in bytes: [UInt8], from start: Int, before end: Int) -> Int? {
        let end = min(end, bytes.count - 1)
        guard start >= 0, start < end else { return nil }
        let place = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe flags.withUnsafeBufferPointer { flags in
                guard let base = bytes.baseAddress, let pairs = flags.baseAddress else { return end }
                return unsafe Int(patchline_next_pair(base, start, end, pairs))
            }
        }
        return place < end ? place : nil
    }
}
