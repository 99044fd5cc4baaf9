import HTTPAPI
import HTTPTypes
import Hummingbird
import NIOCore
import PatchFormat
import PatchServer

extension Response {
    /// What no cache keeps and no browser guesses at.
    private static let safe: HTTPFields = {
        var fields: HTTPFields = [.cacheControl: "no-store"]
        if let name = HTTPField.Name("X-Content-Type-Options") { fields[name] = "nosniff" }
        return fields
    }()

    init(_ answer: APIAnswer) {
        var fields = Self.safe
        let bytes: [UInt8]?
        switch answer.content {
        case .json(let json): (bytes, fields[.contentType]) = (json.fileBytes + [0x0A], "application/json")
        case .bytes(let content, let type): (bytes, fields[.contentType]) = (content, type)
        case .none, .stream: bytes = nil
        }
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        self.init(
            status: HTTPResponse.Status(code: answer.status),
            headers: fields.lowercased,
            body: bytes.map { ResponseBody(byteBuffer: ByteBuffer(bytes: $0)) } ?? ResponseBody()
        )
    }

    init(_ problem: APIProblem) {
        self.init(
            status: HTTPResponse.Status(code: problem.status),
            headers: problem.fields.lowercased,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: problem.bytes))
        )
    }

    init(_ page: OperatorPage) {
        var fields: HTTPFields = [.cacheControl: "no-store", .contentType: page.contentType]
        for (name, value) in page.headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        self.init(
            status: HTTPResponse.Status(code: page.status),
            headers: fields,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: page.bytes))
        )
    }
}

extension APIProblem {
    var fields: HTTPFields {
        var fields: HTTPFields = [.cacheControl: "no-store", .contentType: Self.mediaType]
        if let name = HTTPField.Name("X-Content-Type-Options") { fields[name] = "nosniff" }
        if let retryAfter { fields[.retryAfter] = "\(retryAfter)" }
        if status == 401 { fields[.wwwAuthenticate] = "Bearer realm=\"patchsrv\"" }
        if status == 405 { fields[.allow] = allow }
        return fields
    }
}

extension HTTPFields {
    /// The same, with names in the one spelling that the API has always had.
    fileprivate var lowercased: HTTPFields {
        HTTPFields(
            compactMap { field in
                HTTPField.Name(field.name.canonicalName).map { HTTPField(name: $0, value: field.value) }
            }
        )
    }
}
