import HTTPFiles
import NIOCore

/// The body of an upload, piece by piece, from a stream or from memory.
struct UploadBody {
    private var stream: RequestStream.AsyncIterator?
    private var whole: [UInt8]?

    init(_ request: FileRequest) {
        stream = request.stream?.makeAsyncIterator()
        whole = request.stream == nil ? request.body : nil
    }

    /// Returns the next piece, or nil at the end.
    mutating func next() async throws(UploaderError) -> [UInt8]? {
        guard let stream else { return whole.take() }
        do { return try await stream.next().map { Array($0.readableBytesView) } } catch { throw .cutOff }
    }
}
