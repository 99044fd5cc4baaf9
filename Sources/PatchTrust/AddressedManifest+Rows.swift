import PatchFormat

extension AddressedManifest {
    /// How many rows a core takes at a time.
    private static let batch = 256
    /// Batches that are held at most.
    private static let atOnce = 4

    /// Checks every row, a batch on each core; the column is read to its end, and is never held as a whole.
    ///
    /// - Returns: the first fault in the order of the rows.
    func checkRows(_ column: some ByteSource, size: Int, _ keys: EntryKeys) async -> Result<Void, TrustError> {
        var pieces = Pieces(column)
        let rows: SignedRows
        do throws(TrustError) {
            rows = try self.rows(pieces.next(SignatureColumn.Header.byteCount), of: size, keys)
        } catch {
            pieces.skip()
            return .failure(error)
        }
        let fault = await firstFault(of: rows, &pieces)
        pieces.skip()
        return fault.map { .failure(.entry($0)) } ?? .success(())
    }

    private func firstFault(of rows: SignedRows, _ pieces: inout Pieces) async -> EntryFault? {
        await withTaskGroup(of: (Int, EntryFault?).self) { group in
            var first: (row: Int, fault: EntryFault)?
            func note(_ row: Int, _ fault: EntryFault?) {
                if let fault, row < first?.row ?? .max { first = (row, fault) }
            }
            var running = 0
            for start in stride(from: 0, to: rows.header.count, by: Self.batch) where first == nil {
                let count = min(Self.batch, rows.header.count - start)
                let signatures = pieces.next(count * rows.header.length)
                group.addTask { (start, rows.fault(from: start, count, signatures)) }
                running += 1
                if running == Self.atOnce, let (row, fault) = await group.next() {
                    running -= 1
                    note(row, fault)
                }
            }
            for await (row, fault) in group { note(row, fault) }
            return first?.fault
        }
    }
}

extension SignedRows {
    /// The first fault of `count` rows; where signatures are missing, the row that has none.
    fileprivate func fault(from first: Int, _ count: Int, _ signatures: [UInt8]) -> EntryFault? {
        do throws(EntryFault) {
            try check(from: first, signatures)
        } catch { return error }
        let there = signatures.count / header.length
        return there < count ? EntryFault(entry: name(of: first + there), rule: .signature) : nil
    }
}

/// A source by any number of bytes.
private struct Pieces {
    private let source: any ByteSource
    private var rest: ArraySlice<UInt8> = []

    init(_ source: some ByteSource) {
        self.source = source
    }

    /// Fewer than `count` bytes only at the end.
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
