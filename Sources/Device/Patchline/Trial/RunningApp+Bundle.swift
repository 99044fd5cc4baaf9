import PatchChoice
package import PatchFormat
import PatchSync

/// The choice of the served bundle.
extension RunningApp {
    /// Reports that the configured bundle does not exist.
    ///
    /// Otherwise the page of a first launch would appear indefinitely without a reason.
    func reportMissingBundle(in selection: Selection) {
        guard let id = settings.bundle, selection.hasBundle else { return }
        report(.bundleMissing(id, there: selection.bundleIDs))
    }
}

extension Selection {
    /// The ids of the bundles, in ascending order.
    package var bundleIDs: [PatchID] { patches.filter { $0.kind == .bundle }.map(\.patchID) }
}
