import Linux
import NIOCore

/// Sends a part of a file to a client by `sendfile`, slice by slice.
///
/// NIO's write of a file that became shorter makes no progress and never fails, so the loop would spin forever. Therefore the file
/// is measured before each slice, and ``PreparedWriting`` measures it repeatedly while a slice is being sent. A file that shrank
/// ends the connection. Between two slices the loop serves other connections.
final class FileSending {
    enum Failure: Error, Equatable {
        case shrank
    }

    /// Bytes given to the kernel at a time.
    static let sliceSize = 1024 * 1024

    private let file: OpenFile
    private let range: Range<Int>
    private let handle: NIOFileHandle
    private let context: ChannelHandlerContext
    private let finish: (Result<Void, any Error>) -> Void

    /// The first byte after those that are sent.
    private var sent: Int
    private var sliceEnd: Int
    private var hasFinished = false

    /// - Parameter finish: Called once, when the kernel has all bytes or no more can be sent.
    init(
        _ part: PreparedAnswer.Part,
        in context: ChannelHandlerContext,
        finish: @escaping (Result<Void, any Error>) -> Void
    ) {
        file = part.file
        range = part.range
        handle = part.file.handle
        self.context = context
        self.finish = finish
        sent = part.range.lowerBound
        sliceEnd = sent
    }

    deinit {
        // `OpenFile` closes the descriptor.
        _ = try? handle.takeDescriptorOwnership()
    }

    /// Bytes that the kernel has, in whole slices.
    var sentBytes: Int { sent - range.lowerBound }

    /// Bytes after the current slice.
    var waitingBytes: Int { range.upperBound - sliceEnd }

    /// Whether the file still reaches the end of the current slice.
    var isFileLongEnough: Bool { (file.currentIdentity?.size ?? 0) >= sliceEnd }

    func sendSlice() {
        guard !hasFinished else { return }
        guard sent < range.upperBound else { return end(.success(())) }
        sliceEnd = min(sent + Self.sliceSize, range.upperBound)
        guard isFileLongEnough else { return end(.failure(Failure.shrank)) }
        let region = FileRegion(fileHandle: handle, readerIndex: sent, endIndex: sliceEnd)
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { result in
            switch result {
            case .failure: self.end(result)
            case .success:
                self.sent = self.sliceEnd
                self.context.eventLoop.assumeIsolated().execute { self.sendSlice() }
            }
        }
        context.writeAndFlush(NIOAny(IOData.fileRegion(region)), promise: promise)
    }

    private func end(_ result: Result<Void, any Error>) {
        guard !hasFinished else { return }
        hasFinished = true
        finish(result)
    }
}
