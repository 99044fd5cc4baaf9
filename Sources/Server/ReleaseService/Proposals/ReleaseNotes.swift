package import PatchFormat

/// Descriptive data on a release.
///
/// It is not signed, and devices do not receive it.
package struct ReleaseNotes: Equatable, Sendable {
    package static let labelLimit = 64
    package static let authorLimit = 200
    package static let notesLimit = 16_384

    /// A name in one line, such as `spring sale`.
    package var label: String?
    /// Notes of any number of lines.
    package var notes: String?
    package var author: String?
    /// The commit of its source: 7 to 64 hex digits.
    package var commit: String?

    package init() {}

    package init(_ fields: Fields) throws(FormatError) {
        label = try Self.line(fields, "label", limit: Self.labelLimit)
        author = try Self.line(fields, "author", limit: Self.authorLimit)
        notes = try fields.optionalString("notes")
        if let notes {
            let isText = notes.unicodeScalars.allSatisfy { $0 == "\n" || $0 == "\t" || !$0.properties.isControl }
            guard notes.utf8.count <= Self.notesLimit, isText else {
                throw fields.broken("notes", "must be at most \(Self.notesLimit) bytes without control characters")
            }
        }
        commit = try fields.optionalString("commit")
        if let commit {
            let isHex = commit.utf8.allSatisfy { Hex.value(of: $0) != nil }
            guard isHex, (7...64).contains(commit.utf8.count) else {
                throw fields.broken("commit", "must be 7 to 64 lowercase hex digits")
            }
        }
    }

    /// Parses one line of text; nil if the field is missing.
    static func line(_ fields: Fields, _ key: String, limit: Int) throws(FormatError) -> String? {
        guard let text = try fields.optionalString(key) else { return nil }
        guard text.isOneLine(upTo: limit) else { throw fields.broken(key, String.oneLineRule(upTo: limit)) }
        return text
    }

    package var members: [(String, JSON?)] {
        [
            ("label", label.map { .text($0) }), ("notes", notes.map { .text($0) }),
            ("author", author.map { .text($0) }), ("commit", commit.map { .text($0) }),
        ]
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isControl: Bool { generalCategory == .control }
}

/// A new label or new notes for a published release; author and commit are unchanged.
///
/// ```
/// { "label": "spring sale", "notes": null }
/// ```
package struct NotesEdit: Equatable, Sendable {
    private static let editable: Set = ["label", "notes"]

    /// The names of the changed members.
    private let names: Set<String>
    private let said: ReleaseNotes

    /// - Parameter fields: `null` removes a member; missing ones are unchanged.
    package init(_ fields: Fields) throws(FormatError) {
        let members = fields.object.members
        names = Set(members.map(\.key.text))
        if let other = names.subtracting(Self.editable).min() {
            throw fields.broken(other, "cannot be edited: only label and notes can")
        }
        guard !names.isEmpty else { throw fields.broken("label", "or notes is needed") }
        var object = fields.object
        for member in members where member.value == .null { object[member.key.text] = nil }
        said = try ReleaseNotes(Fields(.object(object), of: fields.document))
    }

    package func applied(to notes: ReleaseNotes) -> ReleaseNotes {
        var notes = notes
        if names.contains("label") { notes.label = said.label }
        if names.contains("notes") { notes.notes = said.notes }
        return notes
    }
}
