import PatchFormat
import HTTPFiles
import ServiceLifecycle
import CommandKit

/// Both listeners of a server.
///
/// They stop together, so requests on both have the same time to finish.
struct Listeners: Service {
    /// - Parameter onListening: Called once the operators' port accepts connections.
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
                // Devices start after operators: a program that waits for the devices' line may also use the operators' port.
                guard await starts.first(where: { _ in true }) != nil else { return }
                do throws(FileServerError) { try await devices.run() } catch {
                    throw Failure(error, holder: PortHolder.find)
                }
            }
            for try await _ in group {}
        }
    }
}
