import ArgumentParser
import CommandKit
import PatchDaemon
import PatchStore
import SystemPackage

/// The options of `serve`: each setting of the settings file that belongs to a process.
struct ServingOptions: ParsableArguments {
    @Option(StoreSetting.appBuild) var appBuild: String?
    @Option(StoreSetting.port) var port: String?
    @Option(StoreSetting.startupTimeout) var startupTimeout: String?
    @Option(StoreSetting.startupTimer) var startupTimer: String?
    @Option(StoreSetting.bundle) var bundle: String?
    @Option(StoreSetting.www) var www: String?
    @Option(StoreSetting.localFiles) var localFiles: String?
    @Option(StoreSetting.uploads) var uploads: String?
    @Option(StoreSetting.urlFile) var urlFile: String?
    @Flag(StoreSetting.printURL) var printURL = false
    @Flag(StoreSetting.open) var open = false
    @Option(StoreSetting.origin) var origins: [String] = []
    @Option(StoreSetting.header) var headers: [String] = []
    @Option(StoreSetting.charset) var charset: String?
    @Option(StoreSetting.type) var types: [String] = []
    @Option(StoreSetting.dialect) var dialect: String?
    @OptionGroup(title: "Proxy") var proxies: ProxyOptions
    @Option(StoreSetting.syncEvery) var syncEvery: String?
    @Option(StoreSetting.parametersEvery) var parametersEvery: String?
    @OptionGroup(title: "Network") var network: NetworkOptions
    @Flag(StoreSetting.noSync) var noSync = false

    func validate() throws {
        _ = try settings(of: "/")
        if uploads != nil, open {
            throw ValidationError("--uploads and --open exclude each other: uploads need the access token")
        }
        if noSync, syncEvery != nil { throw ValidationError("--no-sync and --sync-every exclude each other") }
    }

    /// - Parameter store: The store's folder.
    func settings(of store: FilePath) throws(ValidationError) -> StoreSettings {
        var settings = StoreSettings(name: "", store: store)
        settings.syncEvery = nil
        for setting in StoreSetting.allCases {
            guard let given = given(setting) else { continue }
            // Empty text resets a setting of a store. A running server has no saved setting to reset.
            if case .text("") = given { throw ValidationError(SettingFault(setting.rule).words("--\(setting.name)")) }
            let value = try setting.value(given)
            do throws(SettingFault) { try settings.take(value, for: setting) { FilePath(argument: $0) } } catch {
                throw ValidationError(error.words("--\(setting.name)"))
            }
        }
        settings.uploads = settings.uploads?.followingLinks
        return settings
    }

    /// Returns the option's value, or nil if the option is not given.
    private func given(_ setting: StoreSetting) -> GivenSetting? {
        switch setting {
        // These settings create a store. `--store` is an option of every command.
        case .store, .server, .root, .channel: nil
        // This command always serves pages.
        case .serve: nil
        case .syncEvery: .option(syncEvery)
        case .noSync: .option(noSync)
        case .parametersEvery: .option(parametersEvery)
        case .deadline: .option(network.deadline)
        case .stallTimeout: .option(network.stallTimeout)
        case .retries: .option(network.retries)
        case .port: .option(port)
        case .bundle: .option(bundle)
        case .appBuild: .option(appBuild)
        case .startupTimeout: .option(startupTimeout)
        case .startupTimer: .option(startupTimer)
        case .urlFile: .option(urlFile)
        case .printURL: .option(printURL)
        case .www: .option(www)
        case .localFiles: .option(localFiles)
        case .uploads: .option(uploads)
        case .open: .option(open)
        case .origin: .option(origins)
        case .header: .option(headers)
        case .charset: .option(charset)
        case .type: .option(types)
        case .dialect: .option(dialect)
        case .proxy: .option(proxies.rules)
        case .proxies: .option(proxies.file)
        case .proxyCA: .option(proxies.authorities)
        case .proxyTimeout: .option(proxies.timeout)
        }
    }
}
