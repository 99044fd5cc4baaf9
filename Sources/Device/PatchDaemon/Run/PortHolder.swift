package import PatchFormat
import Glibc
import PatchStore
import SystemPackage

/// The listener on a port of this machine, as far as this process can determine it.
package enum PortHolder: Equatable, Sendable {
    /// Another store of the same settings file.
    case store(String)
    case program(process: Int, name: String)
    /// A program of another user, which this process may not inspect.
    case user(String)
    case unknown

    package var isStore: Bool { if case .store = self { true } else { false } }

    package var words: String {
        switch self {
        case .store(let name): "the store \(name)"
        case .program(let process, let name): "process \(process) (\(name))"
        case .user(let name): "a program of the user \(name)"
        case .unknown: "another program"
        }
    }
}

extension PortHolder {
    /// Finds the program that listens on a port of this machine, with proc(5).
    package init(listeningOn port: Int) {
        guard let socket = Self.listener(on: port) else {
            self = .unknown
            return
        }
        if let process = Self.process(with: socket.inode) {
            self = process
        } else {
            self = socket.user == geteuid() ? .unknown : .user(Self.name(ofUser: socket.user))
        }
    }

    private struct Socket {
        let inode: Substring
        let user: UInt32
    }

    /// The number of bytes of a table that are read.
    private static let limit = 16_000_000

    private static func listener(on port: Int) -> Socket? {
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            guard let bytes = text(of: FilePath(table)) else { continue }
            for line in bytes.split(separator: "\n").dropFirst() {
                // The columns: sl local remote state queues timer retransmits uid timeout inode
                let fields = line.split(separator: " ", omittingEmptySubsequences: true)
                guard fields.count > 9, fields[3] == "0A", let user = UInt32(fields[7]),
                    let number = fields[1].split(separator: ":").last.flatMap({ Int($0, radix: 16) }), number == port
                else { continue }
                return Socket(inode: fields[9], user: user)
            }
        }
        return nil
    }

    /// Returns a file of proc(5).
    ///
    /// Its size is not known before it is read.
    private static func text(of path: FilePath) -> String? {
        guard let file = try? FileDescriptor.open(path, .readOnly, options: .closeOnExec) else { return nil }
        defer { try? file.close() }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < limit {
            guard let count = unsafe try? piece.withUnsafeMutableBytes({ unsafe try file.read(into: $0) }), count > 0
            else { break }
            bytes += piece.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func process(with inode: Substring) -> PortHolder? {
        let wanted = "socket:[\(inode)]"
        let files = DiskFiles()
        for name in (try? files.list("/proc")) ?? [] {
            guard let process = Int(name) else { continue }
            let folder = FilePath("/proc/\(process)/fd")
            // Processes of other users list no descriptors.
            for descriptor in (try? files.list(folder)) ?? [] where target(of: folder.appending(descriptor)) == wanted {
                let name = text(of: FilePath("/proc/\(process)/comm")) ?? ""
                return .program(process: process, name: String(name.prefix { $0 != "\n" }))
            }
        }
        return nil
    }

    private static func target(of link: FilePath) -> String? {
        var bytes = [CChar](repeating: 0, count: 256)
        let count = unsafe readlink(link.string, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    private static func name(ofUser id: UInt32) -> String {
        guard let entry = unsafe getpwuid(id) else { return "\(id)" }
        return unsafe String(cString: entry.pointee.pw_name)
    }
}

extension Failure {
    /// The failure of pages whose port belongs to another listener.
    package static func portTaken(_ port: Int, by holder: PortHolder) -> Failure {
        let other = port < 65_535 ? port + 1 : port - 1
        let remedy = "give the store a port of its own in the settings file, such as `port: \(other)`"
        let hint =
            switch holder {
            case .store: "\(remedy). Pages on another port begin with empty storage."
            case .program, .user, .unknown:
                "end that program, or \(remedy). Pages on another port begin with empty storage."
            }
        return Failure("port \(port) is taken by \(holder.words)", hint: hint, code: .busy)
    }
}
