import PatchCompression
import PatchFetch
import PatchFormat

/// A whole pack on its way from one server: one task reads, decodes and cuts it, others digest and write.
///
/// One try; whatever is missing then is for others to fetch.
final class PackTransfer: Sendable {
    /// Digests cost more than all else.
    static let writers = 2

    let pack: WholePack
    let source: Source
    let writers: [PackWriter]
    private let transfers: Transfers

    init(_ pack: WholePack, of requests: MissingObjects, from source: Source, by transfers: Transfers) {
        (self.pack, self.source, self.transfers) = (pack, source, transfers)
        writers = (0..<Self.writers).map { _ in PackWriter(requests, by: transfers) }
    }

    /// Takes nothing more; what was cut is still written.
    func stop() {
        for writer in writers { writer.channel.end() }
    }

    /// Reads the pack to its end, or to the last row that is wanted.
    ///
    /// - Returns: what ended it before.
    func read() async -> SyncError? {
        defer { stop() }
        if Task.isCancelled { return .fetch(.cancelled) }
        var cutter = PackCutter(pack)
        var turn = Turn()
        var decoder: BodyDecoder?
        let request = FetchRequest(pack.path, limit: pack.size, deadline: transfers.deadlines.object(of: pack.size))
        do throws(FetchError) {
            try await source.fetcher.fetch(request) { part throws(FetchError) in
                switch part {
                case .head(let head):
                    decoder = try self.decoder(of: head)
                    for writer in writers { await writer.begin(head.coding) }
                case .bytes(let chunk):
                    transfers.sources.count(chunk.count)
                    guard var open = decoder.take() else { return }
                    open.feed(chunk)
                    while let piece = try next(&open) {
                        guard await hand(cutter.cut(piece), &turn) else {
                            throw .notTaken(pack.path, reason: "ended")
                        }
                    }
                    // The rest is here already.
                    if cutter.isDone, cutter.received < pack.size { throw .notTaken(pack.path, reason: "ended") }
                    decoder = consume open
                }
            }
        } catch { return cutter.isDone ? nil : .fetch(error) }
        return cutter.isDone ? nil : .fetch(.short(pack.path))
    }

    private func decoder(of head: FetchedHead) throws(FetchError) -> BodyDecoder {
        do throws(CompressionError) {
            return try BodyDecoder(head.coding, limit: pack.size)
        } catch { throw .badForm(pack.path, error) }
    }

    private func next(_ decoder: inout BodyDecoder) throws(FetchError) -> [UInt8]? {
        do throws(CompressionError) { return try decoder.next() } catch { throw .badForm(pack.path, error) }
    }

    /// Which of the writers is next, and which has an object of which more comes.
    private struct Turn {
        var next = 0
        var open: Int?
    }

    /// The rest of an object goes where its beginning went, all else to the other writer.
    ///
    /// - Returns: false when they take nothing any more.
    private func hand(_ cuts: [PackCutter.Cut], _ turn: inout Turn) async -> Bool {
        var rest = cuts[...]
        if let open = turn.open, let first = rest.popFirst() {
            guard await writers[open].channel.send([first]) else { return false }
            if first.isLast { turn.open = nil }
        }
        guard let last = rest.last else { return true }
        guard await writers[turn.next].channel.send(Array(rest)) else { return false }
        turn.open = last.isLast ? nil : turn.next
        turn.next = (turn.next + 1) % writers.count
        return true
    }
}
