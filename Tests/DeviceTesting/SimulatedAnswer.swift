import HTTPCore
import PatchCompression
import PatchFetch
import PatchFormat
import PatchSync
import PatchCrypto
import PatchTrust

/// What a simulated server does with one request; it keeps to the promise of ``Fetcher``, as the real one does.
struct SimulatedAnswer {
    /// Small, so that nothing comes in one piece, and not too many of them.
    private var pieceSize: Int { fixedPieceSize ?? max(700, (found?.count ?? 0) / 20) }

    let request: FetchRequest
    let found: [UInt8]?
    let fault: SimulatedRepository.Fault?
    /// What the server calls a file; nil where it has no strong name.
    var validator: ([UInt8]) -> String? = { "\"\(SHA256Digest(of: $0))\"" }
    /// The compressed form that the server has of the file, unless it is no smaller.
    var coding: CompressionFormat?
    var fixedPieceSize: Int?

    private var path: String { request.path }

    func send(_ take: (FetchedPart) async throws(FetchError) -> Void) async throws(FetchError) {
        var answer = found ?? []
        var coding = coding.flatMap { request.codings.contains($0) ? $0 : nil }
        var fault = fault
        if case .replaced(let bytes) = fault { answer = bytes }
        if let format = coding, let form = try? format.compressed(answer, effort: .quick), form.count < answer.count {
            answer = form
        } else {
            coding = nil
        }
        if case .ofForm(let inner) = fault {
            fault = coding == nil ? nil : inner
            if case .replaced(let bytes) = fault { answer = bytes }
        }
        var isEndless = false
        var end: Int?
        switch fault {
        case .notFound: throw .notFound(path)
        case .status(let code): throw .status(path, code: code)
        case .busy(let seconds): throw .busy(path, code: 503, retryAfter: RetryAfter(seconds))
        case .timesOut: throw .timedOut(path)
        case .stalls: throw .stalled(path)
        case .refused(let error): throw error
        case .webPage: answer = Array("<!doctype html>".utf8)
        case .connection: throw .connection(path, reason: "unplugged")
        case .endless: isEndless = true
        case .shortened(let count): answer = Array(answer.prefix(count))
        case .breaksOff(let count), .hangs(let count): end = count
        case .bitFlipped(let place):
            let index = min(answer.count - 1, Int(Double(answer.count) * place))
            answer[index] ^= 1
        case .replaced, .ofForm, .announcesMore, nil: break
        }
        if found == nil, fault == nil { throw .notFound(path) }
        let validator = found.flatMap(validator).flatMap { name(of: coding, $0) }
        if let tag = request.unless, tag == validator { return try await take(.head(FetchedHead(isUnchanged: true))) }
        let resume = request.resume.flatMap { $0.validator == nil || $0.validator == validator ? $0 : nil }
        let offset = resume?.offset ?? 0
        if let last = resume?.end { answer = Array(answer.prefix(last)) }
        let isWebPage = if case .webPage = fault { true } else { false }
        let tooLarge = coding.map { FetchError.badForm(path, .notSmaller($0.codec, limit: request.limit)) }
        if !isEndless, end == nil, answer.count > request.limit {
            throw tooLarge ?? .tooLarge(path, limit: request.limit)
        }
        let head = FetchedHead(
            offset: offset,
            validator: validator,
            isWebPage: isWebPage,
            coding: coding,
            length: request.isHead && !isEndless ? answer.count - offset : nil
        )
        try await take(.head(head))
        if request.isHead { return }
        let body = end.map { answer.prefix(offset + $0) } ?? answer[...]
        do throws(FetchError) {
            try await send(body.dropFirst(offset), isEndless: isEndless, limit: request.limit - offset, take)
        } catch .tooLarge(let path, let limit) { throw tooLarge ?? .tooLarge(path, limit: limit) }
        if case .announcesMore = fault { throw .short(path) }
        if let end, found == nil || offset + end < answer.count {
            if case .hangs = fault { try await hang() }
            throw .short(path)
        }
    }

    private func hang() async throws(FetchError) {
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
        throw .cancelled
    }

    /// A form has a name of its own, and none where the file has only a date.
    private func name(of coding: CompressionFormat?, _ plain: String) -> String? {
        guard let coding else { return plain }
        return plain.hasSuffix("\"") ? "\(plain.dropLast())\(coding.suffix)\"" : nil
    }

    private func send(
        _ answer: ArraySlice<UInt8>,
        isEndless: Bool,
        limit: Int,
        _ take: (FetchedPart) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        var rest = answer
        var sent = 0
        while isEndless || !rest.isEmpty {
            let chunk = isEndless ? [UInt8](repeating: 0x20, count: 65_536) : Array(rest.prefix(pieceSize))
            rest = rest.dropFirst(pieceSize)
            sent += chunk.count
            if Task.isCancelled { throw .cancelled }
            guard sent <= limit else { throw .tooLarge(path, limit: limit) }
            try await take(.bytes(chunk))
        }
    }
}
