package import PatchFormat

/// The served selection: one bundle, its script patches, and the launch that its pages belong to.
package struct ServedSelection: Sendable {
    /// The bundle's files, or nil before the first install.
    package let table: AssetTable?
    /// The token of a running trial, or nil if there is no trial.
    package let launch: String?
    /// The version of the bundle.
    package let version: String?
    /// Whether the host has not been notified yet of a shown page.
    package var awaitsPage: Bool
    /// The selection's script patches.
    package let scripts: ServedScripts
    /// The stamp of its pages, or nil before the first install.
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
    /// Computes the stamp from the manifest's digest and the script patches, in their order.
    package init(bundle: SHA256Digest, scripts: [ServedScripts.Script] = []) {
        self.init(of: [bundle.hex] + scripts.map { "\($0.patchID) \($0.sha256.hex)" })
    }
}
