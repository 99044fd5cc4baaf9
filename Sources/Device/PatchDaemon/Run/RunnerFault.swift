import APIProxy
import DeviceOutput
import PatchChoice
import PatchFetch
package import PatchFormat
import PatchStore
package import PatchSync
package import Patchline
import Glibc
import SystemPackage

/// The reason why a store is not running at present.
package enum RunnerFault: Error, Equatable, Sendable {
    case device(SyncError)
    case server(LocalServerError)
    case portTaken(Int, by: PortHolder)
    case other(String)

    /// Whether another listener has the store's port.
    ///
    /// Versions are still downloaded in this case.
    var isTakenPort: Bool { if case .portTaken = self { true } else { false } }
}

extension Failure {
    package init(_ fault: RunnerFault) {
        switch fault {
        case .device(let error): self.init(error)
        case .server(let error): self.init(error)
        case .portTaken(let port, let holder): self = .portTaken(port, by: holder)
        case .other(let text): self.init(text)
        }
    }
}

enum ProcessID {
    static var own: Int32 { getpid() }
}

extension Schedule.Outcome {
    /// The outcome of a sync, or nil for an event that does not end one.
    init?(_ event: DeviceEvent) {
        guard case .synced(let result) = event else { return nil }
        switch result {
        case .failure(let error): self = .failed(Schedule.Failure(error))
        case .success(let report):
            let failures = report.failures.map { Schedule.Failure($0.error) }
            self = failures.first { $0.isNetwork }.map { .failed($0) } ?? .done
        }
    }
}

extension DeviceEvent {
    /// Whether the event may result from a removed store folder.
    var isOfRemovedStore: Bool {
        switch self {
        case .trouble, .stateFault, .synced(.failure), .parametersTrouble: true
        case .nothingInstalled, .serving, .following, .withdrawn, .damaged, .confirmed, .rolledBack, .scriptFailed,
            .scriptsLeftOut, .stalePage, .unproven, .superseded, .bundleMissing, .parametersChanged:
            false
        case .syncing, .synced(.success), .portTaken, .fileTrouble: false
        case .update, .updateDone, .failed, .noRoom, .script, .asked, .awaiting: false
        case .approved, .postponed, .postponementEnded: false
        case .made, .differs, .follows, .removed, .listening, .proxyLine, .storeFailed: false
        }
    }
}

extension Schedule.Failure {
    init(_ error: SyncError) {
        guard case .fetch(let fetch) = error else {
            self.init(isNetwork: false)
            return
        }
        let retryAfter = fetch.retryAfter
        // The server was reached and asks for a delay, so the return of the network is irrelevant.
        self.init(isNetwork: retryAfter == nil && fetch.mayBeOfThisNetwork, retryAfter: retryAfter)
    }
}
