import HTTPCore
import NIOCore
import NIOHTTP1
import NIOPosix
import SystemPackage

/// Turns a request's head into a response: refusals that need no source, and the source's answers.
struct Exchange: Sendable {
    let source: any FileSource
    let dialect: Dialect
    /// Called with one line about each file that differs from the one that the source named.
    let errorLog: (@Sendable (String) -> Void)?

    /// The decision from the head alone.
    enum Opening: Sendable {
        /// Send this response. `keepsConnection` is false if an unread body would follow.
        case refuse(Response, keepsConnection: Bool)
        case receive(FileRequest, FileDecision, BodyFraming, expectsContinue: Bool)
    }

    func open(_ head: RequestHead) throws(RequestFault) -> Opening {
        let framing = try BodyFraming(head)
        let rule = MethodRule(head.method, acceptsBodies: source.acceptsBodies)
        var fault: RequestPathError?
        if rule == .served {
            let target: RequestTarget?
            do throws(RequestPathError) { target = try RequestTarget(parsing: head.target) } catch {
                (target, fault) = (nil, error)
            }
            if let target { return try receive(target, head, framing) }
        }
        if MethodRule.mayPass(head.method), let target = try? RequestTarget(parsing: head.target, keepsEncoded: true),
            source.passesAsSent(FileRequest(head, target))
        {
            return try receive(target, head, framing)
        }
        if let fault { throw .target(fault) }
        switch rule {
        case .notAllowed(let allow):
            let response = Response(
                refusing: .methodNotAllowed,
                message: "Method not allowed.",
                headers: ["Allow": allow]
            )
            return .refuse(response, keepsConnection: framing == .none)
        case .served, .unknown: throw .unknownMethod
        }
    }

    private func receive(
        _ target: RequestTarget,
        _ head: RequestHead,
        _ framing: BodyFraming
    ) throws(RequestFault) -> Opening {
        try head.checkBody(framing)
        let expectsContinue = try head.expectsContinue()
        let request = FileRequest(head, target)
        return .receive(request, source.decide(request), framing, expectsContinue: expectsContinue)
    }

    /// The source's reply to the client.
    enum Reply: Sendable {
        case response(Response)
        case tunnel(ServedTunnel)
    }

    /// Makes the decided answer, opens its file, and applies the request's conditions.
    func reply(to request: FileRequest, by decision: FileDecision) async -> Reply {
        switch await decision.answer(to: request) {
        case .file(let file):
            .response(await response(to: request, with: file))
        case .files(let files):
            .response(Response(files, for: request))
        case .bytes(let bytes):
            .response(dialect.compatible?.response(with: bytes) ?? Response(bytes, for: request))
        case .stream(let stream):
            .response(Response(status: stream.status, headers: stream.headers, body: .stream(stream)))
        case .tunnel(let tunnel):
            .tunnel(tunnel)
        case .refused(let status, let message, let headers):
            .response(Response(refusing: status, message: message, headers: headers))
        }
    }

    private func response(to request: FileRequest, with file: ServedFile) async -> Response {
        let name = "\(request.method.rawValue) \(request.path.text): \(file.path.string)"
        let open: OpenFile
        do {
            // A disk may stall; the threads that run Swift's tasks must not.
            open = try await NIOThreadPool.singleton.runIfActive {
                try OpenFile(file.path, below: file.root, lease: file.lease)
            }
        } catch {
            report("\(name) cannot be opened: \(error)")
            return (error as? OpenFileError) == .notFound
                ? Response(refusing: .notFound, message: "Not found.") : .unreadable
        }
        if let size = file.size, size != open.size {
            report("\(name) has \(open.size) bytes, not \(size)")
            return .unreadable
        }
        if let identity = file.identity, identity != open.identity {
            report("\(name) is not the file that was verified")
            return .changing
        }
        if let compatible = dialect.compatible {
            return compatible.response(to: request, with: file, open, now: HTTPDate.second)
        }
        return Response(file, open: open, for: request)
    }

    /// Logs a response that stopped in the middle.
    func report(brokenAfter bytes: Int, of target: String, _ trouble: String) {
        report("the response broke after \(bytes) bytes: \(trouble)", to: target)
    }

    /// Logs without the target's query, which may contain secrets.
    func report(_ trouble: String, to target: String) {
        report("\(target.prefix { $0 != "?" }): \(trouble)")
    }

    /// Logs an escaped message, because it contains a request's path.
    func report(_ message: String) {
        errorLog?(AccessLogEntry.escaped(message))
    }
}

/// A request whose head was read and decided on.
final class OpenedRequest: Sendable {
    let head: RequestHead
    let opening: Exchange.Opening

    init(_ head: RequestHead, _ opening: Exchange.Opening) {
        self.head = head
        self.opening = opening
    }
}

extension FileSource {
    /// Returns the response with the fields of every answer to this request, and with the source's own text for a refusal.
    ///
    /// A tunnel and a stream already have their fields and keep them.
    ///
    /// - Parameter head: The request's head, or nil if it could not be read.
    func completing(_ response: Response, to head: RequestHead?) -> Response {
        var response = response
        if let refusal = response.refusal, let words = words(for: refusal, response.status, to: head) {
            response.headers.replaceOrAdd(name: "Content-Type", value: words.contentType)
            response.headers.replaceOrAdd(name: "Cache-Control", value: "no-store")
            response.body = .bytes(words.bytes[...])
        }
        response.headers.add(missing: everyAnswerFields(to: head?.headers))
        return response
    }

    private func words(for refusal: String, _ status: HTTPResponseStatus, to head: RequestHead?) -> RefusalBody? {
        guard let head else { return words(forUnread: refusal, status) }
        return words(for: refusal, status, of: head.target)
    }
}

extension Response {
    /// The file exists but is not the expected one.
    ///
    /// The log has the details; the client does not need them.
    fileprivate static var unreadable: Response {
        Response(refusing: .internalServerError, message: "The file cannot be read.")
    }

    /// Another process is writing or replacing the file.
    fileprivate static var changing: Response {
        Response(refusing: .serviceUnavailable, message: "The file is changing.", headers: ["Retry-After": "1"])
    }
}
