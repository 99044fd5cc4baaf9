package import PatchFormat

/// A version that a release lists again, below the newest one of its channel.
///
/// Devices may return to it, and the holder of the online key can select it for new devices.
package struct StepBack: Equatable, Sendable {
    package let label: Label
    /// The newest version in the channel now.
    package let newest: VersionLabel

    package init(label: Label, newest: VersionLabel) {
        (self.label, self.newest) = (label, newest)
    }

    /// All steps back, in list order.
    ///
    /// A version is below another one if its dotted integers are lower, or if the base lists it behind the other one and the
    /// release lists it first. Labels without dotted integers are compared only by their order in the list.
    package static func all(from base: ReleaseContents?, to release: ReleaseContents) -> [StepBack] {
        guard let base else { return [] }
        return release.list.patchIDs.flatMap { id -> [StepBack] in
            let (old, new) = (base.versions(of: id), release.versions(of: id))
            guard let newest = old.first else { return [] }
            let behind = Set(old.dropFirst().map(\.label))
            let isBack = { (place: Int, entry: PatchEntry) in
                if behind.contains(entry.label) { return place == 0 }
                return entry.label != newest.label && isBelow(entry.version, newest.version)
            }
            return new.enumerated().filter { isBack($0.offset, $0.element) }.map {
                StepBack(label: $0.element.label, newest: newest.version)
            }
        }
    }

    private static func isBelow(_ one: VersionLabel, _ other: VersionLabel) -> Bool {
        guard let one = number(one), let other = number(other) else { return false }
        return one < other
    }

    /// `1.4.0` of `1.4.0-rc.1+7`.
    private static func number(_ label: VersionLabel) -> AppVersion? {
        AppVersion(String(label.text.prefix { $0.isNumber || $0 == "." }))
    }
}
