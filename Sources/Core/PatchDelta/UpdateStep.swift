package import PatchFormat

/// The method of updating devices from one version of a bundle to another, and its cost.
package struct UpdateStep: Equatable, Sendable {
    package enum Method: String, Sendable {
        /// The pack from the base.
        case pack
        /// The pack of the whole bundle.
        case wholePack
        case singleObjects

        package var words: String {
            switch self {
            case .pack: "pack"
            case .wholePack: "whole bundle"
            case .singleObjects: "single files"
            }
        }
    }

    package let patchID: PatchID
    package let version: VersionLabel
    package let base: VersionLabel
    package let pack: BasePack
    /// The size of the pack, or nil if there is none.
    package let packBytes: Int?
    /// The composition of the pack, or nil if there is none or it cannot be read.
    package let summary: PackSummary?
    /// The size of the signatures beside the pack: those that the base lacks, or the whole column.
    package let signatureBytes: Int
    /// The estimated cost without a pack: documents and contents in their smallest forms, and a wait for each.
    package let otherwise: Int
    package let method: Method
    /// The saving in percent of an update without the pack, or nil without a pack.
    package let saving: Int?
    /// Whether there is a pack that saves too little for the space that it needs on the server's disk.
    package let wastesSpace: Bool

    /// - Parameters:
    ///   - packBytes: nil if there is no pack.
    ///   - signatures: the size of the file beside the pack, or nil if there is none.
    ///   - column: the size of the whole column.
    package init(
        of patchID: PatchID,
        from base: VersionLabel,
        to version: VersionLabel,
        by pack: BasePack,
        packBytes: Int?,
        _ summary: PackSummary?,
        signatures: Int?,
        column: Int,
        otherwise: UpdateCost.Alternative
    ) {
        (self.patchID, self.base, self.version, self.pack) = (patchID, base, version, pack)
        (self.packBytes, self.summary) = (packBytes, summary)
        signatureBytes = signatures ?? column
        self.otherwise = otherwise.bytes
        let cost = packBytes.map {
            UpdateCost(pack: $0, signatures: signatures ?? column, otherwise: otherwise.bytes)
        }
        (saving, wastesSpace) = (cost?.saving, cost.map { !$0.isWorthItsSpace } ?? false)
        method = cost?.isWorthwhile == true ? .pack : otherwise.isWhole ? .wholePack : .singleObjects
    }

    package var json: JSON {
        .fields([
            ("patchId", .text(patchID.text)), ("version", .text(version.text)), ("base", .text(base.text)),
            ("manifest", .text(pack.manifest.hex)), ("baseManifest", .text(pack.base.hex)),
            ("packBytes", packBytes.map { .integer($0) }), ("signatureBytes", .integer(signatureBytes)),
            ("otherwiseBytes", .integer(otherwise)), ("method", .text(method.rawValue)),
            ("packFiles", summary?.json), ("saving", saving.map { .integer($0) }),
            ("wastesRoom", wastesSpace ? .bool(true) : nil),
        ])
    }
}
