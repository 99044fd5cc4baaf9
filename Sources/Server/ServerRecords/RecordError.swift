/// Reasons why records were not read or written.
package enum RecordError: Error, Equatable, Sendable {
    /// Another process has changed or removed the record meanwhile.
    case conflict(RecordKey)
    /// A valid token already has this name.
    case nameTaken(String, id: String)
    /// The file was written by a newer version of this program.
    case newerSchema(path: String)
    /// The record is malformed, because another program wrote it.
    case malformed(RecordKey, rule: String)
    /// The disk is full, access is denied, or the file is damaged. The reason is SQLite's message.
    case failed(path: String, reason: String, isFull: Bool)
}
