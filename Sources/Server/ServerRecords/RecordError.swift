/// Why records were not read or written.
package enum RecordError: Error, Equatable, Sendable {
    /// Another has written, or removed, the record meanwhile.
    case conflict(RecordKey)
    /// A valid token has this name already.
    case nameTaken(String, id: String)
    /// A newer version of this program has written the file.
    case newerSchema(path: String)
    /// A record that cannot be read: somebody else wrote it.
    case malformed(RecordKey, rule: String)
    /// No room, no permission, damage: in SQLite's words.
    case failed(path: String, reason: String, isFull: Bool)
}
