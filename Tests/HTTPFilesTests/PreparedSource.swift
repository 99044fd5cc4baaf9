import HTTPCore
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1

/// A source that knows its answers at once, and counts who asks.
final class PreparedSource: FileSource {
    enum Kind: CaseIterable {
        /// Says nothing at once: the connection behind the front answers.
        case behind
        /// Answers at once, and for this once only.
        case once
        /// Answers at once, for as long as its edition lasts.
        case lasting
    }

    let acceptsBodies = true
    let kind: Kind
    private let state = NIOLockedValueBox((edition: 0, prepared: 0, answered: 0))
    private let answering: @Sendable (FileRequest) -> FileAnswer
    private let wait: @Sendable (FileRequest) async -> Void

    /// - Parameters:
    ///   - wait: what a path that begins with `/slow` has to wait for.
    init(
        _ kind: Kind = .lasting,
        wait: @escaping @Sendable (FileRequest) async -> Void = { _ in },
        _ answering: @escaping @Sendable (FileRequest) -> FileAnswer
    ) {
        self.kind = kind
        self.wait = wait
        self.answering = answering
    }

    /// How often it answered each of the two ways.
    var prepared: Int { state.withLockedValue(\.prepared) }
    var answered: Int { state.withLockedValue(\.answered) }
    var edition: Int { state.withLockedValue(\.edition) }

    func turnOver() { state.withLockedValue { $0.edition += 1 } }

    func forgetAnswered(but count: Int) { state.withLockedValue { $0.answered = count } }

    func decide(_ request: FileRequest) -> FileDecision {
        guard kind != .behind, !request.path.text.hasPrefix("/slow"), request.isRead else {
            return .later(.whole, answer)
        }
        let edition = state.withLockedValue { state in
            state.prepared += 1
            return state.edition
        }
        return .now(PreparedReply(answering(request), edition: kind == .lasting ? edition : nil))
    }

    private func answer(_ request: FileRequest) async -> FileAnswer {
        state.withLockedValue { $0.answered += 1 }
        if request.path.text.hasPrefix("/slow") { await wait(request) }
        return answering(request)
    }
}

extension FileRequest {
    fileprivate var isRead: Bool { method == .GET || method == .HEAD }
}

extension PreparedSource {
    static func echoing(
        _ kind: Kind = .lasting,
        wait: @escaping @Sendable (FileRequest) async -> Void = { _ in }
    ) -> PreparedSource {
        PreparedSource(kind, wait: wait) { .echo($0) }
    }
}

extension FileAnswer {
    /// The method, the path and the body, in memory.
    static func echo(_ request: FileRequest) -> FileAnswer {
        let text = "\(request.method.rawValue) \(request.path.text) \(String(decoding: request.body, as: UTF8.self))"
        return .bytes(ServedBytes(bytes: Array(text.utf8), contentType: "text/plain"))
    }
}
