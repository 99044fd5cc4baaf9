package import PatchFormat

/// The content of `release.yaml`: the complete list of a channel, in its published order.
package struct ReleaseDescription: Equatable, Sendable {
    package static let fileName = "release.yaml"

    package let app: AppID
    package let channel: ChannelName
    package let patches: [DescribedPatch]
    /// Documents of the interfaces of the scripts' hosts (`patchline-host-v1`), relative to the description's folder.
    package let hosts: [AssetPath]
    /// The packages for JSPatch's own clients; nil for none.
    package let jspatch: DescribedPackages?
    package let places: DescriptionPositions
}

/// One patch of a description.
package struct DescribedPatch: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        /// One JavaScript file, relative to the description's folder.
        case script(file: AssetPath)
        case bundle(DescribedBundle)
    }

    /// Another patch that this one requires, named by its content or by its label in this release.
    package enum Requirement: Equatable, Sendable {
        case content(SHA256Digest)
        case version(VersionLabel)
    }

    package let patchID: PatchID
    package let version: VersionLabel
    package let content: Content
    package let rules: PatchRules
    /// Users in its rules who are named by their ids.
    ///
    /// The salt of their hashes is known only when the list is drafted.
    package let users: [UserID]
    package let requires: [PatchID: [Requirement]]
    /// Set for a version that fixes a vulnerability.
    package let security: SecurityAdvisory?
    /// The place where a script runs.
    package let place: ScriptPlace
    /// The number of the base's other versions of this id that stay listed behind this one.
    ///
    /// The default is one, so that a device that is not eligible for the new version keeps the old one.
    package let keep: Int

    package static let keepByDefault = 1

    package init(
        patchID: PatchID,
        version: VersionLabel,
        content: Content,
        rules: PatchRules,
        users: [UserID] = [],
        requires: [PatchID: [Requirement]],
        security: SecurityAdvisory? = nil,
        place: ScriptPlace = .host,
        keep: Int
    ) {
        self.patchID = patchID
        self.version = version
        self.content = content
        self.rules = rules
        self.users = users
        self.requires = requires
        self.security = security
        self.place = place
        self.keep = keep
    }

    package var label: Label { Label(patchID: patchID, version: version) }

    package var gateways: [Gateway] {
        if case .bundle(let bundle) = content { bundle.gateways } else { [] }
    }

    package var kind: PatchKind {
        switch content {
        case .script: .script
        case .bundle: .bundle
        }
    }
}

/// A folder of files, each of which becomes an asset.
package struct DescribedBundle: Equatable, Sendable {
    /// Relative to the description's folder.
    package let folder: AssetPath
    package let index: AssetPath
    package let routes: [RoutePattern]?
    /// Nil if the files determine the routing.
    package var routing: BundleRouting?
    package var headers: [HeaderRule] = []
    /// Files that are compressed content, or only have such a name.
    ///
    /// A later pattern overrides an earlier one.
    package var codings: [DescribedCoding] = []
    /// Patterns of asset paths, component by component.
    ///
    /// Matching assets may be cached under a URL that contains their digest.
    package let cacheable: [String]
    package let commit: String?
    package let compatibility: [String: String]
    /// The description's own patterns of files to leave out.
    package let exclude: [String]
    /// The standard patterns and the description's own.
    package let exclusions: FileExclusions
    /// The gateways that also serve the bundle.
    package var gateways: [Gateway] = []
    package var selection = BundleSelection()
}
