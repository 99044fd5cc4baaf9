import NIOConcurrencyHelpers
import NIOCore
import PatchFormat

/// Reports events to open pages, each over a stream of server-sent events (HTML, "Server-sent events").
///
/// A stream begins with the present state, as the event `state`. A page that was disconnected and names its last event receives the
/// events that it missed, as far as they are stored. A page that does not read loses its stream, and connects again.
package final class PageEvents: Sendable {
    /// The largest number of simultaneous streams.
    static let streamsLimit = 64
    /// The largest number of events that a page may be behind.
    static let behindLimit = 64

    struct State {
        var page = PageState()
        var last = 0
        var recent = RecentPageEvents()
        var streams: [Int: AsyncStream<ByteBuffer>.Continuation] = [:]
        var nextStream = 0
        /// Signalled when a stream begins.
        var waiting: [AsyncStream<Never>.Continuation] = []
        var isOpen = true
    }

    /// Identifies this start, so that event numbers of another start are not mistaken for ours.
    private let start: String
    private let state = NIOLockedValueBox(State())
    /// Streams that ended.
    ///
    /// The next access to the state removes them.
    ///
    /// Cancelling a stream's reader holds that task's lock, and sending to the stream waits for that lock. Therefore no code waits
    /// while it holds this lock.
    private let ended = NIOLockedValueBox<[Int]>([])

    package init(start: String) {
        self.start = start
    }

    package var sync: PageState.Sync { state.withLockedValue(\.page.sync) }
    package var streams: Int { withStreams(\.streams.count) }
    /// The last events, from the oldest to the newest.
    package var recent: [PageEvent] { state.withLockedValue { $0.recent.events.map(\.event) } }

    package func notify(_ event: PageEvent) {
        withStreams { state in
            guard state.page.take(event) else { return }
            state.last += 1
            state.recent.add(event, number: state.last)
            Self.send(text(of: event, number: state.last), to: &state.streams)
        }
    }

    /// Sends an empty comment line, which detects closed connections.
    package func beat() {
        withStreams { Self.send(Array(": \n\n".utf8), to: &$0.streams) }
    }

    /// Returns once a page has a stream, or the task is cancelled.
    package func untilListened() async {
        let (listening, signal) = AsyncStream.makeStream(of: Never.self)
        let isListened = withStreams { state in
            guard state.streams.isEmpty else { return true }
            state.waiting.append(signal)
            return false
        }
        if !isListened { for await _ in listening {} }
    }

    /// Ends all streams, because the server stops.
    ///
    /// New ones begin only after ``open()``.
    package func close() {
        let streams = withStreams { state in
            state.isOpen = false
            defer { state.streams = [:] }
            return state.streams.values.map(\.self)
        }
        for stream in streams { stream.finish() }
    }

    package func open() {
        state.withLockedValue { $0.isOpen = true }
    }

    /// Returns a stream that begins with the present state; nil if there are too many streams, or the server stops.
    ///
    /// - Parameters:
    ///   - lastEventID: The last event that a returning page names.
    ///   - releases: Returns the stamps that are served now. No event is sent while it runs.
    func subscribe(after lastEventID: String?, releases: () -> [ReleaseStamp]) -> Pieces? {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ByteBuffer.self,
            bufferingPolicy: .bufferingOldest(Self.behindLimit + 1)
        )
        let opened = withStreams { state -> (Int, [AsyncStream<Never>.Continuation])? in
            guard state.isOpen, state.streams.count < Self.streamsLimit else { return nil }
            let first = beginning(state, after: lastEventID, releases())
            continuation.yield(ByteBuffer(bytes: Array("retry: 1000\n\n".utf8) + first))
            state.nextStream += 1
            state.streams[state.nextStream] = continuation
            defer { state.waiting = [] }
            return (state.nextStream, state.waiting)
        }
        guard let (opened, waiting) = opened else { return nil }
        for signal in waiting { signal.finish() }
        continuation.onTermination = { [weak self] _ in self?.forget(opened) }
        return Pieces(stream: stream, place: Subscription { [weak self] in self?.forget(opened) })
    }

    /// Returns the text with which a stream would begin, for a page that polls; nil if the server stops.
    func missed(after lastEventID: String?, releases: () -> [ReleaseStamp]) -> [UInt8]? {
        withStreams { $0.isOpen ? beginning($0, after: lastEventID, releases()) : nil }
    }

    /// The present state, followed by the events that a returning page missed.
    private func beginning(_ state: State, after lastEventID: String?, _ releases: [ReleaseStamp]) -> [UInt8] {
        let missed =
            number(in: lastEventID).map { last in
                state.recent.events.filter { $0.number > last && $0.event.isForReturning }
            }
            ?? []
        let first = Self.text("state", state.page.json(releases), id: "\(start)-\(state.last)")
        return missed.reduce(into: first) { $0 += text(of: $1.event, number: $1.number) }
    }

    /// The pieces of one stream.
    ///
    /// Its place becomes free when it ends or is released.
    struct Pieces: AsyncSequence, Sendable {
        struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var pieces: AsyncStream<ByteBuffer>.Iterator
            fileprivate let place: Subscription

            mutating func next() async -> ByteBuffer? { await pieces.next(isolation: #isolation) }
        }

        fileprivate let stream: AsyncStream<ByteBuffer>
        fileprivate let place: Subscription

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(pieces: stream.makeAsyncIterator(), place: place)
        }
    }

    fileprivate final class Subscription: Sendable {
        private let leave: @Sendable () -> Void

        init(leave: @escaping @Sendable () -> Void) {
            self.leave = leave
        }

        deinit { leave() }
    }

    private func forget(_ number: Int) {
        ended.withLockedValue { $0.append(number) }
    }

    /// Calls `body` with the state, after removing the streams that ended.
    func withStreams<Value>(_ body: (inout State) -> Value) -> Value {
        state.withLockedValue { state in
            let gone = ended.withLockedValue { ended in
                defer { ended = [] }
                return ended
            }
            for number in gone {
                guard let stream = state.streams.removeValue(forKey: number) else { continue }
                stream.onTermination = nil
                stream.finish()
            }
            return body(&state)
        }
    }

    private func number(in id: String?) -> Int? {
        guard let id, id.hasPrefix("\(start)-") else { return nil }
        return Int(id.dropFirst(start.count + 1))
    }

    private static func send(_ text: [UInt8], to streams: inout [Int: AsyncStream<ByteBuffer>.Continuation]) {
        for (number, stream) in streams {
            guard case .dropped = stream.yield(ByteBuffer(bytes: text)) else { continue }
            streams[number] = nil
            stream.onTermination = nil
            stream.finish()
        }
    }

    private func text(of event: PageEvent, number: Int) -> [UInt8] {
        Self.text(event.name, event.json, id: "\(start)-\(number)")
    }

    private static func text(_ name: String, _ json: JSON, id: String) -> [UInt8] {
        Array("id: \(id)\nevent: \(name)\ndata: ".utf8) + json.fileBytes + Array("\n\n".utf8)
    }
}
