import NIOCore

/// A connection whose next request is ``Connection``'s.
struct ConnectionHandover: Sendable {
    let channel: any Channel
    let front: NIOLoopBound<ConnectionFront>
    let place: Connections.Place
    let group: ClientGroup
    let right: ShownRight

    /// - Throws: when the client is gone.
    func attach() async throws -> Client {
        try await channel.eventLoop.submit { try front.value.attach() }.get()
    }

    /// See ``ConnectionFront/takeBack(after:)``.
    func giveBack(after deliveries: Int) {
        channel.eventLoop.execute { front.value.takeBack(after: deliveries) }
    }
}

/// A client as a task has it.
struct Client: Sendable {
    let input: NIOAsyncChannel<ConnectionInput, Never>
    let end: ClientEnd
}
