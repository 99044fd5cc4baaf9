extension ConnectionTurn {
    /// Whether the client may still send.
    enum Input {
        case open, ended
    }

    /// Whether the task behind must be notified that the client sends nothing more.
    enum EndNotice {
        case none, due, given
    }

    enum Handler: Equatable {
        case noTask(Input)
        /// - deliveries: The number of deliveries to the task.
        case task(deliveries: Int, EndNotice)
    }

    /// Whether a read that the channel asked for was held back.
    enum Reading {
        case free, held
    }

    enum Phase {
        /// Received bytes are being examined.
        case looking
        /// Answers are being given to the channel, which may write them all before that call returns.
        case starting
        case writing
    }

    enum State: Equatable {
        /// All received requests are answered.
        case waiting(Handler)
        case answering(Phase, Handler, Reading)
        /// A task has been requested.
        case handingOver(Input, Reading)
        /// The task behind answers. It is notified at once when the client sends nothing more.
        case theirs(deliveries: Int, Input)
        /// Nothing more is answered.
        case ending
    }

    /// Further actions after an event.
    struct Afterwards: OptionSet {
        let rawValue: Int

        /// Notify the task behind that the client sends nothing more.
        static let notifyEnd = Afterwards(rawValue: 1)
        /// Make the read that was held back.
        static let read = Afterwards(rawValue: 2)
    }
}

extension ConnectionTurn.Handler {
    /// The state after the client has ended its input.
    var withoutInput: Self {
        switch self {
        case .noTask: .noTask(.ended)
        case .task(let deliveries, .none): .task(deliveries: deliveries, .due)
        case .task(_, .due), .task(_, .given): self
        }
    }

    var hasInput: Bool {
        switch self {
        case .noTask(.open), .task(_, .none): true
        case .noTask(.ended), .task(_, .due), .task(_, .given): false
        }
    }

    var notice: ConnectionTurn.Afterwards {
        switch self {
        case .task(_, .due): .notifyEnd
        case .noTask, .task(_, .none), .task(_, .given): []
        }
    }

    /// The state after ``notice``.
    ///
    /// The task then closes the connection.
    var knowingItsEnd: Self {
        switch self {
        case .task(let deliveries, .due): .task(deliveries: deliveries, .given)
        case .noTask, .task(_, .none), .task(_, .given): self
        }
    }
}

extension ConnectionTurn.Reading {
    var resumed: ConnectionTurn.Afterwards {
        switch self {
        case .free: []
        case .held: .read
        }
    }
}
