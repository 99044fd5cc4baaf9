import PatchFormat
import HTTPFiles
import ServiceLifecycle
import CommandKit

/// Both listeners of a server, which stop at once: what is in flight on either has the same time.
struct Listeners: Service {
    /// - Parameter onListening: called once operators can ask.
    let operators: @Sendable (_ onListening: @escaping @Sendable () -> Void) -> FileServer
    let devices: FileServer

    func run() async throws {
        let (starts, listens) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { listens.finish() }
                do throws(FileServerError) { try await operators { listens.yield() }.run() } catch {
                    throw Failure(error, prefix: "operators-", holder: PortHolder.find)
                }
            }
            group.addTask {
                // Whoever waits for the line of this one may ask the other, too; which perhaps cannot listen.
                guard await starts.first(where: { _ in true }) != nil else { return }
                do throws(FileServerError) { try await devices.run() } catch {
                    throw Failure(error, holder: PortHolder.find)
                }
            }
            for try await _ in group {}
        }
    }
}
