import CLinux
import Glibc
import HTTPCore
import NIOConcurrencyHelpers
import NIOCore

extension ClientGroup {
    /// The group of an accepted connection.
    init(_ channel: any Channel, _ sharing: ConnectionGrouping) {
        switch sharing {
        case .byAddress(let proxies):
            let address = channel.remoteAddress?.ipAddress
            self = address.map(proxies.contains) == true ? .boundless : .address(ClientName(address))
        case .byUser:
            self.init(user: Self.user(of: channel), ourselves: getuid())
        }
    }

    /// - Parameter user: The connecting user, or nil if the system does not report it.
    init(user: UInt32?, ourselves: UInt32) {
        guard let user, user != 0, user != ourselves else {
            self = .boundless
            return
        }
        self = .user(user)
    }

    /// The local user that made the connection.
    private static func user(of channel: any Channel) -> UInt32? {
        guard let server = channel.localAddress else { return nil }
        if case .unixDomainSocket = server { return peer(of: channel) }
        guard let client = channel.remoteAddress else { return nil }
        return unsafe client.withSockAddr { (client, _) -> UInt32? in
            unsafe server.withSockAddr { (server, _) -> UInt32? in
                var user: UInt32 = 0
                return unsafe patchline_owner_of_connection(client, server, &user) == 0 ? user : nil
            }
        }
    }

    /// The user of the process that connected to a local socket, at the time of its connect(2) (unix(7), SO_PEERCRED).
    private static func peer(of channel: any Channel) -> UInt32? {
        guard let socket = channel as? any SocketOptionProvider else { return nil }
        let found = NIOLockedValueBox<UInt32?>(nil)
        let answer: EventLoopFuture<PeerCredentials> = socket.unsafeGetSocketOption(
            level: .socket,
            name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
        )
        // On the connection's event loop, so that it is answered before this returns.
        answer.whenSuccess { peer in found.withLockedValue { $0 = peer.user } }
        return found.withLockedValue(\.self)
    }
}

/// `struct ucred` of the kernel.
private struct PeerCredentials: Sendable {
    var process: Int32 = 0
    var user: UInt32 = 0
    var group: UInt32 = 0
}
