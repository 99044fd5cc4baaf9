import NIOConcurrencyHelpers
package import PatchFormat
import PatchCrypto
import PatchTrust

/// The patches of a selection and the keys that their entries were verified with: the content of `selections/<sha256>.json`.
///
/// Two contents with the same bytes are equal. The content of a selection that is only kept for a rollback is read when it is
/// first used. If its file is unreadable then, it counts as lost, which is distinct from any stored content.
package final class SelectionContent: Sendable {
    static let format = "patchline-selection-v1"

    package struct Rows: Equatable, Sendable {
        /// Sorted by id.
        let patches: [InstalledPatch]
        let entryKeys: EntryKeys

        init(patches: [InstalledPatch], entryKeys: EntryKeys) {
            self.patches = patches.sorted { $0.patchID < $1.patchID }
            self.entryKeys = entryKeys
        }

        static let none = Rows(patches: [], entryKeys: .none)
    }

    private enum State {
        case known(Rows)
        case unread(@Sendable () -> Rows?)
        case lost
    }

    private let state: NIOLockedValueBox<State>
    private let knownDigest: NIOLockedValueBox<SHA256Digest?>

    init(_ rows: Rows) {
        state = NIOLockedValueBox(.known(rows))
        knownDigest = NIOLockedValueBox(nil)
    }

    /// The content of a file that was read.
    package init(_ rows: Rows, digest: SHA256Digest) {
        state = NIOLockedValueBox(.known(rows))
        knownDigest = NIOLockedValueBox(digest)
    }

    /// - Parameter read: Reads the file. Returns nil if the file is missing or has another digest.
    package init(unread digest: SHA256Digest, _ read: @escaping @Sendable () -> Rows?) {
        state = NIOLockedValueBox(.unread(read))
        knownDigest = NIOLockedValueBox(digest)
    }

    /// Empty if the content is lost.
    package var rows: Rows { read() ?? .none }

    /// Whether its file is unreadable.
    package var isLost: Bool { read() == nil }

    private func read() -> Rows? {
        switch state.withLockedValue(\.self) {
        case .known(let rows): return rows
        case .lost: return nil
        case .unread(let read):
            let rows = read()
            state.withLockedValue { $0 = rows.map { .known($0) } ?? .lost }
            return rows
        }
    }

    /// The digest of its bytes, which names its file.
    package var digest: SHA256Digest {
        if let known = knownDigest.withLockedValue(\.self) { return known }
        let digest = SHA256Digest(of: rows.bytes)
        knownDigest.withLockedValue { $0 = digest }
        return digest
    }

    static func == (left: SelectionContent, right: SelectionContent) -> Bool {
        if left === right { return true }
        if let one = left.knownDigest.withLockedValue(\.self), let other = right.knownDigest.withLockedValue(\.self) {
            return one == other
        }
        return left.rows == right.rows
    }
}

extension SelectionContent.Rows {
    /// The canonical form of the file.
    package var bytes: [UInt8] { JSON.fields([("format", .text(SelectionContent.format))] + members).fileBytes }

    var members: [(String, JSON?)] {
        [("patches", .array(patches.map(\.json))), (EntryKeys.member, entryKeys.json)]
    }

    package init(_ bytes: [UInt8], named document: String, limit: Int = Limits.selection) throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: document, limit: limit), of: document)
        try fields.constant("format", SelectionContent.format)
        try self.init(fields)
    }

    package init(_ fields: Fields) throws(FormatError) {
        var patches: [InstalledPatch] = []
        for (index, value) in try fields.array("patches", limit: Limits.patchesInList).enumerated() {
            patches.append(
                try InstalledPatch(try Fields(value, of: fields.document, at: "\(fields.at("patches"))[\(index)]"))
            )
        }
        self.init(patches: patches, entryKeys: try EntryKeys(fields))
    }
}
