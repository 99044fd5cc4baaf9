import CLinux
import Glibc
import NIOCore

extension ClientGroup {
    /// Of a connection that was accepted.
    init(_ channel: any Channel, _ sharing: RoomSharing) {
        switch sharing {
        case .byAddress(let proxies):
            let address = channel.remoteAddress?.ipAddress
            self = address.map(proxies.contains) == true ? .boundless : .address(ClientName(address))
        case .byUser:
            self.init(user: Self.user(of: channel), ourselves: getuid())
        }
    }

    /// - Parameter user: nil where the system does not tell.
    init(user: UInt32?, ourselves: UInt32) {
        guard let user, user != 0, user != ourselves else {
            self = .boundless
            return
        }
        self = .user(user)
    }

    /// Who made the connection, on this machine.
    private static func user(of channel: any Channel) -> UInt32? {
        guard let client = channel.remoteAddress, let server = channel.localAddress else { return nil }
        return unsafe client.withSockAddr { (client, _) -> UInt32? in
            unsafe server.withSockAddr { (server, _) -> UInt32? in
                var user: UInt32 = 0
                return unsafe patchline_owner_of_connection(client, server, &user) == 0 ? user : nil
            }
        }
    }
}
