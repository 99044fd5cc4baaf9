package import PatchFormat

/// Another label or other notes for a release that was published; author and commit stay what they were.
///
/// ```
/// { "label": "spring sale", "notes": null }
/// ```
package struct NotesEdit: Equatable, Sendable {
    private static let editable: Set = ["label", "notes"]

    /// Those members that change.
    private let names: Set<String>
    private let said: ReleaseNotes

    /// - Parameter fields: `null` takes one away, and what does not stand there stays.
    package init(_ fields: Fields) throws(FormatError) {
        let members = fields.object.members
        names = Set(members.map(\.key.text))
        if let other = names.subtracting(Self.editable).min() {
            throw fields.broken(other, "cannot be edited: only label and notes can")
        }
        guard !names.isEmpty else { throw fields.broken("label", "or notes must stand there") }
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
