package import SystemPackage

extension DaemonSettings {
    /// Returns these settings with the links of their folders resolved, so that two stores in one folder are detected even under
    /// two names.
    ///
    /// Links are resolved at each start and each change of the file, because a link may have changed.
    ///
    /// - Parameters:
    ///   - name: The file's name, for error messages.
    ///   - following: Returns a path without its links.
    package func resolved(
        named name: String,
        _ following: (FilePath) -> FilePath
    ) throws(DaemonSettingsFault) -> DaemonSettings {
        var resolved = self
        resolved.stores = stores.map { $0.resolved(following) }
        for (index, store) in resolved.stores.enumerated() {
            if let other = resolved.stores[..<index].first(where: { $0.store == store.store }) {
                throw DaemonSettingsFault(
                    file: name,
                    line: nil,
                    rule: "stores gives \(other.name) and \(store.name) the same folder: \(store.store)"
                )
            }
            if let rule = store.conflict { throw DaemonSettingsFault(file: name, line: nil, rule: rule) }
        }
        return resolved
    }
}

extension StoreSettings {
    fileprivate func resolved(_ following: (FilePath) -> FilePath) -> StoreSettings {
        var resolved = self
        resolved.store = following(store)
        if let origin { resolved.origin?.root = following(origin.root) }
        resolved.uploads = uploads.map(following)
        resolved.www = www.map(following)
        resolved.localFiles = localFiles.map(following)
        resolved.proxies = proxies.map(following)
        resolved.proxyCA = proxyCA.map(following)
        for (setting, value) in device where setting.form == .file {
            if case .text(let path) = value { resolved.device[setting] = .text(following(FilePath(path)).string) }
        }
        return resolved
    }
}
