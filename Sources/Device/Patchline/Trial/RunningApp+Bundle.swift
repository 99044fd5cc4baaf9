import PatchChoice
package import PatchFormat
import PatchSync

/// Which bundle is served, where somebody has named one.
extension RunningApp {
    /// A name that nothing has would show the page of a first launch for ever.
    func tellOfMissingBundle(in selection: Selection) {
        guard let id = settings.bundle, selection.hasBundle else { return }
        report(.bundleMissing(id, there: selection.bundleIDs))
    }
}

extension Selection {
    /// By id, in ascending order.
    package var bundleIDs: [PatchID] { patches.filter { $0.kind == .bundle }.map(\.patchID) }
}
