import HTTPFiles
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import PatchFormat

extension Request {
    /// The request as Hummingbird routes it; HEAD is GET, whose body the server leaves out.
    init(fileRequest request: FileRequest) {
        var fields = HTTPFields()
        for (name, value) in request.headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        let method = request.method == .HEAD ? "GET" : request.method.rawValue
        let head = HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get,
            scheme: nil,
            authority: request.headers.first(name: "Host"),
            path: request.spelledPath + (request.query.map { "?\($0)" } ?? ""),
            headerFields: fields
        )
        let body = request.stream.map { RequestBody(asyncSequence: $0) } ?? RequestBody(buffer: ByteBuffer())
        self.init(head: head, body: body)
    }
}

extension Response {
    /// What no cache keeps and no browser guesses at.
    private static let safe: HTTPFields = {
        var fields: HTTPFields = [.cacheControl: "no-store"]
        if let name = HTTPField.Name("X-Content-Type-Options") { fields[name] = "nosniff" }
        return fields
    }()

    init(_ answer: APIAnswer) {
        var fields = Self.safe
        let bytes = answer.json.map { $0.fileBytes + [0x0A] } ?? answer.bytes
        fields[.contentType] = answer.json != nil ? "application/json" : bytes != nil ? "application/octet-stream" : nil
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        self.init(
            status: HTTPResponse.Status(code: answer.status),
            headers: fields,
            body: bytes.map { ResponseBody(byteBuffer: ByteBuffer(bytes: $0)) } ?? ResponseBody()
        )
    }

    init(_ problem: APIProblem) {
        var fields = Self.safe
        fields[.contentType] = APIProblem.mediaType
        if let seconds = problem.retryAfter { fields[.retryAfter] = "\(seconds)" }
        if problem.status == 401 { fields[.wwwAuthenticate] = "Bearer realm=\"patchsrv\"" }
        if problem.status == 405 { fields[.allow] = problem.rule }
        self.init(
            status: HTTPResponse.Status(code: problem.status),
            headers: fields,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: problem.json.fileBytes + [0x0A]))
        )
    }
}

extension ServedStream {
    /// Answers are small and made as a whole; what Hummingbird writes is taken together and sent in one piece.
    init(_ response: Response) async throws {
        var headers = HTTPHeaders()
        for field in response.headers where field.name != .contentLength {
            headers.add(name: field.name.canonicalName, value: field.value)
        }
        let body = BodyBuffer()
        try await response.body.write(body)
        let bytes = body.bytes
        self.init(
            status: HTTPResponseStatus(statusCode: response.status.code),
            headers: headers,
            length: bytes.readableBytes,
            send: { write in
                if bytes.readableBytes > 0 { try await write(bytes) }
            }
        )
    }
}

/// Where Hummingbird writes a body to.
private final class BodyBuffer: ResponseBodyWriter {
    private(set) var bytes = ByteBuffer()

    func write(_ buffer: ByteBuffer) async throws {
        bytes.writeImmutableBuffer(buffer)
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
