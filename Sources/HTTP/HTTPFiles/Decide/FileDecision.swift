/// How one request is answered.
package enum FileDecision: Sendable {
    /// Makes an answer once the request and its body have arrived.
    ///
    /// It may retain the request and its body.
    ///
    /// Cancelled when the server's drain deadline has passed; for ``BodyIntake/stream`` also when the client disconnects.
    package typealias Work = @Sendable (FileRequest) async -> FileAnswer

    /// Answer at once. A body that follows is read whole and dropped.
    case now(PreparedReply)
    /// Answer later. The intake determines how the body is received.
    case later(BodyIntake, Work)
    /// As ``later(_:_:)`` with ``BodyIntake/stream``, for work that only waits for others and neither blocks nor computes for long.
    /// The stream that it answers with must behave the same. Both run on the event loop of the client's connection, without a
    /// change of thread.
    case passing(Work)

    package var intake: BodyIntake {
        switch self {
        case .now: .whole
        case .later(let intake, _): intake
        case .passing: .stream
        }
    }

    /// Returns the same decision with changed work.
    ///
    /// A decision without work is unchanged.
    package func replacing(_ change: (@escaping Work) -> Work) -> FileDecision {
        switch self {
        case .now: self
        case .later(let intake, let work): .later(intake, change(work))
        case .passing(let work): .passing(change(work))
        }
    }

    var isPassing: Bool { if case .passing = self { true } else { false } }

    /// Returns the answer, which will be used.
    ///
    /// - Parameter request: The request that was decided on, now with its body and its client.
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
    /// The body is in ``FileRequest/body`` once it is complete, up to ``FileServerConfiguration/maxBodyBytes``.
    case whole
    /// The body is in ``FileRequest/stream`` while it arrives, of any size. If the client stops sending or disconnects, the work is
    /// cancelled.
    case stream
    /// As ``stream``, for a source that stores the body: the work is not cancelled when the client disconnects. All bytes that
    /// arrived before are read; then an incomplete body ends with an error.
    case keptStream
    /// As ``keptStream``, for a small body: all of it must arrive within ``FileServerConfiguration/bodyTimeout``.
    case keptDocument

    /// Whether received bytes are read after the client has disconnected.
    var isKept: Bool { self == .keptStream || self == .keptDocument }
}

/// An answer that is known at once, and how long it is valid.
package struct PreparedReply: Sendable {
    package let answer: FileAnswer
    /// While ``FileSource/edition`` is this number, a head of exactly the same bytes has the same answer.
    ///
    /// If nil, the answer is valid once.
    ///
    /// The server remembers the answer with it and does not ask the source again. A remembered answer from a file with a tag is
    /// valid while the file is unchanged, which is checked each time. Files without a tag, refusals and parts of files are not
    /// remembered.
    package let edition: Int?
    /// Whether the request shows a right, see ``ClientAuthorization``.
    package let showsRight: Bool
    /// Called once when the answer is used, before any of it is sent.
    ///
    /// Nil if there is nothing to note.
    ///
    /// Its lease is kept until the response has ended. It is not called when a remembered answer is reused.
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

    /// Notes the use and returns the answer to send.
    ///
    /// Called once.
    func used() -> FileAnswer {
        guard let whenUsed else { return answer }
        return answer.holding(whenUsed())
    }
}
