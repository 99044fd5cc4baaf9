import NIOCore
import PatchFormat

/// A body that must be one JSON object of at most so many bytes.
enum JSONBody {
    /// - Parameters:
    ///   - type: the value of `Content-Type`.
    ///   - length: of `Content-Length`; what says that it is too large is not read.
    static func fields<Body: AsyncSequence>(
        of body: Body,
        type: String?,
        length: Int?,
        limit: Int
    ) async throws(APIProblem) -> Fields where Body.Element == ByteBuffer {
        let type = type?.split(separator: ";").first.map { $0.lowercased() }
        guard type == "application/json" else {
            throw APIProblem(415, "unsupportedMediaType", "the body must be application/json")
        }
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
        do throws(FormatError) {
            return try Fields(try JSON.document(bytes, named: "body", limit: limit), of: "body")
        } catch { throw .malformed(error) }
    }
}
