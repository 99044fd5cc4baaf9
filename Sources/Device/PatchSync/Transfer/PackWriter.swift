import PatchFormat
import PatchFetch
import PatchStore

/// Hashes and writes some of the objects that are cut from a pack, and compares each with its entry.
actor PackWriter {
    /// The results of some cuts.
    struct Written: Sendable {
        /// Complete objects that were compared with their entries.
        fileprivate(set) var parts: [(position: Int, part: SealedPart)] = []
        /// Objects that differ from their entries, with the reason.
        fileprivate(set) var wrong: [(position: Int, error: SyncError)] = []
        /// The object of which some bytes were received and stay.
        fileprivate(set) var begun: Int?
        /// The object of which some bytes were received and stay in the pack's stored form.
        ///
        /// The pack contains the rest.
        fileprivate(set) var waiting: Int?
        /// The first disk error, if any.
        fileprivate(set) var error: SyncError?
        /// Whether this writer has ended.
        fileprivate(set) var isDone = false
    }

    /// Limits one result, so that received objects are soon made durable.
    private static let most = (count: 500, bytes: 16 << 20)

    nonisolated let channel = CutChannel()
    private let requests: MissingObjects
    private let transfers: Transfers
    private var current: ObjectReceiver?
    private var currentPosition = 0
    /// The compressed form of the pack.
    private var coding: CompressionFormat?
    /// Whether that form is stored, so that the pack continues at its byte.
    private var isKept = false

    init(_ requests: MissingObjects, by transfers: Transfers) {
        self.requests = requests
        self.transfers = transfers
    }

    func begin(_ coding: CompressionFormat?, isKept: Bool) {
        (self.coding, self.isKept) = (coding, isKept)
    }

    /// Writes the received cuts until there are enough for a result.
    func write() async -> Written {
        var written = Written()
        var bytes = 0
        while let cuts = await channel.next() {
            do throws(StoreError) {
                for cut in cuts {
                    try take(cut, &written)
                    bytes += cut.bytes.count
                }
            } catch {
                channel.end()
                (written.error, written.isDone) = (SyncError(error, entry: requests[currentPosition].entry), true)
                return written
            }
            let isMuch = written.parts.count >= Self.most.count || bytes >= Self.most.bytes
            if isMuch || !written.wrong.isEmpty { return written }
        }
        do throws(StoreError) { try leave(&written) } catch {
            written.error = SyncError(error, entry: requests[currentPosition].entry)
        }
        written.isDone = true
        return written
    }

    private func take(_ cut: PackCutter.Cut, _ written: inout Written) throws(StoreError) {
        currentPosition = cut.position
        let request = requests[cut.position]
        do throws(StoreError) {
            if current == nil { current = try begin(request.expected) }
            guard var receiver = current.take() else { return }
            try receiver.append(cut.bytes)
            transfers.report(.received(bytes: cut.bytes.count))
            guard cut.isLast else {
                current = consume receiver
                return
            }
            written.parts.append((cut.position, try receiver.seal()))
            transfers.report(.fileDone(request.entry))
        } catch .mismatch(_, let field) {
            written.wrong.append((cut.position, .object(entry: request.entry, field: field)))
        }
    }

    private func begin(_ expected: ExpectedFile) throws(StoreError) -> ObjectReceiver {
        var receiver = try transfers.objects.receive(expected)
        // A stored part has the same name as an object that is downloaded alone, so that a later request continues at its byte.
        try receiver.begin(at: 0, validator: nil)
        return receiver
    }

    /// Keeps the bytes of the object at which the pack ended, unless the stored form contains them as well, or it is cheaper to
    /// download the object again in its compressed form.
    private func leave(_ written: inout Written) throws(StoreError) {
        guard let receiver = current.take() else { return }
        let (expected, received) = (receiver.expected, receiver.received)
        if isKept {
            try transfers.objects.removePart(of: expected)
            written.waiting = currentPosition
        } else if coding != nil, (expected.size - received) * 100 > expected.size * 30 {
            try transfers.objects.removePart(of: expected)
        } else {
            written.begun = currentPosition
        }
    }
}
