import HTTPFiles
import NIOConcurrencyHelpers
import NIOCore
import PageDiff

/// A page that is being received, held in memory for any number of readers, which all read from its beginning.
///
/// A page that is too large to be stored is slowed down to its slowest reader, as in a proxy. It accepts no new readers, and ends
/// with its last one.
final class PageFlow: Sendable {
    private enum End { case whole, cut }

    private enum Next {
        case piece(ByteBuffer)
        case wait(AsyncStream<Never>)
        case end(End)
    }

    private struct State {
        var pieces: [ByteBuffer] = []
        /// The number of the first piece that is still in memory.
        var first = 0
        /// The number of bytes received.
        var size = 0
        var isCollected = true
        var end: End?
        /// The number of the next piece for each reader.
        var readers: [Int: Int] = [:]
        var nextReader = 0
        var waiting: [AsyncStream<Never>.Continuation] = []

        var bufferedBytes: Int { pieces.reduce(0) { $0 + $1.readableBytes } }

        /// The next step of a reader, and the tasks to wake for it.
        mutating func next(of reader: Int) -> (Next, [AsyncStream<Never>.Continuation]) {
            let place = readers[reader] ?? first
            if place - first < pieces.count {
                let piece = pieces[place - first]
                readers[reader] = place + 1
                forgetRead()
                defer { waiting = [] }
                return (.piece(piece), waiting)
            }
            if let end { return (.end(end), []) }
            let (stream, signal) = AsyncStream.makeStream(of: Never.self)
            waiting.append(signal)
            return (.wait(stream), [])
        }

        /// Discards the pieces that every reader has received.
        mutating func forgetRead() {
            guard !isCollected else { return }
            let next = readers.values.min() ?? first + pieces.count
            pieces.removeFirst(next - first)
            first = next
        }
    }

    private let state = NIOLockedValueBox(State())
    private let limit: Int

    init(limit: Int = PageLimits.page) {
        self.limit = limit
    }

    /// The page so far, or nil if it is too large.
    var collected: [UInt8]? {
        state.withLockedValue { state in
            guard state.isCollected else { return nil }
            return state.pieces.reduce(into: []) { $0 += $1.readableBytesView }
        }
    }

    /// Appends a piece, and returns when there is room for more.
    ///
    /// - Throws: If the page is not stored and has no reader left.
    func append(_ piece: ByteBuffer) async throws(ClientDisconnected) {
        changing { state in
            state.pieces.append(piece)
            state.size += piece.readableBytes
            if state.size > limit { state.isCollected = false }
            state.forgetRead()
        }
        while let signal = try waitForRoom() {
            for await _ in signal {}
            guard !Task.isCancelled else { throw ClientDisconnected() }
        }
    }

    private func waitForRoom() throws(ClientDisconnected) -> AsyncStream<Never>? {
        let (isLeft, stream) = state.withLockedValue { state -> (Bool, AsyncStream<Never>?) in
            guard !state.isCollected else { return (false, nil) }
            guard !state.readers.isEmpty else { return (true, nil) }
            guard state.bufferedBytes > PageLimits.ahead else { return (false, nil) }
            let (stream, signal) = AsyncStream.makeStream(of: Never.self)
            state.waiting.append(signal)
            return (false, stream)
        }
        if isLeft { throw ClientDisconnected() }
        return stream
    }

    /// Stops storing the page.
    ///
    /// From now on it only serves its present readers.
    func stopCollecting() {
        changing { state in
            state.isCollected = false
            state.forgetRead()
        }
    }

    func finish(whole: Bool) {
        changing { $0.end = whole ? .whole : .cut }
    }

    /// A new reader, or nil if the beginning of the page is no longer in memory.
    func reader() -> Reader? {
        state.withLockedValue { state in
            guard state.isCollected else { return nil }
            state.nextReader += 1
            state.readers[state.nextReader] = 0
            return Reader(flow: self, number: state.nextReader)
        }
    }

    /// The page ended before it was complete.
    struct Cut: Error {}

    final class Reader: Sendable {
        private let flow: PageFlow
        private let number: Int

        fileprivate init(flow: PageFlow, number: Int) {
            (self.flow, self.number) = (flow, number)
        }

        deinit { flow.leave(number) }

        func send(_ write: ServedStream.Write) async throws {
            while let piece = try await flow.next(number) { try await write(piece) }
        }
    }

    private func leave(_ reader: Int) {
        changing { state in
            state.readers[reader] = nil
            state.forgetRead()
        }
    }

    private func next(_ reader: Int) async throws -> ByteBuffer? {
        while true {
            let (next, waiting) = state.withLockedValue { $0.next(of: reader) }
            for signal in waiting { signal.finish() }
            switch next {
            case .piece(let piece): return piece
            case .end(.whole): return nil
            case .end(.cut): throw Cut()
            case .wait(let stream):
                for await _ in stream {}
                try Task.checkCancellation()
            }
        }
    }

    /// Changes the state, and wakes the tasks that wait for a change.
    @discardableResult
    private func changing<Value>(_ body: (inout State) -> Value) -> Value {
        let (value, waiting) = state.withLockedValue { state in
            let before = state.waiting
            state.waiting = []
            let value = body(&state)
            return (value, before)
        }
        for signal in waiting { signal.finish() }
        return value
    }
}
