/// What is served now: one bundle, and the launch that a page may speak for.
package struct ServedSelection: Sendable {
    /// Nil before the first install.
    package let table: AssetTable?
    /// The token of a running trial; nil when there is nothing to confirm.
    package let launch: String?
    /// The version of the bundle, as people call it.
    package let version: String?
    /// Whether the host is to hear of the first request for a page of it before that is answered.
    package var awaitsPage: Bool
    /// The script patches that belong to it.
    package let scripts: ServedScripts

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
    }

    package static let nothing = ServedSelection(table: nil, launch: nil)
}
