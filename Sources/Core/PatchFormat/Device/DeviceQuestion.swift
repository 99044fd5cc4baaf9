/// A device's question to its server: places in versions with a headcount, and the versions chosen for its user.
///
/// It identifies neither the device nor the user: `device` is a name for one version only, and `user` is a hash.
package struct DeviceQuestion: Hashable, Sendable {
    package struct Place: Hashable, Sendable {
        package let patchID: PatchID
        package let sha256: SHA256Digest
        /// The name by which the server knows the device for this version only.
        package let device: SHA256Digest

        package init(patchID: PatchID, sha256: SHA256Digest, device: SHA256Digest) {
            self.patchID = patchID
            self.sha256 = sha256
            self.device = device
        }
    }

    package let user: SHA256Digest?
    package let places: [Place]

    package init(user: SHA256Digest?, places: [Place]) {
        self.user = user
        self.places = places
    }

    package init(_ bytes: [UInt8], named document: String = "question") throws(FormatError) {
        try self.init(Fields(try JSON.document(bytes, named: document, limit: Limits.question), of: document))
    }

    package init(_ fields: Fields) throws(FormatError) {
        user = fields.has("user") ? try fields.digest("user") : nil
        var places: [Place] = []
        if fields.has("places") {
            for (index, value) in try fields.array("places", limit: Limits.placesInQuestion).enumerated() {
                let row = try Fields(value, of: fields.document, at: "places[\(index)]")
                places.append(
                    Place(
                        patchID: try row.name("patchId"),
                        sha256: try row.digest("sha256"),
                        device: try row.digest("device")
                    )
                )
            }
        }
        guard Set(places.map { "\($0.patchID)/\($0.sha256.hex)" }).count == places.count else {
            throw fields.broken("places", "must not name a version twice")
        }
        self.places = places
    }

    package var json: JSON {
        .fields([
            ("user", user.map { .text($0.hex) }),
            (
                "places",
                .array(
                    places.map {
                        .fields([
                            ("patchId", .text($0.patchID.text)), ("sha256", .text($0.sha256.hex)),
                            ("device", .text($0.device.hex)),
                        ])
                    }
                )
            ),
        ])
    }
}
