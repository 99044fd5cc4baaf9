/// Which part of a connection has the turn, and the front's action at each event.
///
/// A value without a channel and without bytes.
///
/// ```
/// waiting ──bytes arrived───▶ looking ──an answer is there──▶ starting, writing
///    ▲ ▲                       │ │ ▲                             │        │
///    │ └──nothing to answer────┘ │ └──────────written────────────┘        └──the last one──▶ ending (linger)
///    │                           ├──no task yet──▶ handingOver ──attached──▶ theirs
///    │                           └──────────a task is there─────────────────▶ theirs
///    └──given back: all it got is answered── theirs
/// ```
///
/// Received bytes are kept while an answer is being sent, and nothing more is read until all requests are answered or
/// belong to the task behind.
struct ConnectionTurn: ~Copyable {
    private(set) var state: State

    init(_ state: State = .waiting(.noTask(.open))) {
        self.state = state
    }

    // MARK: - The client

    enum Received {
        case keep, deliver, drop
    }

    mutating func received() -> Received {
        switch state {
        case .waiting, .answering, .handingOver:
            return .keep
        case .theirs(let deliveries, let input):
            state = .theirs(deliveries: deliveries + 1, input)
            return .deliver
        case .ending:
            return .drop
        }
    }

    enum ReceivedAll {
        case look, passOn, nothing
    }

    /// All bytes that could be read at once have been received.
    mutating func receivedAll() -> ReceivedAll {
        switch state {
        case .waiting(let handler):
            state = .answering(.looking, handler, .free)
            return .look
        case .theirs:
            return .passOn
        case .answering, .handingOver, .ending:
            return .nothing
        }
    }

    enum ReadDecision {
        case read, hold
    }

    /// The channel asks for a read.
    mutating func readRequested() -> ReadDecision {
        switch state {
        case .waiting, .theirs, .ending:
            return .read
        case .answering(.looking, let handler, _):
            state = .answering(.looking, handler, .free)
            return .read
        case .answering(let phase, let handler, _):
            state = .answering(phase, handler, .held)
            return .hold
        case .handingOver(let input, _):
            state = .handingOver(input, .held)
            return .hold
        }
    }

    enum InputEnded {
        case look, notify, close, nothing
    }

    mutating func inputEnded() -> InputEnded {
        switch state {
        case .waiting(let handler):
            state = .answering(.looking, handler.withoutInput, .free)
            return .look
        case .answering(let phase, let handler, let reading):
            state = .answering(phase, handler.withoutInput, reading)
            return .nothing
        case .handingOver(_, let reading):
            state = .handingOver(.ended, reading)
            return .nothing
        case .theirs(let deliveries, .open):
            state = .theirs(deliveries: deliveries, .ended)
            return .notify
        case .theirs(_, .ended):
            return .nothing
        case .ending:
            return .close
        }
    }

    // MARK: - Answering

    enum Next: Equatable {
        case answer
        case wait(Afterwards)
        case close
        /// Another caller continues.
        case stop
    }

    /// - Parameter hasInput: Whether there are received bytes that were not handed on.
    mutating func next(hasInput: Bool) -> Next {
        switch state {
        case .answering(.looking, _, _) where hasInput:
            return .answer
        case .answering(.looking, .noTask(.ended), _):
            state = .ending
            return .close
        case .answering(.looking, let handler, let reading):
            state = .waiting(handler.knowingItsEnd)
            return .wait(handler.notice.union(reading.resumed))
        case .waiting, .answering, .handingOver, .theirs, .ending:
            return .stop
        }
    }

    enum Starting {
        case write, stop
    }

    /// There are answers to be written.
    mutating func starts() -> Starting {
        switch state {
        case .answering(.looking, let handler, let reading):
            state = .answering(.starting, handler, reading)
            return .write
        case .waiting, .answering, .handingOver, .theirs, .ending:
            return .stop
        }
    }

    enum Started: Equatable {
        /// All answers are already written, and the next request may be answered.
        case look
        case stop
    }

    /// The channel has the answers.
    mutating func started() -> Started {
        switch state {
        case .answering(.looking, _, _):
            return .look
        case .answering(.starting, let handler, let reading):
            state = .answering(.writing, handler, reading)
            return .stop
        case .waiting, .answering, .handingOver, .theirs, .ending:
            return .stop
        }
    }

    enum Written: Equatable {
        case look
        /// Half-close and wait for the client's end.
        case linger(Afterwards)
        case close
        case nothing
    }

    /// The kernel has the answers, or they can no longer be sent.
    mutating func written(keepsConnection: Bool) -> Written {
        switch state {
        case .answering(.looking, _, _):
            return .nothing
        case .answering(let phase, let handler, let reading):
            guard keepsConnection else {
                state = .ending
                return handler.hasInput ? .linger(reading.resumed) : .close
            }
            state = .answering(.looking, handler, reading)
            // The caller of `started()` examines the next request.
            return phase == .starting ? .nothing : .look
        case .waiting, .handingOver, .theirs, .ending:
            return .nothing
        }
    }

    /// The connection is closed, or about to be.
    mutating func closes() {
        state = .ending
    }

    // MARK: - The task behind

    enum HandingOver: Equatable {
        case ask
        case deliver(Afterwards)
        case stop
    }

    /// The received request must be answered by the task behind.
    mutating func handsOver() -> HandingOver {
        switch state {
        case .answering(.looking, .noTask(let input), let reading):
            state = .handingOver(input, reading)
            return .ask
        case .answering(.looking, .task(let deliveries, let notice), let reading):
            state = .theirs(deliveries: deliveries + 1, notice == .none ? .open : .ended)
            return .deliver(Handler.task(deliveries: deliveries, notice).notice.union(reading.resumed))
        case .waiting, .answering, .handingOver, .theirs, .ending:
            return .stop
        }
    }

    enum Attached: Equatable {
        case deliver(Afterwards)
        /// The client has disconnected meanwhile.
        case refuse
    }

    /// The task is attached.
    mutating func attaches() -> Attached {
        switch state {
        case .handingOver(let input, let reading):
            state = .theirs(deliveries: 1, input)
            return .deliver(reading.resumed.union(input == .ended ? .notifyEnd : []))
        case .waiting, .answering, .theirs, .ending:
            return .refuse
        }
    }

    enum FinishDecision: Equatable {
        case wait
        /// Bytes are on their way to the task, which gives the turn back again after them.
        case nothing
    }

    /// The task has answered all that it received.
    ///
    /// - Parameter deliveries: The number of deliveries that the task received.
    mutating func taskFinished(after deliveries: Int) -> FinishDecision {
        switch state {
        case .theirs(deliveries, let input):
            state = .waiting(.task(deliveries: deliveries, input == .open ? .none : .given))
            return .wait
        case .waiting, .answering, .handingOver, .theirs, .ending:
            return .nothing
        }
    }

    /// Whether the connection waits for the client alone.
    var isWaiting: Bool {
        switch state {
        case .waiting: true
        case .answering, .handingOver, .theirs, .ending: false
        }
    }
}
