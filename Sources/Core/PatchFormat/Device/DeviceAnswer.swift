/// A server's answer to a device's question: whether the device has its places, and the versions chosen for its user or for
/// everyone.
///
/// The answer is not signed, so it cannot offer a version: a device looks up every content that it names in the signed list.
package struct DeviceAnswer: Hashable, Sendable {
    package static let format = "patchline-answer-v1"

    package struct Place: Hashable, Sendable {
        package let patchID: PatchID
        package let sha256: SHA256Digest
        package let isGiven: Bool

        package init(patchID: PatchID, sha256: SHA256Digest, isGiven: Bool) {
            self.patchID = patchID
            self.sha256 = sha256
            self.isGiven = isGiven
        }
    }

    /// The choice for one patch.
    package enum Choice: Hashable, Sendable {
        /// This listed version only. If it is forced, a running app switches at once.
        case version(SHA256Digest, isForced: Bool)
        /// No new version.
        case hold
    }

    package let places: [Place]
    package let choices: [PatchID: Choice]

    package init(places: [Place], choices: [PatchID: Choice]) {
        self.places = places
        self.choices = choices
    }

    package init(_ bytes: [UInt8], named document: String = "answer") throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: document, limit: Limits.answer), of: document)
        try fields.constant("format", Self.format)
        var places: [Place] = []
        for (index, value) in try fields.array("places", limit: Limits.placesInQuestion).enumerated() {
            let row = try Fields(value, of: document, at: "places[\(index)]")
            places.append(
                Place(
                    patchID: try row.name("patchId"),
                    sha256: try row.digest("sha256"),
                    isGiven: try row.bool("place")
                )
            )
        }
        self.places = places
        var choices: [PatchID: Choice] = [:]
        for (index, value) in try fields.array("choices", limit: Limits.choicesInAnswer).enumerated() {
            let row = try Fields(value, of: document, at: "choices[\(index)]")
            let id: PatchID = try row.name("patchId")
            guard choices.updateValue(try Choice(row), forKey: id) == nil else {
                throw fields.broken("choices", "must not name a patch twice")
            }
        }
        self.choices = choices
    }

    package var json: JSON {
        let given = places.map { place in
            JSON.fields([
                ("patchId", .text(place.patchID.text)), ("sha256", .text(place.sha256.hex)),
                ("place", .bool(place.isGiven)),
            ])
        }
        let chosen = choices.sorted { $0.key < $1.key }.map { id, choice in
            JSON.fields([("patchId", .text(id.text))] + choice.members)
        }
        return .fields([("format", .text(Self.format)), ("places", .array(given)), ("choices", .array(chosen))])
    }
}

extension DeviceAnswer.Choice {
    fileprivate init(_ fields: Fields) throws(FormatError) {
        guard fields.has("hold") else {
            self = .version(try fields.digest("sha256"), isForced: try fields.bool("forced", default: false))
            return
        }
        guard try fields.bool("hold"), !fields.has("sha256"), !fields.has("forced") else {
            throw fields.broken("hold", "must be true, without sha256 and forced")
        }
        self = .hold
    }

    fileprivate var members: [(String, JSON?)] {
        switch self {
        case .version(let sha256, let isForced): [("sha256", .text(sha256.hex)), ("forced", .bool(isForced))]
        case .hold: [("hold", .bool(true))]
        }
    }
}
