import APIProxy
import AssetServer
import HTTPCore
import PatchChoice
package import PatchFetch
import PatchFormat
import PatchStore
package import Patchline
import SystemPackage

extension StoreSettings {
    /// Returns the settings of a server that checks for new versions at ``syncEvery``.
    ///
    /// - Parameter deadlines: The deadlines of a sync, for those that these settings do not contain.
    package func serving(_ deadlines: Deadlines) -> LocalServer.Settings {
        var settings = LocalServer.Settings()
        settings.serves = serves
        settings.port = port
        settings.isOpen = isOpen
        settings.dialect = dialect
        settings.serving = assets
        settings.uploads = uploads
        settings.app.bundle = bundle
        settings.app.startupTimeout = startupTimeout
        settings.app.startupTimer = countsLaunch ? .launch : .firstPage
        settings.updates.interval = syncEvery
        settings.updates.isAllowed = syncs
        settings.deadlines = limits(deadlines)
        settings.parametersEvery =
            switch parametersPolling {
            case .standard: ParametersWatch.interval
            case .every(let interval): interval
            case .never: nil
            }
        return settings
    }

    /// Returns the settings for a daemon, which checks for new versions by its own schedule.
    func servingOnSchedule(_ deadlines: Deadlines) -> LocalServer.Settings {
        var settings = serving(deadlines)
        settings.updates.interval = nil
        settings.updates.firstInterval = nil
        // A sync checks the parameters as well.
        guard let syncEvery, let interval = settings.parametersEvery else { return settings }
        if syncEvery <= interval {
            settings.parametersEvery = nil
        } else if parametersPolling == .standard {
            settings.parametersEvery = syncEvery
        }
        return settings
    }

    package func limits(_ standard: Deadlines) -> Deadlines {
        var deadlines = standard
        if let deadline { deadlines.sync = deadline }
        if let stallTimeout { deadlines.stall = stallTimeout }
        if let retries { deadlines.retries = retries }
        return deadlines
    }

    private var assets: AssetServer.Settings {
        // LocalServer sets the name of the device's store.
        var access = Access(token: nil, under: .shared)
        access.origins = Set(origins)
        for header in headers { access.setHeader(header.name, to: header.value) }
        var settings = AssetServer.Settings(access: access)
        settings.types = ContentTypeRules(types: types, charset: charset)
        settings.www = www
        settings.localFiles = localFiles
        return settings
    }

    /// Returns the rules for requests that are passed on to other servers, or nil if there are none.
    func proxying(_ files: any FileOperations) throws(RunnerFault) -> APIProxy.Settings? {
        let file = try proxies.map { path throws(RunnerFault) in
            let bytes = try Self.bytes(of: path, ProxyFile.limit, files)
            do throws(FormatError) { return try ProxyFile(bytes, named: path.string) } catch {
                throw .other(error.description)
            }
        }
        let own = proxy.compactMap { try? ProxyRule(argument: $0) }
        let pem = try proxyCA.map { path throws(RunnerFault) in
            try Self.bytes(of: path, Limits.certificates, files)
        }
        do throws(ProxySettingsFault) {
            let seconds = proxyTimeout.map { Int($0.wholeSeconds) }
            return try .joining(own, before: file, authorities: pem, timeoutSeconds: seconds)
        } catch { throw .other("\(error)") }
    }

    private static func bytes(
        of path: FilePath,
        _ limit: Int,
        _ files: any FileOperations
    ) throws(RunnerFault) -> [UInt8] {
        do throws(FileError) { return try files.read(path, limit: limit) } catch { throw .other("\(error)") }
    }
}
