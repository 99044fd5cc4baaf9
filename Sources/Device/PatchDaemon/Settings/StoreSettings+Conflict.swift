import SystemPackage

extension StoreSettings {
    /// The reason why these settings exclude each other, or nil if they do not.
    package var conflict: String? {
        for (setting, folder) in folders where folder.starts(with: store) || store.starts(with: folder) {
            // A client with the access token could read or change the store's files.
            return "\(setting.name) of \(name) must not be its store, be in it or contain it"
        }
        if isOpen, uploads != nil {
            return "open and uploads of \(name) exclude each other: uploads are for clients with the access token"
        }
        return nil
    }

    /// The folders whose files pages can read.
    private var folders: [(StoreSetting, FilePath)] {
        [(StoreSetting.www, www), (.localFiles, localFiles), (.uploads, uploads)].compactMap { setting, folder in
            folder.map { (setting, $0) }
        }
    }
}
