import PatchCrypto
import PatchFormat

extension AddressedManifest {
    /// The rows that a core checks at a time.
    private static let batch = 256
    /// The largest number of batches in memory.
    private static let atOnce = 4

    /// Checks every row, one batch on each core.
    ///
    /// The column is read to its end but is never in memory as a whole.
    ///
    /// - Parameter vouched: an earlier version whose signatures were checked on this device.
    /// - Returns: the number of checked signatures, or the first fault in the order of the rows.
    func checkRows(
        _ column: some ByteSource,
        size: Int,
        _ keys: EntryKeys,
        beside vouched: VerifiedRows?
    ) async -> Result<Int, TrustError> {
        var pieces = Pieces(column)
        let rows: SignedRows
        do throws(TrustError) {
            rows = try self.rows(pieces.next(SignatureColumn.Header.byteCount), of: size, keys, beside: vouched)
        } catch {
            pieces.skip()
            return .failure(error)
        }
        let found = await checked(rows, &pieces)
        pieces.skip()
        return found.mapError { .entry($0) }
    }

    private func checked(_ rows: SignedRows, _ pieces: inout Pieces) async -> Result<Int, EntryFault> {
        await withTaskGroup(of: (Int, Result<Int, EntryFault>).self) { group in
            var first: (row: Int, fault: EntryFault)?
            var checked = 0
            func note(_ row: Int, _ found: Result<Int, EntryFault>) {
                switch found {
                case .success(let count): checked += count
                case .failure(let fault): if row < first?.row ?? .max { first = (row, fault) }
                }
            }
            var running = 0
            for start in stride(from: 0, to: rows.header.count, by: Self.batch) where first == nil {
                let count = min(Self.batch, rows.header.count - start)
                let signatures = pieces.next(count * rows.header.length)
                group.addTask { (start, rows.checked(from: start, count, signatures)) }
                running += 1
                if running == Self.atOnce, let (row, found) = await group.next() {
                    running -= 1
                    note(row, found)
                }
            }
            for await (row, found) in group { note(row, found) }
            return first.map { .failure($0.fault) } ?? .success(checked)
        }
    }
}

extension SignedRows {
    /// Returns how many of `count` rows were checked, or their first fault.
    ///
    /// If signatures are missing, the fault names the first row without one.
    fileprivate func checked(from first: Int, _ count: Int, _ signatures: [UInt8]) -> Result<Int, EntryFault> {
        let checked: Int
        do throws(EntryFault) {
            checked = try check(from: first, signatures)
        } catch { return .failure(error) }
        let there = signatures.count / header.length
        guard there == count else {
            return .failure(EntryFault(entry: name(of: first + there), rule: .signature))
        }
        return .success(checked)
    }
}

/// Reads a source in blocks of any size.
private struct Pieces {
    private let source: any ByteSource
    private var rest: ArraySlice<UInt8> = []

    init(_ source: some ByteSource) {
        self.source = source
    }

    /// Returns fewer than `count` bytes only at the end.
    mutating func next(_ count: Int) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(count)
        while out.count < count {
            if rest.isEmpty {
                guard let piece = source.next() else { break }
                rest = piece[...]
            }
            let part = rest.prefix(count - out.count)
            out += part
            rest = rest.dropFirst(part.count)
        }
        return out
    }

    mutating func skip() {
        rest = []
        while source.next() != nil {}
    }
}
