/// Named points between the durable steps of a sync and of a launch, at which a test cuts the power.
package enum CommitPoint: String, Sendable, CaseIterable {
    /// The roles are stored, but no object is.
    case afterMetadata = "after-metadata"
    /// Some objects are downloaded and may be stored. At least one is missing.
    case duringObjects = "during-objects"
    /// Every object is stored. The bundle is not staged.
    case afterObjects = "after-objects"
    /// The bundle's links exist under `Downloading/`. The rename that commits it has not happened.
    case beforeBundleRename = "before-bundle-rename"
    /// The bundle has its final name. `state.json` does not list it yet.
    case beforeState = "before-state"
    /// `state.json` lists the new selection.
    case afterState = "after-state"
    /// A launch has been counted, but no page is served yet.
    case afterLaunch = "after-launch"
}
