import ArgumentParser
package import PatchFormat

/// A patch, or one version of it, on the command line: `web`, `web@2.1.0`.
package struct PatchReference: Hashable, Sendable, CustomStringConvertible {
    package let patchID: PatchID
    package let version: VersionLabel?

    package init(_ patchID: PatchID, _ version: VersionLabel? = nil) {
        (self.patchID, self.version) = (patchID, version)
    }

    /// - Throws: A `ValidationError` that names the part that violates its rule.
    package init(parsing text: String) throws {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let patchID = PatchID(parts[0]) else {
            throw ValidationError(
                "'\(printable(String(text.prefix(200))))' must be PATCH or PATCH@VERSION; the patch \(PatchID.rule)"
            )
        }
        self.patchID = patchID
        guard parts.count == 2 else {
            version = nil
            return
        }
        guard let version = VersionLabel(parts[1]) else {
            throw ValidationError(
                "'\(printable(String(text.prefix(200))))' must be PATCH or PATCH@VERSION; the version \(VersionLabel.rule)"
            )
        }
        self.version = version
    }

    package var description: String { version.map { "\(patchID)@\($0)" } ?? "\(patchID)" }

    /// Returns the version from the reference or from `--version`.
    package func version(or option: VersionLabel?) throws -> VersionLabel? {
        if let version, let option, version != option {
            throw ValidationError("\(self) and --version \(option) name two versions; give one of them")
        }
        return version ?? option
    }
}
