import NIOCore

/// A connection whose next request ``Connection`` answers.
struct ConnectionHandover: Sendable {
    let channel: any Channel
    let front: NIOLoopBound<ConnectionFront>
    let place: Connections.Place
    let group: ClientGroup
    let right: ClientAuthorization

    /// - Throws: If the client has disconnected.
    func attach() async throws -> Client {
        try await channel.eventLoop.submit { try front.value.attach() }.get()
    }

    /// See ``ConnectionFront/takeBack(after:)``.
    func returnConnection(after deliveries: Int) {
        channel.eventLoop.execute { front.value.takeBack(after: deliveries) }
    }
}

/// A client, as seen by the task that serves it.
struct Client: Sendable {
    let input: NIOAsyncChannel<ConnectionInput, Never>
    let end: ClientEnd
}
