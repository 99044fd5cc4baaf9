import PatchCompression
import PatchFormat

extension PackHead {
    /// Checks the size that the head's frame declares before it is decompressed.
    static func check(beginning: [UInt8], limit: Int = PackLimits.head) throws(PackError) -> Int {
        guard let frame = ZstandardFrame(beginning), frame.contentSize <= limit else { throw .head(.size) }
        return frame.contentSize
    }

    /// Reads a head.
    ///
    /// All values are checked before memory is allocated for them.
    ///
    /// - Parameter frame: unverified bytes as received.
    init(frame: [UInt8], version: Version, base: PackManifest) throws(PackError) {
        let size = try Self.check(beginning: frame)
        let text: [UInt8]
        do throws(CompressionError) {
            text = try ZstandardPatch.content(of: frame, prefix: base.names.text, size: size)
        } catch { throw .compression(.head, error) }
        try self.init(text: text, version: version, base: base)
    }

    init(text: [UInt8], version: Version, base: PackManifest) throws(PackError) {
        var input = HeadInput(text)
        names = try PackNames(&input)
        exceptions = try Self.exceptions(&input, rows: names.rows.count, base: base)
        groups = try Self.groups(&input, exceptions, version)
        guard input.isAtEnd else { throw .head(.trailing) }
        try Self.check(names, exceptions, base: base)
    }

    private static func exceptions(
        _ input: inout HeadInput,
        rows: Int,
        base: PackManifest
    ) throws(PackError) -> [ExceptionalRow] {
        let count = try input.number(upTo: rows, .exceptionCount)
        var places: [Int] = []
        for _ in 0..<count {
            let row = try input.number(upTo: rows, .exceptionPlace) + (places.last ?? -1) + 1
            guard row < rows else { throw .head(.exceptionPlace) }
            places.append(row)
        }
        var kinds: [(kind: Kind, givesTokens: Bool, hasReference: Bool)] = []
        for _ in 0..<count {
            let number = try input.number(upTo: 15, .kind)
            guard let kind = Kind(rawValue: number & 3) else { throw .head(.kind) }
            kinds.append((kind, number & 4 > 0, number & 8 > 0))
        }
        var references: [Int?] = []
        var expected = ExpectedReference()
        for (row, kind) in zip(places, kinds) {
            guard kind.hasReference else {
                // Only a row in a group may omit the reference.
                guard kind.kind.isInGroup, !kind.givesTokens else { throw .head(.reference) }
                references.append(nil)
                continue
            }
            // A plain row has a reference only for its tokens.
            guard kind.kind != .plain || kind.givesTokens else { throw .head(.reference) }
            let reference = try input.difference() + expected.of(row)
            guard base.fingerprints.indices.contains(reference) else { throw .head(.reference) }
            expected.take(row, reference)
            references.append(reference)
        }
        var exceptions: [ExceptionalRow] = []
        for (index, row) in places.enumerated() {
            let (kind, givesTokens, _) = kinds[index]
            let reference = references[index]
            let ofReference = reference.map { base.fingerprints[$0].size } ?? 0
            let size = kind.isInGroup ? try input.difference() + ofReference : 0
            guard (0...Limits.object).contains(size) else { throw .head(.contentSize) }
            if kind == .substituted || kind == .patched, ofReference > PackLimits.held { throw .head(.contentSize) }
            exceptions.append(
                ExceptionalRow(row: row, kind: kind, reference: reference, givesTokens: givesTokens, size: size)
            )
        }
        return exceptions
    }

    private static func groups(
        _ input: inout HeadInput,
        _ exceptions: [ExceptionalRow],
        _ version: Version
    ) throws(PackError) -> [Group] {
        var rest = [
            false: exceptions.filter { $0.kind == .patched }[...], true: exceptions.filter { $0.kind == .plain }[...],
        ]
        let count = try input.number(upTo: exceptions.count, .groupCount)
        var groups: [Group] = []
        for _ in 0..<count {
            let number = try input.number()
            let isPlain = number & 1 > 0
            let (rows, coding): (Int, GroupCoding) =
                switch version {
                case .zstandard: (number >> 1, .zstandard)
                case .lzma2: (number >> 2, number & 2 > 0 ? .lzma2 : .zstandard)
                }
            guard let left = rest[isPlain], (1...max(1, left.count)).contains(rows), !left.isEmpty else {
                throw .head(.groupCount)
            }
            rest[isPlain] = left.dropFirst(rows)
            let size = left.prefix(rows).reduce(0) { $0 + $1.size }
            // A larger content must be alone and without a prefix, because it is passed on in pieces.
            let mayPass = isPlain && rows == 1 && coding == .zstandard
            guard size <= PackLimits.held || mayPass else { throw .head(.groupSize) }
            let length = try input.number(upTo: ZstandardPatch.bound(of: size), .groupSize)
            groups.append(Group(rows: rows, length: length, isPlain: isPlain, coding: coding))
        }
        guard rest.values.allSatisfy(\.isEmpty) else { throw .head(.groupCount) }
        return groups
    }

    /// Checks that every row that is not exceptional is a row of the base.
    private static func check(
        _ names: PackNames,
        _ exceptions: [ExceptionalRow],
        base: PackManifest
    ) throws(PackError) {
        var next = exceptions[...]
        for (row, name) in names.rows.enumerated() {
            if next.first?.row == row {
                next = next.dropFirst()
            } else if base.row(of: name.path) == nil {
                throw .head(.unsaid)
            }
        }
    }
}
