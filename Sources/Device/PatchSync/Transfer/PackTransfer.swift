import PatchCompression
import PatchFetch
import PatchFormat
import PatchStore

/// The transfer of a bundle's pack from one server: one task reads, decodes and cuts it, others hash and write.
///
/// It is one try. A compressed form is stored while it arrives, and the next try continues at its byte. The plain pack continues
/// with the bytes that are missing then.
final class PackTransfer: Sendable {
    /// Hashing costs more than all other work.
    static let writers = 2

    let pack: WholePack
    let source: Source
    let writers: [PackWriter]
    private let transfers: Transfers

    init(_ pack: WholePack, of requests: MissingObjects, from source: Source, by transfers: Transfers) {
        (self.pack, self.source, self.transfers) = (pack, source, transfers)
        writers = (0..<Self.writers).map { _ in PackWriter(requests, by: transfers) }
    }

    /// Stops reading.
    ///
    /// Cuts that were already sent are still written.
    func stop() {
        for writer in writers { writer.channel.end() }
    }

    /// The end of reading a pack.
    struct End: Sendable {
        /// The error before the last wanted row, if any.
        var error: SyncError?
        /// Whether bytes of an earlier request were used, which may be the cause of an error.
        var usedKept = false
        /// Whether bytes were received that a later try need not request again.
        var hasMoved = false
        /// Whether the server sent the pack from its first byte although a part was requested.
        var lacksRanges = false
    }

    /// The state of one read.
    private struct Progress: ~Copyable {
        var end = End()
        var cutter: PackCutter
        var decoder: BodyDecoder?
        /// The compressed form, while it is stored.
        var form: PackForm?
        /// Bytes of the pack that an earlier answer contained.
        ///
        /// They are skipped.
        var known = 0
        /// The disk error, if any.
        var failure: FileError?
        /// The next writer, and the one whose object is not complete yet.
        var next = 0
        var open: Int?

        init(_ pack: WholePack) {
            cutter = PackCutter(pack)
        }
    }

    /// Reads the pack to its end, or to the last wanted row.
    func read() async -> End {
        defer { stop() }
        if Task.isCancelled { return End(error: .fetch(.cancelled)) }
        var progress = Progress(pack)
        let error = await read(&progress)
        if !progress.cutter.isDone { progress.end.error = error }
        return progress.end
    }

    private func read(_ progress: inout Progress) async -> SyncError {
        var request = FetchRequest(pack.path, limit: pack.size, deadline: transfers.deadlines.object(of: pack.size))
        if let range = pack.range {
            request.isPlain = true
            request.resume = .init(offset: range.lowerBound, validator: nil, end: range.upperBound)
        } else {
            do throws(SyncError) { request.resume = try await readKept(&progress) } catch { return error }
        }
        if progress.cutter.isDone { return .fetch(.notTaken(pack.path, reason: "ended")) }
        do throws(FetchError) {
            try await fetch(request, &progress)
        } catch { return progress.failure.map { .file($0) } ?? .fetch(error) }
        return .fetch(.short(pack.path))
    }

    private func fetch(_ request: FetchRequest, _ progress: inout Progress) async throws(FetchError) {
        try await source.fetcher.fetch(request) { part throws(FetchError) in
            switch part {
            case .head(let head): try await begin(head, to: request, &progress)
            case .bytes(let chunk):
                transfers.sources.count(chunk.count)
                do throws(FileError) { try progress.form?.append(chunk) } catch {
                    throw notTaken(because: error, &progress)
                }
                if progress.form?.isKept == true { progress.end.hasMoved = true }
                try await feed(chunk, &progress)
                // The rest is already stored.
                if progress.cutter.isDone, progress.cutter.received < pack.range?.upperBound ?? pack.size {
                    throw .notTaken(pack.path, reason: "ended")
                }
            }
        }
    }

    /// Begins an answer, where the last one stopped or with the first byte.
    private func begin(_ head: FetchedHead, to request: FetchRequest, _ progress: inout Progress)
        async throws(FetchError)
    {
        if let range = pack.range {
            guard head.offset == range.lowerBound, head.coding == nil else {
                progress.end.lacksRanges = true
                throw .notTaken(pack.path, reason: "range")
            }
            progress.decoder = try decoder(of: nil)
            return
        }
        // The decoder has processed the stored bytes.
        if head.offset > 0 { return }
        progress.known = progress.cutter.received
        progress.decoder = try decoder(of: head.coding)
        progress.form = nil
        // The form needs disk space besides the objects, so it is stored only if both fit.
        if pack.size >= PackForm.worthKeeping, transfers.spaceShortage(pack.size + (head.length ?? pack.size)) == nil {
            let facts = PackFacts(coding: head.coding, length: head.length, validator: head.validator)
            do throws(FileError) { progress.form = try transfers.objects.beginPack(of: pack.manifest, facts) } catch {
                throw notTaken(because: error, &progress)
            }
        }
        let isKept = progress.form?.isKept == true
        for writer in writers { await writer.begin(head.coding, isKept: isKept) }
    }

    private func notTaken(because error: FileError, _ progress: inout Progress) -> FetchError {
        progress.failure = error
        return .notTaken(pack.path, reason: "\(error)")
    }

    /// Reads the stored bytes of the compressed form.
    ///
    /// - Returns: where the next request continues, or nil for the first byte.
    private func readKept(_ progress: inout Progress) async throws(SyncError) -> FetchRequest.Resume? {
        let objects = transfers.objects
        let (found, failure): (PackFacts?, FileError?)
        do throws(FileError) { (found, failure) = (try objects.packFacts(of: pack.manifest), nil) } catch {
            (found, failure) = (nil, error)
        }
        if let failure { throw .file(failure) }
        guard let facts = found, facts.kept > 0, let coding = facts.coding else { return nil }
        progress.end.usedKept = true
        for writer in writers { await writer.begin(coding, isKept: true) }
        do throws(FetchError) { try await feedKept(facts.kept, coding, &progress) } catch .badForm {
            // A power cut may have damaged the stored form.
            progress.decoder = nil
            do throws(FileError) { try objects.removePack(of: pack.manifest) } catch { throw .file(error) }
            return nil
        } catch { throw progress.failure.map { .file($0) } ?? .fetch(error) }
        do throws(FileError) { progress.form = try objects.continuePack(of: pack.manifest, coding) } catch {
            throw .file(error)
        }
        return .init(offset: facts.kept, validator: facts.validator, coding: coding)
    }

    private func feedKept(
        _ count: Int,
        _ coding: CompressionFormat,
        _ progress: inout Progress
    ) async throws(FetchError) {
        progress.decoder = try decoder(of: coding)
        let reader: any FileReader
        do throws(FileError) {
            reader = try transfers.objects.keptPack(of: pack.manifest, coding, limit: count)
        } catch { throw notTaken(because: error, &progress) }
        while !progress.cutter.isDone {
            let piece: [UInt8]?
            do throws(FileError) { piece = try reader.next() } catch { throw notTaken(because: error, &progress) }
            guard let piece else { return }
            if Task.isCancelled { throw .cancelled }
            try await feed(piece, &progress)
        }
    }

    /// Decodes the next bytes and sends the cut objects to the writers.
    private func feed(_ chunk: [UInt8], _ progress: inout Progress) async throws(FetchError) {
        guard var open = progress.decoder.take() else { return }
        open.feed(chunk)
        while let piece = try next(&open) {
            let known = min(progress.known, piece.count)
            progress.known -= known
            let cuts = progress.cutter.cut(known == 0 ? piece : Array(piece.dropFirst(known)))
            guard await hand(cuts, &progress) else { throw .notTaken(pack.path, reason: "ended") }
        }
        progress.decoder = consume open
    }

    private func decoder(of coding: CompressionFormat?) throws(FetchError) -> BodyDecoder {
        do throws(CompressionError) {
            return try BodyDecoder(coding, limit: pack.size)
        } catch { throw .badForm(pack.path, error) }
    }

    private func next(_ decoder: inout BodyDecoder) throws(FetchError) -> [UInt8]? {
        do throws(CompressionError) { return try decoder.next() } catch { throw .badForm(pack.path, error) }
    }

    /// Sends the rest of an object to the writer of its beginning, and all other cuts to the other writer.
    ///
    /// - Returns: false if a writer has stopped receiving.
    private func hand(_ cuts: [PackCutter.Cut], _ progress: inout Progress) async -> Bool {
        var rest = cuts[...]
        if let open = progress.open, let first = rest.popFirst() {
            guard await writers[open].channel.send([first]) else { return false }
            if first.isLast { progress.open = nil }
        }
        guard let last = rest.last else { return true }
        guard await writers[progress.next].channel.send(Array(rest)) else { return false }
        progress.open = last.isLast ? nil : progress.next
        progress.next = (progress.next + 1) % writers.count
        return true
    }
}
