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

/// Why a store is not kept just now.
package enum RunnerFault: Error, Equatable, Sendable {
    case device(SyncError)
    case server(LocalServerError)
    case portTaken(Int, by: PortHolder)
    case other(String)

    /// A port that another listener has.
    ///
    /// Versions are still downloaded meanwhile.
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
    /// Nil for an event that ends no sync.
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
    /// Whether the event can be the effect of a removed store folder.
    var isOfRemovedStore: Bool {
        switch self {
        case .trouble, .stateFault, .synced(.failure), .parametersTrouble: true
        default: false
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
        // A server that asks for time was reached: the return of the network changes nothing.
        self.init(isNetwork: retryAfter == nil && fetch.mayBeOfThisNetwork, retryAfter: retryAfter)
    }
}
