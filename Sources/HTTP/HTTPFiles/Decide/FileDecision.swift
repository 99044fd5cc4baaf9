/// How one request is answered.
package enum FileDecision: Sendable {
    /// Makes an answer once the request and its body are there; may keep any of it.
    ///
    /// Cancelled when the server's drain deadline has passed; for ``BodyIntake/stream`` also when the client goes away.
    package typealias Work = @Sendable (FileRequest) async -> FileAnswer

    /// At once; a body that follows is read whole and dropped.
    case now(PreparedReply)
    /// Later; the body is taken as this says.
    case later(BodyIntake, Work)
    /// As ``later(_:_:)`` with ``BodyIntake/stream``, for work that only waits for others and neither blocks nor computes for long; so
    /// does the stream that it answers with. Both run where the client's connection does, without a change of thread.
    case passing(Work)

    package var intake: BodyIntake {
        switch self {
        case .now: .whole
        case .later(let intake, _): intake
        case .passing: .stream
        }
    }

    /// The same with other work; nothing where there is none.
    package func replacing(_ change: (@escaping Work) -> Work) -> FileDecision {
        switch self {
        case .now: self
        case .later(let intake, let work): .later(intake, change(work))
        case .passing(let work): .passing(change(work))
        }
    }

    var isPassing: Bool { if case .passing = self { true } else { false } }

    /// The answer, which will be used.
    ///
    /// - Parameter request: the one that was decided on, now with its body and its client.
    package func answer(to request: FileRequest) async -> FileAnswer {
        switch self {
        case .now(let reply):
            if reply.showsRight { request.right?.show() }
            return reply.used()
        case .later(_, let work):
            return await offLoop { await work(request) }
        case .passing(let work):
            return await work(request)
        }
    }
}

/// How a source takes the body of a request.
package enum BodyIntake: Equatable, Sendable {
    /// In ``FileRequest/body``, once all of it is there, up to ``FileServerConfiguration/maxBodyBytes``.
    case whole
    /// In ``FileRequest/stream``, while it arrives, of any size; a client that stops sending or is gone wants no answer
    /// any more, and the work is cancelled.
    case stream
    /// As ``stream``, for a source that keeps what arrives: all bytes that came before the client went away are read,
    /// then the body ends with an error if it is incomplete, and the work is not cancelled.
    case keptStream
    /// As ``keptStream``, for a body that is small: all of it must come within ``FileServerConfiguration/bodyTimeout``.
    case keptDocument

    /// Whether received bytes are read although the client is gone.
    var isKept: Bool { self == .keptStream || self == .keptDocument }
}

/// An answer that is known at once, and how long it holds.
package struct PreparedReply: Sendable {
    package let answer: FileAnswer
    /// While ``FileSource/edition`` is this number, a head of exactly the same bytes has the same answer; nil: only this
    /// once.
    ///
    /// The server remembers the answer by it and does not ask again. A remembered answer from a file with a tag holds
    /// as long as the file is the same one, which is checked each time; files without a tag, refusals and parts of
    /// files are always asked for again.
    package let edition: Int?
    /// Whether the request shows a right, see ``ShownRight``.
    package let showsRight: Bool
    /// Called once when the answer is used, before any of it is sent; nil when there is nothing to note.
    ///
    /// Its lease is kept until the response has ended. A remembered answer that is given again is not noted again.
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
