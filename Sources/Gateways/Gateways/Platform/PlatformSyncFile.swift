package import PatchFormat

/// The file that JSPatch's platform serves to every device of one app version: `{"v":4,"g":2}`, `{"e":1}`.
///
/// It is not signed, so anyone in the server's place can forge one. ``PlatformDecision`` decides how a device reacts to it.
package struct PlatformSyncFile: Equatable, Sendable {
    private static let document = "sync file"

    /// `v`: the newest package, or nil if it is missing or 0.
    package var version: LoaderVersion?
    /// `p`: the device does nothing.
    package var isPaused = false
    /// `r`: the installed version does not run before the next launch.
    package var runsLater = false
    /// `g`: the share of devices.
    package var share: PlatformShare?
    /// `c`, unparsed.
    ///
    /// A malformed condition is still a rule and never holds.
    package var condition: String?
    /// `cv`: the package for devices on which the condition does not hold, or nil if it is missing or 0.
    package var otherwise: LoaderVersion?
    /// `e`, any value: the installed version is to be deleted.
    package var isDeleted = false

    package init(version: LoaderVersion?) {
        self.version = version
    }

    /// Reads a sync file and ignores unknown keys.
    ///
    /// - Throws: If it is not an object, has a key twice, or a known key has an undocumented value. A device then does nothing.
    package init(_ bytes: [UInt8]) throws(FormatError) {
        let fields = try Fields(
            JSON.document(bytes, named: Self.document, limit: Limits.platformSyncFile),
            of: Self.document
        )
        version = try fields.versionOrNone("v")
        isPaused = try fields.flag("p")
        runsLater = try fields.flag("r")
        if fields.has("g") { share = PlatformShare(try fields.integer("g", in: PlatformShare.range)) }
        condition = try fields.optionalString("c")
        otherwise = try fields.versionOrNone("cv")
        isDeleted = fields.has("e")
    }

    /// The bytes of the file.
    ///
    /// Members with their default value are omitted.
    package var bytes: [UInt8] { json.fileBytes }

    package var json: JSON {
        .fields([
            ("v", version.map { .integer($0.number) }), ("p", isPaused ? .bool(true) : nil),
            ("r", runsLater ? .bool(true) : nil), ("g", share.map { .integer($0.tenths) }),
            ("c", condition.map { .text($0) }), ("cv", otherwise.map { .integer($0.number) }),
            ("e", isDeleted ? .integer(1) : nil),
        ])
    }

    /// Whether the condition holds, by the rules of ``Condition``.
    ///
    /// An empty one always holds, a malformed one never.
    func holds(for facts: [ConditionKey: ConditionValue]) -> Bool {
        guard let condition, !condition.isEmpty else { return true }
        do throws(Condition.Problem) { return try Condition(condition).holds(for: facts) } catch { return false }
    }
}

extension Fields {
    /// Nil if the key is missing or 0.
    fileprivate func versionOrNone(_ key: String) throws(FormatError) -> LoaderVersion? {
        guard has(key) else { return nil }
        return LoaderVersion(try integer(key, in: 0...LoaderVersion.range.upperBound))
    }

    /// A flag, also as 0 or 1, as servers in PHP write it.
    ///
    /// False if the key is missing.
    fileprivate func flag(_ key: String) throws(FormatError) -> Bool {
        switch object[key] {
        case .integer(0): false
        case .integer(1): true
        default: try bool(key, default: false)
        }
    }
}

/// The share of all devices that receive a package, in tenths: those whose draw is not above it.
package struct PlatformShare: Equatable, Sendable {
    package static let range = 0...10
    package static let rule = "must be an integer from 0 to 10: tenths of all devices"
    package let tenths: Int

    package init?(_ tenths: Int) {
        guard Self.range.contains(tenths) else { return nil }
        self.tenths = tenths
    }
}

/// The number from 1 to 10 that a device draws once and keeps.
package struct PlatformDraw: Equatable, Sendable {
    package static let range = 1...10
    package let number: Int

    package init?(_ number: Int) {
        guard Self.range.contains(number) else { return nil }
        self.number = number
    }

    func isIn(_ share: PlatformShare) -> Bool { number <= share.tenths }
}
