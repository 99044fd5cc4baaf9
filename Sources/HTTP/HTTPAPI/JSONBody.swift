package import NIOCore
package import PatchFormat

/// A body that must be one JSON object of limited size.
package enum JSONBody {
    /// - Parameters:
    ///   - type: The value of `Content-Type`.
    ///   - length: The value of `Content-Length`. A body that is announced as too large is not read.
    package static func fields<Body: AsyncSequence>(
        of body: Body,
        type: String?,
        length: Int?,
        limit: Int
    ) async throws(APIProblem) -> Fields where Body.Element == ByteBuffer {
        guard MediaType.name(in: type) == "application/json" else {
            throw APIProblem(415, "unsupportedMediaType", "the body must be application/json")
        }
        let bytes = try await BodyBytes.all(of: body, length: length, limit: limit)
        do throws(FormatError) {
            return try Fields(try JSON.document(bytes, named: "body", limit: limit), of: "body")
        } catch { throw .malformed(error) }
    }
}

/// A form of limited size, as JSPatch's clients post it.
package enum FormBody {
    /// - Parameter type: The value of `Content-Type`. Nil is accepted, because some clients omit it.
    package static func bytes<Body: AsyncSequence>(
        of body: Body,
        type: String?,
        length: Int?,
        limit: Int
    ) async throws(APIProblem) -> [UInt8] where Body.Element == ByteBuffer {
        guard [nil, "application/x-www-form-urlencoded"].contains(MediaType.name(in: type)) else {
            throw APIProblem(415, "unsupportedMediaType", "the body must be application/x-www-form-urlencoded")
        }
        return try await BodyBytes.all(of: body, length: length, limit: limit)
    }
}

private enum MediaType {
    /// Returns the media type without its parameters.
    static func name(in type: String?) -> String? { type?.split(separator: ";").first.map { $0.lowercased() } }
}

private enum BodyBytes {
    static func all<Body: AsyncSequence>(
        of body: Body,
        length: Int?,
        limit: Int
    ) async throws(APIProblem) -> [UInt8] where Body.Element == ByteBuffer {
        let tooLarge = APIProblem(413, "tooLarge", "the body must be at most \(limit) bytes")
        guard length ?? 0 <= limit else { throw tooLarge }
        var bytes: [UInt8] = []
        do {
            for try await piece in body {
                guard bytes.count + piece.readableBytes <= limit else { throw tooLarge }
                bytes += piece.readableBytesView
            }
        } catch let problem as APIProblem {
            throw problem
        } catch { throw .badRequest("the body did not come whole") }
        return bytes
    }
}
