package import PatchFormat
package import PatchSync
package import Patchline

extension Failure {
    /// - Parameter servers: The programs that serve the store now.
    package init(_ error: LocalServerError, servers: [RunningServer] = []) {
        switch error {
        case .portInUse(let port) where servers.contains { $0.port == port }:
            self = .servedAlready(by: servers.first { $0.port == port }?.process, port: port)
        case .portInUse(let port):
            self.init(
                "port \(port) is taken by another program",
                hint: """
                    stop it, or choose another with --port.
                    --next-free-port takes the next one; the origin changes then, so pages lose their storage.
                    """,
                code: .busy
            )
        case .device(let error): self.init(error)
        case .listener(let error): self.init("\(error)")
        case .alreadyStarting: self.init("the server is starting already")
        case .stopped: self.init("the server was stopped while it started")
        case .other(let text): self.init(text)
        }
    }
}

extension Failure {
    /// - Parameter port: The port, or nil if the store is not served on a port yet.
    package static func servedAlready(by process: Int?, port: Int?) -> Failure {
        Failure(
            "`patchsync serve` or `patchsync run` serves this store already: "
                + [process.map { "process \($0)" } ?? "another process", port.map { "port \($0)" }].compactMap(\.self)
                .joined(separator: ", "),
            hint: "open the URL that it printed, or stop it first.",
            code: .busy
        )
    }
}
