import Linux
package import PatchFormat
import SystemPackage

/// A server's last answer to a request for a bundle's whole pack: `INCOMING/<manifest sha256>.full.tag`.
///
/// Like an ``ObjectValidator`` it is only a hint: a wrong one costs a request, because every object is compared with its entry.
package struct PackFacts: Equatable, Sendable {
    /// The compression of the answer; nil for none.
    package let coding: CompressionFormat?
    /// The size of the whole pack during the transfer; nil if the server did not report it.
    package let length: Int?
    /// The server's strong entity tag of the form; nil if it has none.
    package let validator: String?
    /// The number of bytes of the form on the disk.
    ///
    /// A later request resumes after them.
    package var kept = 0

    package init(coding: CompressionFormat?, length: Int?, validator: String?) {
        (self.coding, self.length) = (coding, length)
        self.validator = validator.flatMap { $0.isHeaderValue ? $0 : nil }
    }

    /// Three lines: form, length, and name; each may be empty.
    init?(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 3 else { return nil }
        let coding = CompressionFormat(rawValue: String(lines[0]))
        guard coding != nil || lines[0].isEmpty else { return nil }
        let length = Int(lines[1])
        guard lines[1].isEmpty || length.map({ $0 >= 0 }) == true else { return nil }
        self.init(coding: coding, length: length, validator: String(lines[2]))
    }

    var text: String { "\(coding?.rawValue ?? "")\n\(length.map { "\($0)" } ?? "")\n\(validator ?? "")" }
}

/// The compressed form of a bundle's whole pack while it arrives, kept in `INCOMING/<manifest sha256>.full.zst` or `.gz`.
///
/// A compressed stream can only be decoded from its start. With its first bytes on the disk, a later request continues at the
/// byte, and the received bytes are decoded again. The file is never durable. It is removed when the bundle is installed.
package struct PackForm {
    /// Smaller packs begin again: keeping them costs more than it saves.
    package static let worthKeeping = 65_536

    /// Whether a later request can continue after these bytes.
    package var isKept: Bool { writer != nil }

    private let manifest: SHA256Digest
    private let store: ObjectStore
    private var writer: (any FileWriter)?

    fileprivate init(of manifest: SHA256Digest, in store: ObjectStore, _ writer: (any FileWriter)?) {
        (self.manifest, self.store, self.writer) = (manifest, store, writer)
    }

    /// Adds the next bytes of the form.
    ///
    /// If the disk is full, the form is removed: the objects need the space.
    package mutating func append(_ bytes: [UInt8]) throws(FileError) {
        guard let writer else { return }
        do throws(FileError) { try writer.append(bytes) } catch .noSpace {
            self.writer = nil
            try store.removePack(of: manifest)
        }
    }
}

extension ObjectStore {
    /// The facts of an earlier request for a bundle's pack; nil if there are none.
    package func packFacts(of manifest: SHA256Digest) throws(FileError) -> PackFacts? {
        guard let bytes = try? files.read(packTag(of: manifest), limit: Limits.validator + 64),
            var facts = PackFacts(String(decoding: bytes, as: UTF8.self))
        else { return nil }
        guard let coding = facts.coding, facts.validator != nil,
            let status = try files.status(of: packForm(coding, of: manifest)), status.kind == .file,
            status.linkCount == 1, facts.length.map({ status.identity.size <= $0 }) ?? true
        else { return facts }
        facts.kept = status.identity.size
        return facts
    }

    /// Begins an answer at the first byte of the pack.
    ///
    /// Files of an earlier answer are removed.
    package func beginPack(of manifest: SHA256Digest, _ facts: PackFacts) throws(FileError) -> PackForm {
        try removePack(of: manifest)
        do throws(FileError) {
            try files.create(packTag(of: manifest), permissions: .privateFile).append(Array(facts.text.utf8))
            guard let coding = facts.coding, facts.validator != nil else {
                return PackForm(of: manifest, in: self, nil)
            }
            let writer = try files.create(packForm(coding, of: manifest), permissions: .privateFile)
            return PackForm(of: manifest, in: self, writer)
        } catch .noSpace {
            try removePack(of: manifest)
            return PackForm(of: manifest, in: self, nil)
        }
    }

    /// Continues after the bytes on the disk.
    ///
    /// - Precondition: ``packFacts(of:)`` named this form.
    package func continuePack(of manifest: SHA256Digest, _ coding: CompressionFormat) throws(FileError) -> PackForm {
        PackForm(of: manifest, in: self, try files.append(to: packForm(coding, of: manifest)))
    }

    /// The stored bytes, from the first one.
    package func keptPack(
        of manifest: SHA256Digest,
        _ coding: CompressionFormat,
        limit: Int
    ) throws(FileError) -> any FileReader {
        try files.open(packForm(coding, of: manifest), limit: limit)
    }

    /// Removes the stored bytes and facts of a bundle's pack.
    package func removePack(of manifest: SHA256Digest) throws(FileError) {
        // A tag without its form is still a fact; a form without its tag is ignored.
        for coding in CompressionFormat.allCases { try files.removeIfPresent(packForm(coding, of: manifest)) }
        try files.removeIfPresent(packTag(of: manifest))
    }

    /// The suffixes of whole packs' files, after the manifest's digest.
    static let packEndings = [".full.tag"] + CompressionFormat.allCases.map { ".full\($0.suffix)" }

    private func packTag(of manifest: SHA256Digest) -> FilePath { incoming.at("\(manifest).full.tag") }

    private func packForm(_ coding: CompressionFormat, of manifest: SHA256Digest) -> FilePath {
        incoming.at("\(manifest).full\(coding.suffix)")
    }
}

extension String {
    fileprivate var isHeaderValue: Bool { !isEmpty && utf8.allSatisfy { (0x20...0x7E).contains($0) } }
}
