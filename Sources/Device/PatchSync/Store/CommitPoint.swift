/// Named points between the durable steps of a sync and of a launch, where a test pulls the plug.
package enum CommitPoint: String, Sendable, CaseIterable {
    /// The roles are stored; no object is.
    case afterMetadata = "after-metadata"
    /// Some objects have come, and of these perhaps some are stored; at least one has not.
    case duringObjects = "during-objects"
    /// Every object is stored; the bundle is not staged.
    case afterObjects = "after-objects"
    /// The bundle's links are made under `Downloading/`; the rename that commits it has not happened.
    case beforeBundleRename = "before-bundle-rename"
    /// The bundle has its name; `state.json` does not name it yet.
    case beforeState = "before-state"
    /// `state.json` names the new selection.
    case afterState = "after-state"
    /// A launch has been counted; nothing is served yet.
    case afterLaunch = "after-launch"
}
