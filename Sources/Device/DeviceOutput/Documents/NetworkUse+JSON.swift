package import PatchChoice
package import PatchFormat
package import PatchSync

extension NetworkUse {
    package var json: JSON {
        .fields([
            ("metered", .bool(isMetered)), ("allowance", .integer(allowance)),
            ("limitRate", rate.map { .integer($0) }),
        ])
    }
}

extension PutOffVersion {
    package var json: JSON {
        .fields([
            ("patchId", .text(label.patchID.text)), ("version", .text(version.text)),
            ("bytes", size.bytes.map { .integer($0) }), ("exact", .bool(size.isExact)),
            ("cost", wait.cost.map { .integer($0) }), ("left", .integer(wait.left)),
            ("with", wait.together.isEmpty ? nil : .array(wait.together.map { .text($0.text) })),
        ])
    }
}

extension NoRoomVersion {
    /// As events and reports have it.
    package var members: [(String, JSON?)] {
        [
            ("patchId", .text(label.patchID.text)), ("version", .text(label.version.text)),
            ("needs", .integer(wait.needs)), ("free", .integer(wait.free)), ("reserve", .integer(wait.reserve)),
        ]
    }
}

extension [NoRoomVersion] {
    /// Nil if there are none.
    package var json: JSON? { isEmpty ? nil : .array(map { .fields($0.members) }) }
}

extension PutOffVersions {
    /// As `status` tells it.
    package var told: JSON {
        .array(
            rows.sorted { $0.key < $1.key }.map { content, row in
                .fields([
                    ("patchId", .text(content.patchID.text)), ("version", .text(row.version.text)),
                    ("bytes", row.bytes.map { .integer($0) }),
                ])
            }
        )
    }
}
