import NIOCore
import Testing

@testable import PatchFetch

/// As rtnetlink(7) has them: a head of 16 bytes with the type at 4, then what the type says.
@Suite("The kernel's word of the network")
struct NetworkMessageTests {
    private static func message(_ type: UInt16, _ body: [UInt8]) -> NetworkMessage {
        var bytes = ByteBuffer()
        bytes.writeInteger(UInt32(16 + body.count), endianness: .host)
        bytes.writeInteger(type, endianness: .host)
        bytes.writeRepeatingByte(0, count: 10)
        bytes.writeBytes(body)
        return NetworkMessage(bytes)
    }

    @Test(
        arguments: [
            // RTM_NEWADDR and RTM_DELADDR.
            (20, [2, 24, 0, 0], true), (21, [2, 24, 0, 0], false),
            // RTM_NEWLINK, that runs and that does not.
            (16, [0, 0, 1, 0, 2, 0, 0, 0, 0x43, 0x10, 0, 0], true),
            (16, [0, 0, 1, 0, 2, 0, 0, 0, 3, 0x10, 0, 0], false),
            // RTM_NEWROUTE to everywhere and to one network, RTM_DELROUTE.
            (24, [2, 0, 0, 0], true), (24, [2, 24, 0, 0], false), (25, [2, 0, 0, 0], false), (24, [], false),
        ] as [(UInt16, [UInt8], Bool)]
    )
    func `opens a way by an address, a link that runs or a default route that comes`(
        type: UInt16,
        body: [UInt8],
        isOpening: Bool
    ) {
        #expect(Self.message(type, body).isOpening == isOpening)
    }
}
