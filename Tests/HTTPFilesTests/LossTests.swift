import HTTPCore
import NIOCore
import Testing

@testable import HTTPFiles

@Suite("What a server says of connections that it lost")
struct LossTests {
    private let flooder = ClientGroup.address(ClientName("192.0.2.1"))

    @Test func `is one line at once and one a minute for a flood, and nothing after its end`() {
        let tally = Tally()
        let minute = TimeAmount.seconds(60)
        #expect(
            tally.add(.room, of: flooder)
                == .report("connections: 1 closed to make room; most of 192.0.2.1: 1", nextCheckIn: minute)
        )
        for _ in 0..<5_000 { #expect(tally.add(.room, of: flooder) == .nothing) }
        #expect(tally.add(.refused, of: .user(1_000)) == .nothing && tally.add(.slow, of: flooder) == .nothing)
        let line =
            "connections: 1 refused, 5000 closed to make room, 1 closed because they were too slow; "
            + "most of 192.0.2.1: 5001"
        #expect(tally.look() == .report(line, nextCheckIn: minute))
        #expect(tally.look() == .nothing)
        guard case .report = tally.add(.refused, of: flooder) else {
            Issue.record("the first in a while is not told")
            return
        }
    }

    @Test func `needs no more memory for more addresses, and a forwarded address forges no line`() throws {
        let tally = Tally()
        for number in 0..<10_000 {
            _ = tally.add(.room, of: .address(ClientName("10.0.\(number >> 8).\(number & 255)")))
        }
        _ = tally.look()
        let proxies = try #require(TrustedProxies("127.0.0.1"))
        let name = ClientName("127.0.0.1", forwarded: ["x\nconnections:\"y\""], trusting: proxies)
        _ = tally.add(.room, of: .address(name))
        guard case .report(let line, _) = tally.look() else { return }
        #expect(!line.contains("\n") && !line.contains("\""))
    }
}

/// For expectations that change it.
private final class Tally {
    private var tally = LossTally()

    func add(_ loss: LossOfConnection, of group: ClientGroup) -> LossTally.Next { tally.add(loss, of: group) }
    func look() -> LossTally.Next { tally.look() }
}
