import PatchFormat

/// The holders of the root and targets keys, and the number of signatures that each role needs.
///
/// ```
/// one     root: 1 of root, root-recovery                targets: 1 of 1
/// two     root: 2 of alice, bob, recovery               targets: 1 of 2
/// more    root: the majority of them                    targets: the majority of them
/// ```
package enum KeyHolders: Equatable, Sendable {
    case one(recovery: Bool)
    case several([String])

    /// Returns nil for fewer than two names, a repeated name, or a name that is not valid in the name of a key.
    package init?(_ names: [String]) {
        guard names.count >= 2, Set(names).count == names.count, !names.contains(RootOfTrustPlan.recovery),
            names.allSatisfy({ ChannelName($0) != nil })
        else { return nil }
        self = .several(names)
    }

    /// Whether root has an additional key, so that the loss of one key never ends the app.
    ///
    /// With several holders this is needed if all root keys must sign.
    package var hasRecoveryKey: Bool {
        switch self {
        case .one(let recovery): recovery
        case .several(let names): names.count == 2
        }
    }

    package var holders: [(role: String, name: String)] {
        switch self {
        case .one: []
        case .several(let names): ["root", "targets"].flatMap { role in names.map { (role, $0) } }
        }
    }

    package var thresholds: [(role: String, count: Int)] {
        switch self {
        case .one: []
        // A lost targets key is replaced by root, so one of two is enough.
        case .several(let names) where names.count == 2: [("root", 2)]
        case .several(let names): ["root", "targets"].map { ($0, names.count / 2 + 1) }
        }
    }
}
