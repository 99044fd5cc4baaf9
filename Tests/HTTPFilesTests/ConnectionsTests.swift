import NIOCore
import NIOPosix
import Testing

@testable import HTTPFiles

@Suite("Connections that come", .timeLimit(.minutes(10)))
struct ConnectionsTests {
    private func channels(_ count: Int) async throws -> [any Channel] {
        var made: [any Channel] = []
        for _ in 0..<count {
            made.append(
                try await DatagramBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .bind(host: "127.0.0.1", port: 0)
                    .get()
            )
        }
        return made
    }

    private func words(_ admission: Connections.Admission) -> String {
        switch admission {
        case .admitted: "admitted"
        case .full(let answers): answers ? "refused" : "closed"
        case .stopping: "stopping"
        }
    }

    @Test func `too many have time to read the reason while they are few, and end with all others`() async throws {
        let connections = Connections(CapacityRule(limit: 1))
        let all = try await channels(7)
        guard case .admitted(let place, _) = connections.admit(all[0], of: .boundless) else {
            Issue.record("the first one has no place")
            return
        }
        #expect(connections.begin(place, ClientAuthorization()))
        let said = all[1...5].map { words(connections.admit($0, of: .boundless)) }
        #expect(said == ["refused", "refused", "refused", "refused", "closed"])
        connections.refusalEnded(all[1])
        #expect(words(connections.admit(all[6], of: .boundless)) == "refused")
        connections.closeAll { $0.close(promise: nil) }
        for index in [0, 2, 3, 4, 6] { try await all[index].closeFuture.get() }
        for index in [1, 5] { try await all[index].close() }
    }

    @Test func `while the server stops are closed`() async throws {
        let connections = Connections(CapacityRule(limit: 1))
        connections.stop()
        let late = try await channels(1)
        #expect(words(connections.admit(late[0], of: .boundless)) == "stopping")
        try await late[0].close()
    }
}
