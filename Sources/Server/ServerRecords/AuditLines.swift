import PatchFormat

/// Verifies an exported log, one entry a line, while it is read.
package struct AuditLines: Sendable {
    /// The maximum size of one entry in bytes.
    package static let lineLimit = Limits.stateFile

    private var chain: AuditChain
    private var line: [UInt8] = []
    private var isTooLong = false

    /// - Parameter head: See ``AuditChain``.
    package init(mustHold head: String? = nil) {
        chain = AuditChain(mustHold: head)
    }

    package mutating func take(_ bytes: [UInt8]) {
        for piece in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            if piece.offset > 0 { end() }
            if line.count + piece.element.count > Self.lineLimit {
                isTooLong = true
                line = []
            } else if !isTooLong {
                line += piece.element
            }
        }
    }

    /// The result for the whole file.
    package mutating func finish() -> AuditChain {
        if !line.isEmpty || isTooLong { end() }
        chain.finish()
        return chain
    }

    private mutating func end() {
        defer { (line, isTooLong) = ([], false) }
        guard !isTooLong else { return chain.take(unreadable: "it has more than \(Self.lineLimit) bytes") }
        do throws(FormatError) {
            let json = try JSON.document(line, named: "line", limit: Self.lineLimit)
            do throws(RecordError) { chain.take(try AuditEntry(json, key: AuditEntry.key(0))) } catch {
                chain.take(unreadable: "it is not an audit log entry")
            }
        } catch { chain.take(unreadable: error.description) }
    }
}
