import Patchline
import Terminal

extension Failure {
    init(_ error: LocalServerError) {
        switch error {
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
