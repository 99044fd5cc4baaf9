/// The action that a changed setting requires.
package enum SettingEffect: Equatable, Sendable {
    /// The setting applies at once, without interrupting pages and their streams.
    case none
    /// The store's server is restarted, and open pages connect again.
    case restart
}

extension StoreSetting {
    package var effect: SettingEffect {
        switch self {
        case .server, .channel, .syncEvery, .parametersEvery, .deadline, .stallTimeout, .retries, .startupTimeout,
            .startupTimer, .urlFile, .printURL:
            .none
        // Another root requires another store, and the listener belongs to the store.
        case .store, .root, .serve, .port: .restart
        // The launched version changes.
        case .bundle, .appBuild: .restart
        // Pages learn at the start whether they may check for new versions.
        case .noSync: .restart
        // The listener's responses change, or the clients with access.
        case .www, .localFiles, .uploads, .open, .origin, .header, .charset, .type, .dialect: .restart
        // Connections of pages pass through the proxy.
        case .proxy, .proxies, .proxyCA, .proxyTimeout: .restart
        }
    }
}

extension DeviceSetting {
    package var effect: SettingEffect {
        switch self {
        // The listener's name changes.
        case .host: .restart
        case .appVersion, .user, .data, .platform, .compatibility, .keep, .reserve, .answers, .express,
            .entrySignatures, .mirror, .pin, .ca, .debug, .metered, .allowance, .limitRate, .consent, .postponeLimit,
            .window, .windowZone:
            .none
        }
    }
}

extension StoreSettings {
    /// Returns the action that a change to `new` requires.
    package func effect(ofChangeTo new: StoreSettings) -> SettingEffect {
        let effects =
            StoreSetting.allCases.filter { !isSame($0, as: new) }.map(\.effect)
            + DeviceSetting.allCases.filter { device[$0] != new.device[$0] }.map(\.effect)
        return effects.contains(.restart) ? .restart : .none
    }

    private func isSame(_ setting: StoreSetting, as other: StoreSettings) -> Bool {
        switch setting {
        case .store: store == other.store
        case .server: origin?.server == other.origin?.server
        case .root: origin?.root == other.origin?.root
        case .channel: origin?.channel == other.origin?.channel
        case .serve: serves == other.serves
        case .syncEvery: syncEvery == other.syncEvery
        case .noSync: syncs == other.syncs
        case .parametersEvery: parametersPolling == other.parametersPolling
        case .deadline: deadline == other.deadline
        case .stallTimeout: stallTimeout == other.stallTimeout
        case .retries: retries == other.retries
        case .port: port == other.port
        case .bundle: bundle == other.bundle
        case .appBuild: appBuild == other.appBuild
        case .startupTimeout: startupTimeout == other.startupTimeout
        case .startupTimer: countsLaunch == other.countsLaunch
        case .urlFile: urlFile == other.urlFile
        case .printURL: printsURL == other.printsURL
        case .www: www == other.www
        case .localFiles: localFiles == other.localFiles
        case .uploads: uploads == other.uploads
        case .open: isOpen == other.isOpen
        case .origin: origins == other.origins
        case .header: headers == other.headers
        case .charset: charset == other.charset
        case .type: types == other.types
        case .dialect: dialect == other.dialect
        case .proxy: proxy == other.proxy
        case .proxies: proxies == other.proxies
        case .proxyCA: proxyCA == other.proxyCA
        case .proxyTimeout: proxyTimeout == other.proxyTimeout
        }
    }
}

/// The actions that changed settings require.
package struct SettingsChange: Equatable, Sendable {
    /// The names of the stores that are stopped, or restarted with other settings.
    package let stopped: [String]
    package let started: [StoreSettings]
    /// The stores that apply their new settings while they run.
    package let adjusted: [StoreSettings]

    package init(from before: [StoreSettings], to after: [StoreSettings]) {
        let present = Dictionary(before.map { ($0.name, $0) }) { first, _ in first }
        let isNew = { (store: StoreSettings) in
            present[store.name].map { $0.effect(ofChangeTo: store) == .restart } ?? true
        }
        started = after.filter(isNew)
        adjusted = after.filter { !isNew($0) && present[$0.name] != $0 }
        let kept = Set(after.filter { !isNew($0) }.map(\.name))
        stopped = before.map(\.name).filter { !kept.contains($0) }
    }

    package var isEmpty: Bool { stopped.isEmpty && started.isEmpty && adjusted.isEmpty }

    /// The names of the stores concerned, in ascending order.
    package var names: [String] { Set(stopped + (started + adjusted).map(\.name)).sorted() }
}
