import CLinux
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Tells each time that the way to a server may have opened: an address, a link or a route came.
///
/// Every iteration watches for itself, from its beginning to its end.
package struct NetworkChanges: AsyncSequence, Sendable {
    package typealias Element = Void
    package typealias Failure = Never

    private let watch: @Sendable () -> AsyncStream<Void>

    /// - Parameter watch: called for each iteration.
    package init(_ watch: @escaping @Sendable () -> AsyncStream<Void>) {
        self.watch = watch
    }

    package func makeAsyncIterator() -> AsyncStream<Void>.Iterator {
        watch().makeAsyncIterator()
    }

    /// Nothing ever changes.
    package static let none = NetworkChanges { AsyncStream { _ in } }

    /// What the kernel says; nothing where it says nothing.
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

/// Reads the kernel's messages (netlink(7)): a head of 16 bytes with the type at 4, then what the type says.
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

    /// More happened than the kernel could tell.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        changed()
        context.close(promise: nil)
    }
}

/// One message of the kernel's.
struct NetworkMessage: Equatable {
    private let type: UInt16?
    private let linkFlags: UInt32?
    private let routeBits: UInt8?

    init(_ bytes: ByteBuffer) {
        type = bytes.getInteger(at: bytes.readerIndex + 4, endianness: .host)
        // struct ifinfomsg: the flags are its third word.
        linkFlags = bytes.getInteger(at: bytes.readerIndex + 24, endianness: .host)
        // struct rtmsg: how many bits of the destination count is its second byte.
        routeBits = bytes.getInteger(at: bytes.readerIndex + 17)
    }

    /// An address came, a link that runs, or a way to everywhere; not that one went.
    var isOpening: Bool {
        switch type {
        case UInt16(RTM_NEWADDR): true
        case UInt16(RTM_NEWROUTE): routeBits == 0
        case UInt16(RTM_NEWLINK): (linkFlags ?? 0) & UInt32(0x40) != 0  // IFF_RUNNING
        default: false
        }
    }
}
