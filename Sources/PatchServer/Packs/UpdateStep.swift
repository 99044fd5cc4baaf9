package import PatchFormat
import ReleaseTree

/// What brings devices from one version of a bundle to one that is listed, and what it costs.
package struct UpdateStep: Equatable, Sendable {
    package enum Method: String, Sendable {
        /// The pack from the base.
        case pack
        /// The pack of the whole bundle.
        case wholePack
        case singleObjects
    }

    package let patchID: PatchID
    package let version: VersionLabel
    package let base: VersionLabel
    package let pack: BasePack
    /// Of the pack; nil where there is none.
    package let packBytes: Int?
    /// Of what comes beside it: the signatures that the base lacks, or the whole column.
    package let signatureBytes: Int
    /// Without a pack, as estimated: documents and contents in their smallest forms, and a wait for each.
    package let otherwise: Int
    package let method: Method
}

extension UpdateStep {
    /// - Parameters:
    ///   - signatures: of the file beside the pack; nil where there is none.
    ///   - column: of the whole column.
    init(_ job: PackPlan.Job, pack: Int?, signatures: Int?, column: Int, otherwise: UpdateCost.Otherwise) {
        patchID = job.new.label.patchID
        (version, base) = (job.new.label.version, job.base.label.version)
        self.pack = job.pack
        packBytes = pack
        signatureBytes = signatures ?? column
        self.otherwise = otherwise.bytes
        let isWorthIt = pack.map {
            UpdateCost(pack: $0, signatures: signatures ?? column, otherwise: otherwise.bytes).isWorthIt
        }
        method = isWorthIt == true ? .pack : otherwise.isWhole ? .wholePack : .singleObjects
    }

    package var json: JSON {
        .fields([
            ("patchId", .text(patchID.text)), ("version", .text(version.text)), ("base", .text(base.text)),
            ("manifest", .text(pack.manifest.hex)), ("baseManifest", .text(pack.base.hex)),
            ("packBytes", packBytes.map { .integer($0) }), ("signatureBytes", .integer(signatureBytes)),
            ("otherwiseBytes", .integer(otherwise)), ("method", .text(method.rawValue)),
        ])
    }
}
