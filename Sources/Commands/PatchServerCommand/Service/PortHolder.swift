import PatchFormat
import PatchStore
import SystemPackage

/// The program that listens on a port of this machine, as far as this user may see it.
struct PortHolder: Equatable, CustomStringConvertible {
    /// The numeric id of the program's user.
    let user: UInt32
    /// Nil for a program of another user.
    let process: (id: Int, name: String)?

    var description: String {
        guard let process else { return "a program of user \(user)" }
        return "\(process.name) (process \(process.id))"
    }

    static func == (first: PortHolder, second: PortHolder) -> Bool {
        first.user == second.user && first.process?.id == second.process?.id
            && first.process?.name == second.process?.name
    }

    /// A listening socket, from a line of `/proc/net/tcp` (proc(5)).
    struct Socket: Equatable {
        let port: Int
        let user: UInt32
        let inode: UInt64

        /// Nil for the table's header and for a socket that does not listen.
        init?(line: some StringProtocol) {
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[3] == Self.listening,
                let port = fields[1].split(separator: ":").last.flatMap({ Int($0, radix: 16) }),
                let user = UInt32(fields[7]), let inode = UInt64(fields[9])
            else { return nil }
            (self.port, self.user, self.inode) = (port, user, inode)
        }

        private static let listening = "0A"
    }

    /// The maximum size of the table, enough for more than 10,000 connections.
    private static let tableLimit = 4_000_000

    /// Nil if no program is found, for example because it has ended.
    static func find(_ port: Int) -> PortHolder? {
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            guard let bytes = try? DiskFiles().read(FilePath(table), limit: tableLimit) else { continue }
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            guard let socket = lines.lazy.compactMap({ Socket(line: $0) }).first(where: { $0.port == port }) else {
                continue
            }
            return PortHolder(user: socket.user, process: process(with: socket.inode))
        }
        return nil
    }

    private static func process(with inode: UInt64) -> (id: Int, name: String)? {
        for id in ((try? DiskFiles().list("/proc")) ?? []).compactMap({ Int($0) }) {
            let folder = FilePath("/proc/\(id)")
            let descriptors = (try? DiskFiles().list(folder.appending("fd"))) ?? []
            for descriptor in descriptors {
                let path = folder.appending("fd").appending(descriptor)
                guard let status = try? path.stat(), status.type == .socket,
                    UInt64(truncatingIfNeeded: status.inode.rawValue) == inode
                else { continue }
                let name = (try? DiskFiles().read(folder.appending("comm"), limit: 64)) ?? []
                return (id, String(decoding: name.prefix { $0 != 0x0A }, as: UTF8.self))
            }
        }
        return nil
    }
}
