import PatchFormat

/// What a server says of an upload: which parts it lacks.
struct UploadState: Equatable, Sendable {
    struct Need: Equatable, Sendable {
        /// A target's path, or the entry that an object belongs to.
        let name: String
        let sha256: SHA256Digest
        let size: Int
    }

    /// As a list and manifests of the largest size can name.
    private static let needsLimit = 2_000_000

    let id: String
    let needs: [Need]
    /// The compressed form that parts may be sent in; nil for a server that knows none.
    let coding: CompressionFormat?

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
        } catch { throw .malformed(error) }
    }
}
