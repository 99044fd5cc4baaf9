import PatchSync

/// What a simulated server does with one request; it keeps to the promise of ``Fetcher``, as the real one does.
struct SimulatedAnswer {
    /// Of every answer; small, so that nothing comes in one piece.
    private static let chunk = 700

    let path: String
    let found: [UInt8]?
    let fault: SimulatedRepository.Fault?

    func send(
        limit: Int,
        _ receive: (_ chunk: [UInt8]) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        var answer = found ?? []
        var isEndless = false
        var breaksOff = false
        switch fault {
        case .notFound: throw .notFound(path)
        case .status(let code): throw .status(path, code: code)
        case .timesOut: throw .timedOut(path)
        case .connection: throw .connection(path, reason: "unplugged")
        case .replaced(let bytes): answer = bytes
        case .endless: isEndless = true
        case .shortened(let count): answer = Array(answer.prefix(count))
        case .breaksOff(let count):
            answer = Array(answer.prefix(count))
            breaksOff = true
        case .bitFlipped(let place):
            let index = min(answer.count - 1, Int(Double(answer.count) * place))
            answer[index] ^= 1
        case nil: break
        }
        if found == nil, fault == nil { throw .notFound(path) }
        if !isEndless, !breaksOff, answer.count > limit { throw .tooLarge(path, limit: limit) }
        try await send(answer, isEndless: isEndless, limit: limit, receive)
        if breaksOff { throw .short(path) }
    }

    private func send(
        _ answer: [UInt8],
        isEndless: Bool,
        limit: Int,
        _ receive: (_ chunk: [UInt8]) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        var rest = answer[...]
        var sent = 0
        while isEndless || !rest.isEmpty {
            let chunk = isEndless ? [UInt8](repeating: 0x20, count: 65_536) : Array(rest.prefix(Self.chunk))
            rest = rest.dropFirst(Self.chunk)
            sent += chunk.count
            guard sent <= limit else { throw .tooLarge(path, limit: limit) }
            try await receive(chunk)
        }
    }
}
