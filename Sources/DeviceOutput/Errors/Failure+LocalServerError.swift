package import PatchSync
package import Patchline
package import Terminal

extension Failure {
    /// - Parameter servers: which programs serve the store now.
    package init(_ error: LocalServerError, servers: [RunningServer] = []) {
        switch error {
        case .portInUse(let port) where servers.contains { $0.port == port }:
            let process = servers.first { $0.port == port }?.process ?? 0
            self.init(
                "`patchsync serve` serves this store already: process \(process), port \(port)",
                hint: "open the URL that it printed, or stop it first.",
                exitCode: .busy
            )
        case .portInUse(let port):
            self.init(
                "port \(port) is taken by another program",
                hint: """
                    stop it, or choose another with --port.
                    --next-free-port takes the next one; the origin changes then, so pages lose their storage.
                    """,
                exitCode: .busy
            )
        case .device(let error): self.init(error)
        case .listener(let error): self.init("\(error)")
        case .alreadyStarting: self.init("the server is starting already")
        case .stopped: self.init("the server was stopped while it started")
        case .other(let text): self.init(text)
        }
    }
}
