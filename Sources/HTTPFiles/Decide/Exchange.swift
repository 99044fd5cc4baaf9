import NIOCore
import NIOHTTP1
import NIOPosix
import SystemPackage

/// From a request's head to its response: what is refused without asking the source, and what the source says.
struct Exchange: Sendable {
    let source: any FileSource
    let dialect: Dialect
    /// Told in one line about a file that is not what the source said.
    let errorLog: (@Sendable (String) -> Void)?

    /// What the head alone decides.
    enum Opening: Sendable {
        /// Answer this; `keepsConnection` is false when a body that nobody reads would follow.
        case refuse(Response, keepsConnection: Bool)
        case receive(FileRequest, FileDecision, BodyFraming, expectsContinue: Bool)
    }

    func open(_ head: RequestHead) throws(RequestFault) -> Opening {
        let framing = try BodyFraming(head)
        switch MethodRule(head.method, acceptsBodies: source.acceptsBodies) {
        case .unknown:
            throw .unknownMethod
        case .notAllowed(let allow):
            let response = Response(
                refusing: .methodNotAllowed,
                message: "Method not allowed.",
                headers: ["Allow": allow]
            )
            return .refuse(response, keepsConnection: framing == .none)
        case .served:
            break
        }
        try head.checkBody(framing)
        let expectsContinue = try head.expectsContinue()
        do throws(RequestPathError) {
            let request = FileRequest(head, try RequestTarget(parsing: head.target))
            return .receive(request, source.decide(request), framing, expectsContinue: expectsContinue)
        } catch {
            throw .target(error)
        }
    }

    /// What the source wants the client to get.
    enum Reply: Sendable {
        case response(Response)
        case tunnel(ServedTunnel)
    }

    /// Has the answer made that was decided on, opens the file it names, and applies the request's conditions.
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

    /// A response that stopped in the middle.
    func report(brokenAfter bytes: Int, of target: String, _ trouble: String) {
        report("the response broke after \(bytes) bytes: \(trouble)", to: target)
    }

    /// Without the target's query, in which secrets may stand.
    func report(_ trouble: String, to target: String) {
        report("\(target.prefix { $0 != "?" }): \(trouble)")
    }

    /// Escaped, because a request's path is part of it.
    func report(_ message: String) {
        errorLog?(AccessLogEntry.escaped(message))
    }
}

/// A request whose head was read, and what was decided by it.
final class OpenedRequest: Sendable {
    let head: RequestHead
    let opening: Exchange.Opening

    init(_ head: RequestHead, _ opening: Exchange.Opening) {
        self.head = head
        self.opening = opening
    }
}

extension FileSource {
    /// The response with what every answer to this request carries, and a refusal in the source's own words; a tunnel and a
    /// stream have theirs already, and keep them.
    ///
    /// - Parameter head: nil when it could not be read.
    func completing(_ response: Response, to head: RequestHead?) -> Response {
        var response = response
        if let refusal = response.refusal, let head, let words = words(for: refusal, response.status, of: head.target) {
            response.headers.replaceOrAdd(name: "Content-Type", value: words.contentType)
            response.body = .bytes(words.bytes[...])
        }
        response.headers.add(missing: everyAnswerFields(to: head?.headers))
        return response
    }
}

extension Response {
    /// The file is there and is not what it should be; the log says how, the client need not know.
    fileprivate static var unreadable: Response {
        Response(refusing: .internalServerError, message: "The file cannot be read.")
    }

    /// Somebody writes to the file at this moment, or puts another in its place.
    fileprivate static var changing: Response {
        Response(refusing: .serviceUnavailable, message: "The file is changing.", headers: ["Retry-After": "1"])
    }
}
