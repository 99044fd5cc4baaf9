import PatchFormat

/// The state of an upload on the server, with the parts that it lacks.
struct UploadState: Equatable, Sendable {
    struct Need: Equatable, Sendable {
        /// A target's path, or the entry of an object.
        let name: String
        let sha256: SHA256Digest
        let size: Int
    }

    /// The largest number that a list and manifests of the maximum size can name.
    private static let needsLimit = 2_000_000

    let id: String
    let needs: [Need]
    /// The compression that the server accepts for parts; nil for none.
    let coding: CompressionFormat?
    /// For each missing manifest, the versions on the server from which a pack can make it.
    ///
    /// Empty if the server accepts no packs.
    let bases: [SHA256Digest: [SHA256Digest]]
    /// Whether the server supports the rollout of a push.
    let takesRollout: Bool

    init(_ id: String, needs: [Need], coding: CompressionFormat?) {
        (self.id, self.needs, self.coding, bases) = (id, needs, coding, [:])
        takesRollout = false
    }

    init(_ fields: Fields) throws(ServiceError) {
        do throws(FormatError) {
            id = try fields.digest("upload", as: SHA256Digest.self).hex
            var needs: [Need] = []
            for (index, value) in try fields.array("needs", limit: Self.needsLimit).enumerated() {
                let row = try Fields(value, of: fields.document, at: "needs[\(index)]")
                needs.append(
                    Need(
                        name: try row.string("name"),
                        sha256: try row.digest("sha256"),
                        size: try row.integer("size", in: 0...Limits.object)
                    )
                )
            }
            self.needs = needs
            let codings = fields.has("codings") ? try fields.strings("codings", limit: 100) : []
            coding = codings.contains(CompressionFormat.zstandard.rawValue) ? .zstandard : nil
            var bases: [SHA256Digest: [SHA256Digest]] = [:]
            for (index, value) in (fields.has("bases") ? try fields.array("bases", limit: Limits.patchesInList) : [])
                .enumerated()
            {
                let row = try Fields(value, of: fields.document, at: "bases[\(index)]")
                bases[try row.digest("manifest")] = try row.strings("from", limit: 1_000).compactMap(
                    SHA256Digest.init(hex:)
                )
            }
            self.bases = bases
            takesRollout =
                fields.has("takes") ? try fields.strings("takes", limit: 100).contains("rollout") : false
        } catch { throw .malformed(error) }
    }
}
