import PatchCompression
package import PatchFormat
import PatchCrypto

/// Makes the pack that updates a device from one version of a bundle to another.
///
/// Contents are read by digest, some of them several times. Memory use is independent of the size of the bundle.
package struct PackMaker {
    package enum Effort: Sendable, CaseIterable {
        case quick, most

        var level: Int {
            switch self {
            case .quick: 19
            case .most: 22
            }
        }
    }

    private let base: PackManifest
    private let new: PackManifest
    private let objects: PackObjects
    private let effort: Effort
    private let work: Int

    /// - Parameters:
    ///   - manifest: the digest of the new manifest as it was signed.
    ///   - work: bytes that a reader may read and make; nil for ``PackLimits/work(base:)``.
    /// - Throws: `otherForm` for a manifest that a reader would write with other bytes.
    package init(
        base: PackManifest,
        new: PackManifest,
        manifest: SHA256Digest,
        objects: PackObjects,
        effort: Effort = .most,
        work: Int? = nil
    ) throws(PackError) {
        guard SHA256Digest(of: new.bytes) == manifest else { throw .otherForm }
        (self.base, self.new, self.objects, self.effort) = (base, new, objects, effort)
        self.work = work ?? PackLimits.work(base: base.fingerprints.reduce(0) { $0 + $1.size })
    }

    /// Makes the pack.
    ///
    /// Its head precedes the groups but is complete last.
    ///
    /// - Parameter take: receives the bytes of the groups, which follow the head, as they are made.
    /// - Throws: `tooMuch` if every pack of these two versions would exceed a reader's limits.
    package func make(_ take: @escaping ([UInt8]) -> Void) throws(PackError) -> (head: [UInt8], summary: PackSummary) {
        let plan = try PackPlan(base: base, new: new, objects: objects)
        let tokens = TokenSearch(plan.tokens)
        let contents = plan.rows.reduce(0) { $0 + ($1.isSame ? 0 : $1.fingerprint.size) }
        guard contents <= work else { throw .tooMuch(contents, limit: work) }
        var making = Making(effort: effort, work: work, contents: contents, take: take)
        for row in plan.rows {
            if row.isSame {
                making.exceptions.append(Self.exception(row, .same))
            } else if row.fingerprint.size > PackLimits.held {
                try making.flush()
                let length = try pass(row, group: making.groups.count, to: take)
                making.exceptions.append(Self.exception(row, .plain))
                making.groups.append(PackHead.Group(rows: 1, length: length, isPlain: true))
                making.take(row.fingerprint.size, contents: row.fingerprint.size)
            } else {
                let member = try member(row, tokens, work: making.left(for: row))
                if member.isMade, member.read <= making.left {
                    making.exceptions.append(Self.exception(row, .substituted))
                    making.take(member.read + member.content.count, contents: member.content.count)
                    continue
                }
                // If the tokens make its reference too large, it becomes a plain row in a group of its own.
                let isAlone = row.reference != nil && member.reference == nil
                if isAlone || !making.batch.hasRoom(for: member) { try making.flush() }
                making.append(member)
                if isAlone { try making.flush() }
            }
        }
        try making.flush()
        let head = PackHead(
            names: new.names,
            exceptions: making.exceptions.sorted { $0.row < $1.row },
            groups: making.groups
        )
        let bytes = try head.bytes(base: base, level: effort.level)
        // A row needs at most as many bytes in the head as in the manifest.
        assert(head.text(base: base).count <= new.bytes.count)
        return (bytes, PackSummary(head, headBytes: bytes.count))
    }

    static func exception(_ row: PackPlan.Row, _ kind: PackHead.Kind) -> PackHead.ExceptionalRow {
        // A plain row needs its reference only for the tokens.
        let needsReference = kind != .plain || row.givesTokens
        return PackHead.ExceptionalRow(
            row: row.row,
            kind: kind,
            reference: needsReference ? row.reference : nil,
            givesTokens: row.givesTokens,
            size: kind.isInGroup ? row.fingerprint.size : 0
        )
    }

    /// A row with its content and its reference.
    ///
    /// - Parameter work: bytes that a reader may read and make for the reference. Above it, the reference is omitted.
    private func member(_ row: PackPlan.Row, _ tokens: TokenSearch, work: Int) throws(PackError) -> PackBatch.Member {
        let content = try objects.bytes(of: row.fingerprint)
        guard let reference = row.reference else {
            return PackBatch.Member(row: row, content: content, reference: nil, read: 0)
        }
        let read = base.fingerprints[reference].size
        var made: [UInt8]?
        if read <= work {
            let old = try objects.bytes(of: base.fingerprints[reference])
            made = tokens.put(into: old, limit: min(PackLimits.held, work - read))
        }
        return PackBatch.Member(row: row, content: content, reference: made, read: read)
    }

    /// Passes on a content that is too large for memory, in a group of its own.
    ///
    /// - Returns: the length of the group in bytes.
    private func pass(_ row: PackPlan.Row, group: Int, to take: ([UInt8]) -> Void) throws(PackError) -> Int {
        let source = try objects.source(of: row.fingerprint)
        let size = row.fingerprint.size
        var (length, count) = (0, 0)
        do throws(CompressionError) {
            let compressor = try Compressor(.zstandard, size: size, effort: effort == .most ? .most : .thorough)
            while count <= size, let piece = source.next() {
                count += piece.count
                guard count <= size else { break }
                let bytes = try compressor.compress(piece)
                length += bytes.count
                if !bytes.isEmpty { take(bytes) }
            }
            if count == size {
                let bytes = try compressor.finish()
                length += bytes.count
                take(bytes)
            }
        } catch { throw .compression(.group(group), error) }
        guard source.finish() == row.fingerprint else { throw .object(row.fingerprint.sha256) }
        return length
    }

    /// The parts of the head so far, and the rows that follow.
    private struct Making {
        let effort: Effort
        let take: ([UInt8]) -> Void
        var exceptions: [PackHead.ExceptionalRow] = []
        var groups: [PackHead.Group] = []
        private(set) var batch: PackBatch
        /// Bytes that a reader may still read and make, excluding the contents of all remaining rows, since each of them can be
        /// plain.
        private var free: Int
        /// The part of ``free`` that the batch may use.
        private var reserved = 0

        init(effort: Effort, work: Int, contents: Int, take: @escaping ([UInt8]) -> Void) {
            (self.effort, self.take, batch) = (effort, take, PackBatch(effort: effort))
            free = work - contents
        }

        var left: Int { free - reserved }

        /// The work that remains for the reference of the next row.
        ///
        /// A reference that the batch contains is free.
        func left(for row: PackPlan.Row) -> Int { batch.holdsReference(of: row) ? .max : left }

        /// - Parameters:
        ///   - work: the bytes that a reader reads and makes for a row.
        ///   - contents: the size of the row.
        mutating func take(_ work: Int, contents: Int) {
            free -= work - contents
        }

        mutating func append(_ member: PackBatch.Member) {
            if let made = member.reference, !batch.holdsReference(of: member.row) {
                reserved += made.count + member.read
            }
            batch.append(member)
        }

        mutating func flush() throws(PackError) {
            let contents = batch.size
            let made = try batch.made(group: groups.count, work: free + contents)
            take(made.work, contents: contents)
            exceptions += made.exceptions
            groups += made.groups
            for frame in made.frames { take(frame) }
            batch = PackBatch(effort: effort)
            reserved = 0
        }
    }
}
