import PatchFormat

/// Collects the mistakes of a document while reading continues.
final class Mistakes {
    private(set) var found: [FormatError] = []
    private(set) var warnings: [FormatError] = []

    func add(_ error: FormatError) {
        found.append(error)
    }

    func warning(_ error: FormatError) {
        warnings.append(error)
    }

    /// Returns the value, or nil if reading failed.
    func take<Value>(_ read: () throws(FormatError) -> Value) -> Value? {
        do throws(FormatError) { return try read() } catch {
            found.append(error)
            return nil
        }
    }

    /// Adds a mistake for each unknown member.
    func allow(_ known: Set<String>, in fields: Fields) {
        for member in fields.object.members where !known.contains(member.key.text) {
            add(fields.unknown(member.key.text, known: known))
        }
    }
}
