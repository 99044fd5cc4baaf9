package import HTTPFiles
import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix
import ServiceLifecycle
import SystemPackage

/// The operators' listener: Hummingbird's server over what ``OperatorRoutes`` answers, until it is stopped.
///
/// It stops as ``FileServer`` does: nobody more comes in, what waits is closed, answers and uploads in flight have
/// ``FileServerConfiguration/drainTimeout``.
package struct OperatorServer: Service {
    private let admission: ConnectionAdmission
    private let routes: OperatorRoutes
    private let onListening: @Sendable (SocketAddress) -> Void

    /// - Parameter onListening: called once, with the address and the port that clients can connect to from now on.
    package init(
        _ admission: ConnectionAdmission,
        _ routes: OperatorRoutes,
        onListening: @escaping @Sendable (SocketAddress) -> Void = { _ in }
    ) {
        (self.admission, self.routes, self.onListening) = (admission, routes, onListening)
    }

    package func run() async throws(FileServerError) {
        let (host, port) = (admission.configuration.host, admission.configuration.port)
        let listener = NIOLockedValueBox<(any Channel)?>(nil)
        let failure = NIOLockedValueBox<FileServerError?>(nil)
        let server = Server(
            childChannelSetup: OperatorChannel(admission: admission, routes: routes),
            configuration: ServerConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in
                listener.withLockedValue { $0 = channel }
                channel.closeFuture.whenComplete { _ in
                    guard !admission.isStopping else { return }
                    // The error would wait for the last client otherwise.
                    failure.withLockedValue { $0 = .listenerClosed }
                    admission.stop()
                    admission.closeAll()
                }
                if admission.isStopping { return channel.close(promise: nil) }
                if let address = channel.localAddress { onListening(address) }
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: OperatorRoutes.silent
        )
        // Not a child task: cancelling this one must begin the drain, not break the answers in flight.
        let serving = Task { try await server.run() }
        let drained = NIOLockedValueBox<Scheduled<Void>?>(nil)
        let result = await withTaskCancellationOrGracefulShutdownHandler {
            await serving.result
        } onCancelOrGracefulShutdown: {
            admission.stop()
            guard let channel = listener.withLockedValue(\.self) else { return }
            channel.close(promise: nil)
            let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(admission.configuration.drainTimeout)) {
                admission.closeAll()
            }
            drained.withLockedValue { $0 = deadline }
        }
        drained.withLockedValue { $0?.cancel() }
        switch result {
        case .success: if let failure = failure.withLockedValue(\.self) { throw failure }
        case .failure(let error as IOError) where error.errnoCode == Errno.addressInUse.rawValue:
            throw .portInUse(host: host, port: port)
        case .failure(let error as IOError):
            throw .cannotBind(host: host, port: port, reason: "\(Errno(rawValue: error.errnoCode))")
        case .failure(let error): throw .cannotBind(host: host, port: port, reason: String(describing: error))
        }
    }
}
