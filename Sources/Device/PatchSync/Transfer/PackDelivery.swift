import PatchChoice
import PatchDelta
import PatchFetch
import PatchFormat
import PatchStore

extension PackError {
    /// Whether the pack itself is wrong.
    ///
    /// False if its base does not fit, or if the pack exceeds this device's own limits.
    var isServerFault: Bool {
        switch self {
        case .object, .tooLong, .tooMuch: false
        case .otherFormat, .compression, .head, .malformed, .rowTooLarge, .prefixTooLarge, .incomplete, .trailing,
            .otherManifest, .otherForm, .signatures:
            true
        }
    }
}

/// The transfer of a pack into its file.
///
/// All servers are tried, repeatedly, and each try continues where the last one stopped.
///
/// The pack is read to its end in that file before any of its contents is stored.
struct PackDelivery {
    enum Outcome {
        /// It is complete and produces this manifest, which is the signed one.
        case manifest([UInt8])
        /// No server has it.
        case nowhere
        /// It could not be downloaded, or does not produce the manifest that it is named after.
        case refused(SyncError)
        /// No other file can be downloaded either.
        case ended(SyncError)
    }

    let pack: BasePack
    /// The name of the pack in errors, in words.
    let name: String
    private let label: Label
    private let base: BaseVersion
    private let store: DeviceStore
    private let transfers: Transfers
    /// The maximum bytes of the signatures sent with it, or nil if none are wanted.
    private let signatures: Int?
    /// The largest size that is worth it, or nil without a limit.
    var most: Int?
    /// Servers that do not have it together with its signatures.
    private var unsigned: Set<String> = []
    /// Servers that do not have it, or have a wrong one.
    private var passedOver: Set<String> = []
    /// The last fault of a server's pack.
    private var fault: SyncError?
    /// Bytes that no later try requests again.
    private var progress = 0

    /// - Parameter signatures: The maximum bytes of the signatures sent with it, or nil if none are wanted.
    init(
        _ pack: BasePack,
        from base: BaseVersion,
        named name: String,
        of label: Label,
        signatures: Int?,
        into store: DeviceStore,
        by transfers: Transfers
    ) {
        self.signatures = signatures
        (self.pack, self.base, self.name, self.store, self.transfers) = (pack, base, name, store, transfers)
        self.label = label
    }

    mutating func run() async -> Outcome {
        do throws(SyncError) {
            if let manifest = try kept() { return .manifest(manifest) }
            return try await receive()
        } catch .file(.noSpace(let operation, let path)) {
            // Removed, because there may be enough space for the download without the pack.
            discard()
            return .refused(.file(.noSpace(operation, path)))
        } catch .noRoom(let label, let wait) {
            return .refused(.noRoom(label, wait))
        } catch {
            return .ended(error)
        }
    }

    /// The manifest of a stored pack that was not used to its end.
    private func kept() throws(SyncError) -> [UInt8]? {
        guard try store.wrapped({ () throws(FileError) in try store.objects.size(of: pack) }) != nil else { return nil }
        do throws(SyncError) { return try manifest() } catch .pack {
            // A power cut may have damaged it.
            discard()
            return nil
        }
    }

    /// - Throws: Errors that are independent of the server.
    private mutating func receive() async throws(SyncError) -> Outcome {
        var attempts = Attempts(transfers.deadlines)
        var spent: [String: Duration] = [:]
        while true {
            let before = progress
            var errors: [SyncError] = []
            for source in transfers.sources.inOrder where !passedOver.contains(source.name) {
                let left =
                    transfers.deadlines.object(of: base.limits.pack) - spent[source.name, default: .zero]
                let begin = transfers.timing.clock()
                do throws(SyncError) {
                    return .manifest(try await deliver(from: source, within: left))
                } catch {
                    if error.isOwn { throw error }
                    if case .pack(_, let why) = error, !why.isServerFault { return refused(error) }
                    spent[source.name, default: .zero] += transfers.timing.clock() - begin
                    if isWorthRetrying(error, of: source) { errors.append(error) }
                }
            }
            let next = attempts.failed(
                errors.compactMap(\.fetchError),
                progress: progress > before,
                random: transfers.timing.random()
            )
            guard case .again(let wait) = next, let error = errors.last else {
                return (errors.last ?? fault).map(refused) ?? .nowhere
            }
            if let end = await transfers.pause(wait, because: error) { throw end }
        }
    }

    /// The received bytes stay only if a later try can continue with them.
    private func refused(_ error: SyncError) -> Outcome {
        if error.fetchError?.isNetwork != true { discard() }
        return .refused(error)
    }

    private func discard() {
        try? store.objects.remove(pack)
    }

    private mutating func isWorthRetrying(_ error: SyncError, of source: Source) -> Bool {
        switch error {
        // Some hosts answer a request for a missing file with their start page, so this is not taken for a captive portal.
        case .fetch(.notFound), .fetch(.webPage): break
        case .fetch(let fetch) where fetch.isWorthRetrying:
            transfers.sources.moveToEnd(source)
            return true
        case .fetch: fault = error
        default:
            fault = error
            transfers.sources.note(MirrorFault(server: source.name, wrong: .lied(error)))
        }
        passedOver.insert(source.name)
        return false
    }

    /// Tries one server.
    ///
    /// If stored partial bytes were wrong, it tries again from the first byte.
    private mutating func deliver(from source: Source, within time: Duration) async throws(SyncError) -> [UInt8] {
        if Task.isCancelled { throw .fetch(.cancelled) }
        if let signatures, !unsigned.contains(source.name) {
            let begin = transfers.timing.clock()
            do throws(SyncError) {
                return try await deliver(.signed, signatures, from: source, within: time)
            } catch {
                switch error {
                case .fetch(.notFound), .fetch(.webPage): unsigned.insert(source.name)
                default: throw error
                }
            }
            return try await deliver(.pack, 0, from: source, within: time - (transfers.timing.clock() - begin))
        }
        return try await deliver(.pack, 0, from: source, within: time)
    }

    /// - Parameter signatures: The maximum bytes of the signatures.
    private mutating func deliver(
        _ part: BasePack.Part,
        _ signatures: Int,
        from source: Source,
        within time: Duration
    ) async throws(SyncError) -> [UInt8] {
        let isResumed = try await fetch(part, signatures, from: source, within: time)
        do throws(SyncError) { return try manifest() } catch {
            guard case .pack(_, let why) = error, why.isServerFault else { throw error }
            discard()
            guard isResumed else { throw error }
        }
        _ = try await fetch(part, signatures, from: source, within: time)
        do throws(SyncError) { return try manifest() } catch {
            if case .pack = error { discard() }
            throw error
        }
    }

    /// Reads the whole pack without storing its contents.
    private func manifest() throws(SyncError) -> [UInt8] {
        guard let bytes = try base.read(pack, named: name, { _ throws(SyncError) in true }) else {
            throw .pack(name, .incomplete)
        }
        return bytes
    }

    /// - Returns: whether it continued a partial file.
    private mutating func fetch(
        _ part: BasePack.Part,
        _ signatures: Int,
        from source: Source,
        within time: Duration
    ) async throws(SyncError) -> Bool {
        let limit = base.limits.pack + (part == .signed ? BasePack.frontCount + signatures : 0)
        var receiver = try store.wrapped { () throws(FileError) in try store.objects.receive(pack, part, limit: limit) }
        progress = max(progress, receiver.lasting)
        var request = FetchRequest(URLLayout.pack(pack, part), limit: limit, deadline: time)
        request.isPlain = true
        request.resume = receiver.validator.map { .init(offset: receiver.received, validator: $0) }
        let isResumed = try await fetch(request, upTo: signatures, from: source, into: &receiver)
        let isCut = part == .signed && receiver.signatures == nil
        do throws(FileError) { try receiver.finish() } catch { throw .file(error) }
        if isCut {
            discard()
            throw .pack(name, .incomplete)
        }
        return isResumed
    }

    private mutating func fetch(
        _ request: FetchRequest,
        upTo signatures: Int,
        from source: Source,
        into receiver: inout PackReceiver
    ) async throws(SyncError) -> Bool {
        var (isResumed, isShown) = (false, false)
        var failure: FileError?
        var wait: SpaceShortage?
        var isWrong = false
        do throws(FetchError) {
            try await source.fetcher.fetch(request) { part throws(FetchError) in
                // The received bytes stay for another server that has the pack.
                if case .head(let head) = part, head.isWebPage { throw .webPage(request.path) }
                if case .head(let head) = part, let length = head.length {
                    wait = transfers.spaceShortage(length)
                    if wait != nil { throw .notTaken(request.path, reason: "room") }
                    if let most, length > most {
                        throw .notTaken(request.path, reason: "costly")
                    }
                }
                do throws(FileError) {
                    switch part {
                    case .head(let head):
                        isResumed = head.offset > 0
                        try receiver.begin(at: head.offset, validator: head.validator)
                        isShown = head.length != nil
                        if let length = head.length { transfers.report(.packBegan(label, bytes: length)) }
                    case .bytes(let chunk):
                        transfers.sources.count(chunk.count)
                        try receiver.append(chunk)
                        isWrong = receiver.signatures.map { $0 > signatures } == true
                        if isShown { transfers.report(.received(bytes: chunk.count)) }
                    }
                } catch {
                    failure = error
                    throw .notTaken(request.path, reason: "\(error)")
                }
                if isWrong { throw .notTaken(request.path, reason: "\(PackError.signatures(.length))") }
            }
        } catch {
            progress = max(progress, receiver.lasting)
            if let failure { throw .file(failure) }
            if let wait { throw .noRoom(label, wait) }
            if isWrong {
                discard()
                throw .pack(name, .signatures(.length))
            }
            throw .fetch(error)
        }
        return isResumed
    }
}
