import APIProxy
import PatchChoice
import PatchFetch
import PatchFormat
import PatchStore
package import PatchSync
package import Patchline
import Glibc
import SystemPackage

/// What happens to one store of the daemon.
package enum StoreEvent: Sendable {
    /// The store was made.
    case made
    /// The store is there with other settings, in words; it stays as it is.
    case differs([String])
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
    case other(String)

    /// - Parameter path: of a file with more rules, which come after.
    static func proxying(
        _ rules: [String],
        _ path: FilePath?,
        files: any FileOperations
    ) throws(RunnerFault) -> APIProxy.Settings? {
        let file = try path.map { path throws(RunnerFault) in try read(path, files) }
        let own = rules.compactMap { try? ProxyRule(argument: $0) }
        do throws(ProxySettingsFault) { return try .joining(own, before: file) } catch { throw .other("\(error)") }
    }

    private static func read(_ path: FilePath, _ files: any FileOperations) throws(RunnerFault) -> ProxyFile {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try files.read(path, limit: ProxyFile.limit) } catch { throw .other("\(error)") }
        do throws(FormatError) { return try ProxyFile(bytes, named: path.string) } catch {
            throw .other(error.description)
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

extension Schedule.Failure {
    init(_ error: SyncError) {
        guard case .fetch(let fetch) = error else {
            self.init(isNetwork: false)
            return
        }
        if case .busy(_, _, let seconds) = fetch {
            self.init(isNetwork: false, retryAfter: .seconds(seconds))
        } else {
            self.init(isNetwork: fetch.mayBeOfThisNetwork)
        }
    }
}

extension StoreSettings {
    /// The daemon looks by its own schedule.
    func serving(_ deadlines: Deadlines) -> LocalServer.Settings {
        var settings = LocalServer.Settings()
        settings.serves = serves
        settings.port = port
        settings.uploads = uploads
        settings.app.bundle = bundle
        settings.app.startupTimeout = startupTimeout
        settings.app.startupTimer = countsLaunch ? .launch : .firstPage
        settings.updates.firstInterval = nil
        settings.deadlines = deadlines
        // A sync looks for parameters as well.
        settings.parametersEvery = syncEvery.map { max($0, ParametersWatch.interval) } ?? ParametersWatch.interval
        if let syncEvery, syncEvery <= ParametersWatch.interval { settings.parametersEvery = nil }
        return settings
    }
}
