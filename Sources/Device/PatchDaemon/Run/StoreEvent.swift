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

/// What happens to one store of the daemon.
package enum StoreEvent: Sendable {
    /// The store was made.
    case made
    /// The store exists with another app or root of trust, in words. It stays as it is.
    case differs([String])
    /// The store follows other settings of the file from now on, in words.
    case follows([String])
    /// The store's folder was removed while the daemon kept it.
    case removed
    case listening(LocalServer.Address)
    case app(LocalServer.Event)
    /// A line of the proxy's.
    case proxy(String)
    /// It goes on, as far as that can be.
    case trouble(RunnerFault)
}

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
    init?(_ event: LocalServer.Event) {
        guard case .synced(let result) = event else { return nil }
        switch result {
        case .failure(let error): self = .failed(Schedule.Failure(error))
        case .success(let report):
            let failures = report.failures.map { Schedule.Failure($0.error) }
            self = failures.first { $0.isNetwork }.map { .failed($0) } ?? .done
        }
    }
}

extension LocalServer.Event {
    /// Whether something failed, for which the store's folder may be gone.
    var isTrouble: Bool {
        switch self {
        case .app(.trouble), .app(.stateFault), .synced(.failure), .parametersTrouble: true
        case .app, .syncing, .synced, .decided, .portTaken, .fileTrouble: false
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
