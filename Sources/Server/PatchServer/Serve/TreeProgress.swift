package import PatchFormat

/// Work on a published tree that may take long.
package enum TreeWork: Sendable {
    /// An offered release's objects.
    case verifying
    /// The files of a release, before anybody gets it.
    case compressing
    /// Packs that lead from earlier versions to it.
    case packing
    /// Small forms and packs of a published release.
    case optimizing
    case writing
    case checking
    /// What `gc` found.
    case removing
}

/// Hears that such work begins, and of how many files; each kind may begin several times.
package typealias TreeProgress = @Sendable (_ work: TreeWork, _ total: Int) -> Progress
