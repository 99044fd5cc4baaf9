import HTTPCore
import NIOCore
import NIOHTTP1
import SystemPackage

/// Answers the requests that an event loop can answer at once: one responder for each loop.
///
/// It parses a head with the same parser as all requests, has it decided on, and applies conditions and ranges as ``Exchange``
/// does. A request that has to wait is given to ``Connection`` with its decision. A faulty or incomplete head is given to
/// ``Connection`` unparsed.
///
/// Files are opened on the loop. They are on a local disk, opening one takes some microseconds, and nginx does the same; a change
/// of thread costs more than it saves. At most ``maxBytesInMemory`` of a file are read into memory here. Larger bodies are sent by
/// `sendfile`, slice by slice.
final class LoopResponder {
    /// The largest body that is kept in memory and sent with the head in one write.
    static let maxBytesInMemory = 64 * 1024

    private let exchange: Exchange
    private let configuration: FileServerConfiguration
    private var remembered: PreparedAnswers

    /// - Parameter limit: Bytes that this loop may remember.
    init(exchange: Exchange, configuration: FileServerConfiguration, limit: Int) {
        self.exchange = exchange
        self.configuration = configuration
        remembered = PreparedAnswers(limit: limit)
    }

    /// The request taken from the front of a buffer.
    enum Taken {
        case answer(PreparedAnswer)
        /// Parsed and decided on. ``Connection`` answers it.
        case request(OpenedRequest)
        /// Nothing was taken. ``Connection`` determines the reason.
        case nothing
    }

    /// Takes the first request out of `buffer`, and answers it if possible.
    func take(from buffer: inout ByteBuffer) -> Taken {
        guard configuration.dialect == .rfc9110 else { return .nothing }
        guard let end = Self.endOfHead(in: buffer), let bytes = buffer.getSlice(at: buffer.readerIndex, length: end)
        else { return .nothing }
        if let answer = remembered.answer(to: bytes, edition: exchange.source.edition) {
            buffer.moveReaderIndex(forwardBy: end)
            return .answer(answer)
        }
        guard let (head, opening) = open(bytes) else { return .nothing }
        buffer.moveReaderIndex(forwardBy: end)
        guard case .receive(let request, .now(let reply), .none, expectsContinue: false) = opening,
            head.method == .GET || head.method == .HEAD, !head.headers.contains(name: "Upgrade")
        else { return .request(OpenedRequest(head, opening)) }
        let answer = reply.used()
        guard let prepared = prepare(answer, for: request, head) else {
            // The use of the answer is noted already.
            let decision = FileDecision.now(PreparedReply(answer, showsRight: reply.showsRight))
            return .request(OpenedRequest(head, .receive(request, decision, .none, expectsContinue: false)))
        }
        prepared.showsRight = reply.showsRight
        if let edition = reply.edition { remembered.remember(prepared, to: bytes, edition: edition) }
        return .answer(prepared)
    }

    /// The length of the first head with its empty line, or nil if it is incomplete.
    private static func endOfHead(in buffer: ByteBuffer) -> Int? {
        let view = buffer.readableBytesView
        var index = view.startIndex
        while let newline = view[index...].firstIndex(of: UInt8(ascii: "\n")) {
            if newline - view.startIndex >= 3, view[newline - 2] == UInt8(ascii: "\n") {
                return newline - view.startIndex + 1
            }
            index = newline + 1
        }
        return nil
    }

    /// Returns nil for a faulty head.
    private func open(_ bytes: ByteBuffer) -> (RequestHead, Exchange.Opening)? {
        var rest = bytes
        var scanner = RequestHeadScanner(
            maxHeadBytes: configuration.maxHeaderBytes,
            maxTargetBytes: configuration.maxTargetBytes
        )
        guard let head = try? scanner.next(from: &rest), rest.readableBytes == 0, let opening = try? exchange.open(head)
        else { return nil }
        return (head, opening)
    }

    /// Returns nil for an answer that takes longer, and for a file that is not the one that the source named.
    private func prepare(_ answer: FileAnswer, for request: FileRequest, _ head: RequestHead) -> PreparedAnswer? {
        switch answer {
        case .file(let file): prepare(file, for: request, head)
        case .bytes(let bytes): prepare(Response(bytes, for: request), head, of: bytes.origin)
        case .refused(let status, let message, let headers):
            prepare(Response(refusing: status, message: message, headers: headers), head)
        case .files, .stream, .tunnel: nil
        }
    }

    /// Prepares the same refusal that ``Connection`` would send.
    func refusal(_ fault: RequestFault, to head: RequestHead) -> PreparedAnswer {
        prepare(Response(fault), head)
    }

    private func prepare(
        _ response: Response,
        _ head: RequestHead,
        of origin: FileOrigin? = nil
    ) -> PreparedAnswer {
        let response = exchange.source.completing(response, to: head)
        var body: ByteBuffer?
        if head.method != .HEAD, response.hasContent, case .bytes(let bytes) = response.body {
            body = ByteBuffer(bytes: bytes)
        }
        return PreparedAnswer(
            to: head,
            response,
            body: body,
            part: nil,
            origin: origin,
            isLasting: Self.isLasting(response) && (response.body.count ?? 0) <= Self.maxBytesInMemory,
            second: HTTPDate.second
        )
    }

    /// Returns nil if the file is not the one that the source named.
    ///
    /// ``Exchange`` logs and answers that.
    private func prepare(_ file: ServedFile, for request: FileRequest, _ head: RequestHead) -> PreparedAnswer? {
        guard let open = try? OpenFile(file.path, below: file.root, lease: file.lease),
            file.size == nil || file.size == open.size,
            file.identity == nil || file.identity == open.identity
        else { return nil }
        let response = exchange.source.completing(Response(file, open: open, for: request), to: head)
        // A failed condition is answered with a line of text.
        if case .bytes = response.body { return prepare(response, head) }
        var body: ByteBuffer?
        var part: PreparedAnswer.Part?
        if case .file(_, let range) = response.body, head.method != .HEAD {
            if range.count <= Self.maxBytesInMemory {
                body = try? open.read(range, after: ByteBuffer())
                // The file was written to while it was read.
                guard body != nil, open.currentIdentity == open.identity else { return nil }
            } else {
                // TLS needs the bytes in memory.
                guard configuration.tls == nil else { return nil }
                part = PreparedAnswer.Part(file: open, range: range)
            }
        }
        return PreparedAnswer(
            to: head,
            response,
            body: body,
            part: part,
            origin: FileOrigin(path: file.path.string, identity: open.identity),
            reason: file.reason,
            // A file without a tag may have changed since the source examined it.
            isLasting: Self.isLasting(response) && file.entityTag != nil,
            second: HTTPDate.second
        )
    }

    /// Only whole files are remembered, since their number is finite.
    ///
    /// The number of refusals and ranges is not.
    private static func isLasting(_ response: Response) -> Bool {
        response.status == .ok || response.status == .notModified
    }
}
