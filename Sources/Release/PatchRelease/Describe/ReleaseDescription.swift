package import PatchFormat

/// What a person writes about a release: the whole list of a channel, in the order in which it will stand.
package struct ReleaseDescription: Equatable, Sendable {
    package static let fileName = "release.yaml"

    package let app: AppID
    package let channel: ChannelName
    package let patches: [DescribedPatch]
    /// Documents of what the hosts of its scripts expose (`patchline-host-v1`), relative to the description's folder.
    package let hosts: [AssetPath]
    /// What JSPatch's own clients get; nil for nothing.
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

    /// Another patch that must be taken together with this one, named by its content or by its label in this release.
    package enum Requirement: Equatable, Sendable {
        case content(SHA256Digest)
        case version(VersionLabel)
    }

    package let patchID: PatchID
    package let version: VersionLabel
    package let content: Content
    package let rules: PatchRules
    /// Users of its rules who are named by their ids; the salt that their hashes need is known when the list is drafted.
    package let users: [UserID]
    package let requires: [PatchID: [Requirement]]
    /// Set for a version that closes a security hole.
    package let security: SecurityAdvisory?
    /// Where it runs, if it is a script.
    package let place: ScriptPlace
    /// How many of the base's other versions of this id stay listed behind this one.
    ///
    /// One by default, so that a device that may not take the new version keeps the old.
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
    /// Nil where the files decide.
    package var routing: BundleRouting?
    package var headers: [HeaderRule] = []
    /// Files that are compressed content, or that are none although their names say so: a later pattern wins.
    package var codings: [DescribedCoding] = []
    /// Patterns of asset paths, component by component, whose assets may be cached under a URL that names their content.
    package let cacheable: [String]
    package let commit: String?
    package let compatibility: [String: String]
    /// The description's own patterns of files to leave out.
    package let exclude: [String]
    /// The standard ones and the description's own.
    package let exclusions: FileExclusions
    /// Whose clients it is served to as well.
    package var gateways: [Gateway] = []
    package var selection = BundleSelection()
}
