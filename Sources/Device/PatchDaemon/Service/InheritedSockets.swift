import Glibc

/// The sockets that the service manager opened for this process: sd_listen_fds(3), by hand.
package struct InheritedSockets: Equatable, Sendable {
    private static let firstDescriptor: Int32 = 3
    /// More are a mistake.
    private static let most = 64

    /// By their names, in the order in which they were given.
    package let sockets: [(name: String, descriptor: Int32)]

    package static func == (left: Self, right: Self) -> Bool {
        left.sockets.elementsEqual(right.sockets) { $0 == $1 }
    }

    /// - Parameters:
    ///   - environment: a variable of the process by its name.
    ///   - process: the process's own id: what was meant for another is not ours.
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

    /// The one for `name`; the only one there is, whatever its name.
    package func descriptor(named name: String) -> Int32? {
        sockets.first { $0.name == name }?.descriptor ?? (sockets.count == 1 ? sockets[0].descriptor : nil)
    }

    /// No program that this one starts has them.
    package func closeOnExec() {
        for socket in sockets { _ = fcntl(socket.descriptor, F_SETFD, FD_CLOEXEC) }
    }
}
