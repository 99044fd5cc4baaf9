package import PatchFormat

/// What is served now: one bundle, its script patches, and the launch that its pages speak for.
package struct ServedSelection: Sendable {
    /// Nil before the first install.
    package let table: AssetTable?
    /// The token of a running trial; nil when there is nothing to confirm.
    package let launch: String?
    /// The version of the bundle, as people call it.
    package let version: String?
    /// Whether the host still has to be told that a page of it is shown.
    package var awaitsPage: Bool
    /// The script patches that belong to it.
    package let scripts: ServedScripts
    /// Identifies its pages; nil before the first install.
    package let stamp: ReleaseStamp?

    package init(
        table: AssetTable?,
        launch: String?,
        version: String? = nil,
        awaitsPage: Bool = false,
        scripts: ServedScripts = .none
    ) {
        self.table = table
        self.scripts = scripts
        self.launch = launch
        self.version = version
        self.awaitsPage = awaitsPage
        stamp = table.map { ReleaseStamp(bundle: $0.bundle, scripts: scripts.scripts) }
    }

    package static let nothing = ServedSelection(table: nil, launch: nil)
}

extension ReleaseStamp {
    /// Of the manifest's digest and the script patches, in their order.
    package init(bundle: SHA256Digest, scripts: [ServedScripts.Script] = []) {
        self.init(of: [bundle.hex] + scripts.map { "\($0.patchID) \($0.sha256.hex)" })
    }
}
