import PatchFormat
import HTTPFiles
import NIOCore
import NIOPosix
import SystemPackage
import CommandKit

/// Checks whether a port is free, before long work starts.
enum PortCheck {
    /// - Parameter prefix: The prefix of the port's option: `operators-`.
    /// - Throws: The failure that the server would report.
    static func check(host: String, port: Int, prefix: String = "") async throws(Failure) {
        // Port 0 is any free port.
        guard port != 0 else { return }
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: host, port: port).get()
            try await channel.close()
        } catch let error as IOError where error.errnoCode == Errno.addressInUse.rawValue {
            throw Failure(.portInUse(host: host, port: port), prefix: prefix, holder: PortHolder.find)
        } catch let error as IOError {
            let reason = "\(Errno(rawValue: error.errnoCode))"
            throw Failure(.cannotBind(host: host, port: port, reason: reason), prefix: prefix)
        } catch {
            throw Failure(.cannotBind(host: host, port: port, reason: String(describing: error)), prefix: prefix)
        }
    }
}
