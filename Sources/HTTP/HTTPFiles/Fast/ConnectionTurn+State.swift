extension ConnectionTurn {
    /// Whether the client may still send.
    enum Input {
        case open, ended
    }

    /// Whether the task behind has to hear that the client sends no more.
    enum EndNotice {
        case none, due, given
    }

    enum Behind: Equatable {
        case nobody(Input)
        /// - deliveries: how often it was given something.
        case task(deliveries: Int, EndNotice)
    }

    /// Whether a read was asked for that was held back.
    enum Reading {
        case free, held
    }

    enum Phase {
        /// What came is looked at.
        case looking
        /// Answers are given to the channel, which may have written them all before that returns.
        case starting
        case writing
    }

    enum State: Equatable {
        /// All that came is answered.
        case waiting(Behind)
        case answering(Phase, Behind, Reading)
        /// A task is asked for.
        case handingOver(Input, Reading)
        /// The task behind answers; it hears at once when the client sends no more.
        case theirs(deliveries: Int, Input)
        /// Nothing more is answered.
        case ending
    }

    /// What is done besides.
    struct Afterwards: OptionSet {
        let rawValue: Int

        /// The task behind hears that the client sends no more.
        static let tellEnd = Afterwards(rawValue: 1)
        /// The read that was held back is made.
        static let read = Afterwards(rawValue: 2)
    }
}

extension ConnectionTurn.Behind {
    /// When the client sends no more.
    var withoutInput: Self {
        switch self {
        case .nobody: .nobody(.ended)
        case .task(let deliveries, .none): .task(deliveries: deliveries, .due)
        case .task(_, .due), .task(_, .given): self
        }
    }

    var hasInput: Bool {
        switch self {
        case .nobody(.open), .task(_, .none): true
        case .nobody(.ended), .task(_, .due), .task(_, .given): false
        }
    }

    var notice: ConnectionTurn.Afterwards {
        switch self {
        case .task(_, .due): .tellEnd
        case .nobody, .task(_, .none), .task(_, .given): []
        }
    }

    /// After ``notice``; the task closes the connection then.
    var knowingItsEnd: Self {
        switch self {
        case .task(let deliveries, .due): .task(deliveries: deliveries, .given)
        case .nobody, .task(_, .none), .task(_, .given): self
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
