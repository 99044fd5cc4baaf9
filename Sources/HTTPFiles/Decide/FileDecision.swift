/// How one request is answered.
package enum FileDecision: Sendable {
    /// What makes an answer once the request is there with its body; may remember what it likes of it.
    ///
    /// Cancelled when the server's drain deadline has passed; for ``BodyIntake/stream`` also when the client goes away.
    package typealias Work = @Sendable (FileRequest) async -> FileAnswer

    /// With what is known now; a body that follows is read whole and dropped.
    case now(PreparedReply)
    /// With what is found out later; the body is taken like this.
    case later(BodyIntake, Work)

    package var intake: BodyIntake {
        switch self {
        case .now: .whole
        case .later(let intake, _): intake
        }
    }

    /// The answer, which is used.
    ///
    /// - Parameter request: the one that was decided on, by now with its body and with who asks.
    package func answer(to request: FileRequest) async -> FileAnswer {
        switch self {
        case .now(let reply):
            if reply.showsRight { request.right?.show() }
            return reply.used()
        case .later(_, let work):
            return await work(request)
        }
    }
}

/// How a source takes the body of a request.
package enum BodyIntake: Equatable, Sendable {
    /// In ``FileRequest/body``, once all of it is there, up to ``FileServerConfiguration/maxBodyBytes``.
    case whole
    /// In ``FileRequest/stream``, while it arrives, of any size; a client that sends no more, or is gone, wants nothing
    /// any more, and whoever answers is cancelled.
    case stream
    /// As ``stream``, for a source that keeps what comes: all that came before the client went away is read, then the
    /// body ends with an error if it is not whole, and nobody is cancelled.
    case keptStream
    /// As ``keptStream``, for a body that is small: all of it must come within ``FileServerConfiguration/bodyTimeout``.
    case keptDocument

    /// Whether what came is read although its client is gone.
    var isKept: Bool { self == .keptStream || self == .keptDocument }
}

/// What a source answers at once, and how long that holds.
package struct PreparedReply: Sendable {
    package let answer: FileAnswer
    /// While ``FileSource/edition`` is this number, a head of exactly the same bytes has the same answer; nil: only this
    /// once.
    ///
    /// The server remembers by it and does not ask again. What a remembered answer says of a file with a tag is true for
    /// as long as the file is the very one that it was, which is looked at each time; files without one, refusals and
    /// parts of files are always asked for again.
    package let edition: Int?
    /// Whether the request shows a right that not everybody has: see ``ShownRight``.
    package let showsRight: Bool
    /// Called once when the answer is used, before any of it is sent; nil when there is nothing to note.
    ///
    /// What it returns is kept until the response has ended. An answer that is given again, because it was remembered,
    /// is not noted again.
    package let whenUsed: (@Sendable () -> Lease?)?

    package init(
        _ answer: FileAnswer,
        edition: Int? = nil,
        showsRight: Bool = false,
        whenUsed: (@Sendable () -> Lease?)? = nil
    ) {
        self.answer = answer
        self.edition = edition
        self.showsRight = showsRight
        self.whenUsed = whenUsed
    }

    /// The answer to send, noted; called once.
    func used() -> FileAnswer {
        guard let whenUsed else { return answer }
        return answer.holding(whenUsed())
    }
}
