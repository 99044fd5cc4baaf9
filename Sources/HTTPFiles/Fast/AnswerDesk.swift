import NIOCore
import NIOHTTP1
import SystemPackage

/// Answers requests on an event loop, as far as they can be answered there at once: one for each loop.
///
/// It reads a head with the parser of every other request, asks ``FileSource/prepared(_:)``, and applies conditions and
/// ranges as ``Exchange`` does. Whatever is unusual is not its business: ``Connection`` gets the bytes as they came, and
/// answers or refuses them.
///
/// Files are opened here, on the loop. They lie on a local disk, opening one takes some microseconds, and `nginx`,
/// which we are measured against, does the same; a thread's hop costs more than it saves. What is read into memory
/// here is at most ``maxBytesInMemory``; the rest goes by `sendfile`, slice by slice.
final class AnswerDesk {
    /// Bytes of a body that are held in memory, and sent with the head in one write.
    static let maxBytesInMemory = 64 * 1024

    private let exchange: Exchange
    private let configuration: FileServerConfiguration
    private var remembered: PreparedAnswers

    /// - Parameter limit: bytes that this loop may remember.
    init(exchange: Exchange, configuration: FileServerConfiguration, limit: Int) {
        self.exchange = exchange
        self.configuration = configuration
        remembered = PreparedAnswers(limit: limit)
    }

    /// Takes the first request out of `buffer` and answers it; nil, with nothing taken, when ``Connection`` must.
    func answer(_ buffer: inout ByteBuffer) -> PreparedAnswer? {
        guard configuration.dialect == .rfc9110 else { return nil }
        guard let end = Self.endOfHead(in: buffer), let bytes = buffer.getSlice(at: buffer.readerIndex, length: end)
        else { return nil }
        guard let answer = remembered.answer(to: bytes, edition: exchange.source.edition) ?? prepare(bytes)
        else { return nil }
        buffer.moveReaderIndex(forwardBy: end)
        return answer
    }

    /// The length of the first head with its empty line; nil when it has not arrived whole.
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

    private func prepare(_ bytes: ByteBuffer) -> PreparedAnswer? {
        let standing = Standing()
        guard let (head, request) = request(bytes),
            let reply = exchange.source.prepared(request.with(standing))
        else { return nil }
        let answer: PreparedAnswer?
        switch reply.answer {
        case .file(let file): answer = prepare(file, for: request, head)
        case .bytes(let bytes): answer = prepare(Response(bytes, for: request), head, of: bytes.origin)
        case .refused(let status, let message, let headers):
            answer = prepare(Response(refusing: status, message: message, headers: headers), head)
        case .files, .stream, .tunnel: answer = nil
        }
        answer?.showsRight = standing.isShown
        if let answer, let edition = reply.edition { remembered.remember(answer, to: bytes, edition: edition) }
        return answer
    }

    /// A GET or HEAD that is nothing but a head, fault-free; nil for everything else.
    private func request(_ bytes: ByteBuffer) -> (RequestHead, FileRequest)? {
        var rest = bytes
        var scanner = RequestHeadScanner(
            maxHeadBytes: configuration.maxHeaderBytes,
            maxTargetBytes: configuration.maxTargetBytes
        )
        guard let head = try? scanner.next(from: &rest), rest.readableBytes == 0,
            head.method == .GET || head.method == .HEAD, !head.headers.contains(name: "Upgrade"),
            case .receive(let request, .whole, .none, expectsContinue: false)? = try? exchange.open(head)
        else { return nil }
        return (head, request)
    }

    /// What ``Connection`` would say.
    func refusal(_ fault: RequestFault, to head: RequestHead) -> PreparedAnswer {
        prepare(Response(fault), head)
    }

    private func prepare(
        _ response: Response,
        _ head: RequestHead,
        of origin: FileOrigin? = nil
    ) -> PreparedAnswer {
        let response = response.completed(by: exchange.source, to: head)
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

    /// Nil when the file is not what the source said: ``Exchange`` logs and answers that.
    private func prepare(_ file: ServedFile, for request: FileRequest, _ head: RequestHead) -> PreparedAnswer? {
        guard let open = try? OpenFile(file.path, below: file.root, lease: file.lease),
            file.size == nil || file.size == open.size,
            file.stamp == nil || file.stamp == open.stamp
        else { return nil }
        let response = Response(file, open: open, for: request).completed(by: exchange.source, to: head)
        // A condition that failed, in words.
        if case .bytes = response.body { return prepare(response, head) }
        var body: ByteBuffer?
        var part: PreparedAnswer.Part?
        if case .file(_, let range) = response.body, head.method != .HEAD {
            if range.count <= Self.maxBytesInMemory {
                body = try? open.read(range, after: ByteBuffer())
                // Written to while it was read.
                guard body != nil, open.currentStamp == open.stamp else { return nil }
            } else {
                // TLS takes bytes, not files.
                guard configuration.tls == nil else { return nil }
                part = PreparedAnswer.Part(file: open, range: range)
            }
        }
        return PreparedAnswer(
            to: head,
            response,
            body: body,
            part: part,
            origin: FileOrigin(path: file.path.string, stamp: open.stamp),
            // Without a tag, its state may not be what the source looked at.
            isLasting: Self.isLasting(response) && file.entityTag != nil,
            second: HTTPDate.second
        )
    }

    /// Refusals and the parts of a file have no end, what is there has one.
    private static func isLasting(_ response: Response) -> Bool {
        response.status == .ok || response.status == .notModified
    }
}
