import Glibc

/// The sockets that the service manager opened for this process: an implementation of sd_listen_fds(3).
package struct InheritedSockets: Equatable, Sendable {
    private static let firstDescriptor: Int32 = 3
    /// The limit.
    ///
    /// More sockets indicate an error.
    private static let most = 64

    /// The sockets with their names, in the order in which they were passed.
    package let sockets: [(name: String, descriptor: Int32)]

    package static func == (left: Self, right: Self) -> Bool {
        left.sockets.elementsEqual(right.sockets) { $0 == $1 }
    }

    /// - Parameters:
    ///   - environment: Returns a variable of the process by its name.
    ///   - process: The process's own id. Sockets for another process are ignored.
    package init(process: Int32 = getpid(), environment: (String) -> String?) {
        guard environment("LISTEN_PID").flatMap({ Int32($0) }) == process,
            let count = environment("LISTEN_FDS").flatMap({ Int($0) }), (1...Self.most).contains(count)
        else {
            sockets = []
            return
        }
        let names = (environment("LISTEN_FDNAMES") ?? "").split(separator: ":", omittingEmptySubsequences: false)
        sockets = (0..<count).map { index in
            let name = index < names.count ? String(names[index]) : ""
            return (name.isEmpty ? "unknown" : name, Self.firstDescriptor + Int32(index))
        }
    }

    /// Returns the socket with this name.
    ///
    /// If there is only one socket, returns it regardless of its name.
    package func descriptor(named name: String) -> Int32? {
        sockets.first { $0.name == name }?.descriptor ?? (sockets.count == 1 ? sockets[0].descriptor : nil)
    }

    /// Prevents programs that this process starts from inheriting the sockets.
    package func closeOnExec() {
        for socket in sockets { _ = fcntl(socket.descriptor, F_SETFD, FD_CLOEXEC) }
    }
}
