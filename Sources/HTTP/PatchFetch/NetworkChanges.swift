import CLinux
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Emits an element each time that a network path may have become available: a new address, link or route.
///
/// Every iteration has its own watch, from its beginning to its end.
package struct NetworkChanges: AsyncSequence, Sendable {
    package typealias Element = Void
    package typealias Failure = Never

    private let watch: @Sendable () -> AsyncStream<Void>

    /// - Parameter watch: Called for each iteration.
    package init(_ watch: @escaping @Sendable () -> AsyncStream<Void>) {
        self.watch = watch
    }

    package func makeAsyncIterator() -> AsyncStream<Void>.Iterator {
        watch().makeAsyncIterator()
    }

    /// A network that never changes.
    package static let none = NetworkChanges { AsyncStream { _ in } }

    /// The kernel's notices.
    ///
    /// Empty if the kernel does not send any.
    package static let system = NetworkChanges {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let descriptor = patchline_open_network_changes()
            guard descriptor >= 0 else { return }
            let watching = NIOPipeBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(NetworkMessages { continuation.yield() })
                    }
                }
                .takingOwnershipOfDescriptor(input: descriptor)
            continuation.onTermination = { _ in watching.whenSuccess { $0.close(promise: nil) } }
        }
    }
}

/// Reads the kernel's messages (netlink(7)): a head of 16 bytes with the type at offset 4, then the content for that type.
private final class NetworkMessages: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = Never

    private let changed: @Sendable () -> Void

    init(_ changed: @escaping @Sendable () -> Void) {
        self.changed = changed
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = unwrapInboundIn(data)
        var isOpening = false
        while let length = buffer.getInteger(at: buffer.readerIndex, endianness: .host, as: UInt32.self),
            length >= 16, let message = buffer.readSlice(length: Swift.min(Int(length), buffer.readableBytes))
        {
            isOpening = isOpening || NetworkMessage(message).isOpening
            buffer.moveReaderIndex(forwardBy: Swift.min(-Int(length) & 3, buffer.readableBytes))
        }
        if isOpening { changed() }
    }

    /// Messages were lost, so a change is assumed.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        changed()
        context.close(promise: nil)
    }
}

/// One message of the kernel.
struct NetworkMessage: Equatable {
    private let type: UInt16?
    private let linkFlags: UInt32?
    private let routeBits: UInt8?

    init(_ bytes: ByteBuffer) {
        type = bytes.getInteger(at: bytes.readerIndex + 4, endianness: .host)
        // struct ifinfomsg: the flags are its third word.
        linkFlags = bytes.getInteger(at: bytes.readerIndex + 24, endianness: .host)
        // struct rtmsg: the second byte is the length of the destination in bits.
        routeBits = bytes.getInteger(at: bytes.readerIndex + 17)
    }

    /// Whether the message reports a new address, a running link, or a new default route.
    ///
    /// Removals do not count.
    var isOpening: Bool {
        switch type {
        case UInt16(RTM_NEWADDR): true
        case UInt16(RTM_NEWROUTE): routeBits == 0
        case UInt16(RTM_NEWLINK): (linkFlags ?? 0) & UInt32(0x40) != 0  // IFF_RUNNING
        default: false
        }
    }
}
