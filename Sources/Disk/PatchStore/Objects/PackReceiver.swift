import Linux
package import PatchFormat
import SystemPackage

/// Receives a pack from a base: `INCOMING/<manifest sha256>.from-<base sha256>.pack.part`, renamed without `.part` when it is
/// complete.
///
/// The server's entity tag is stored in `….pack.tag`, which is written before the first byte, so that a later process can resume.
/// A pack without a strong tag is not resumed. For the part `signed`, the tag is stored in `….signed.tag`, the signatures in
/// `….signed.front`, and the rest is the pack. Nothing is ever durable, because everything that the pack produces is compared
/// with its signed digests.
package struct PackReceiver: ~Copyable {
    /// The number of bytes received.
    package private(set) var received = 0
    /// The server's strong entity tag of these bytes.
    package private(set) var validator: String?

    /// The received bytes before the pack in the part `signed`; nil for other parts.
    private(set) var front: [UInt8]?
    private let pack: BasePack
    private let part: BasePack.Part
    private let store: ObjectStore
    private var writer: (any FileWriter)?

    /// Resumes from the stored bytes.
    ///
    /// If that is not possible, they are removed with the first byte of another answer.
    fileprivate init(_ pack: BasePack, _ part: BasePack.Part, limit: Int, in store: ObjectStore) throws(FileError) {
        (self.pack, self.part, self.store) = (pack, part, store)
        let front = part == .signed ? try? store.files.read(store.front(of: pack), limit: limit) : nil
        self.front = part == .signed ? [] : nil
        guard part == .signed ? front.flatMap(BasePack.signatures) != nil : true,
            let status = try store.files.status(of: store.part(of: pack)), status.kind == .file,
            status.linkCount == 1, 1...limit ~= status.identity.size,
            let tag = try? store.files.read(store.tag(of: pack, part), limit: Limits.validator),
            case let name = String(decoding: tag, as: UTF8.self), name.isValidator
        else { return }
        let writer = try store.files.append(to: store.part(of: pack))
        (received, validator, self.writer) = ((front?.count ?? 0) + writer.offset, name, writer)
        if let front { self.front = front }
    }

    /// The number of bytes that a later request does not need again.
    package var lasting: Int { validator == nil || isInFront ? 0 : received }

    /// The stated size of the signatures, in bytes; nil if it is not stated or not received yet.
    package var signatures: Int? { front.flatMap(BasePack.signatures) }

    /// Whether the pack itself has not begun.
    private var isInFront: Bool {
        guard let front else { return false }
        return front.count < BasePack.frontCount + (signatures ?? 0)
    }

    /// Begins an answer with the bytes from `offset` on: ``received``, or 0 to start again.
    package mutating func begin(at offset: Int, validator: String?) throws(FileError) {
        precondition(offset == received || offset == 0)
        if offset > 0 { return }
        try store.remove(pack)
        received = 0
        if part == .signed { front = [] }
        self.validator = validator.flatMap { $0.isValidator ? $0 : nil }
        if let name = self.validator {
            try store.files.create(store.tag(of: pack, part), permissions: .privateFile).append(Array(name.utf8))
        }
        writer = try store.files.create(store.part(of: pack), permissions: .privateFile)
    }

    package mutating func append(_ bytes: [UInt8]) throws(FileError) {
        received += bytes.count
        guard isInFront else {
            try writer?.append(bytes)
            return
        }
        var rest = bytes[...]
        while isInFront, !rest.isEmpty {
            let missing = BasePack.frontCount + (signatures ?? 0) - (front?.count ?? 0)
            front?.append(contentsOf: rest.prefix(missing))
            rest = rest.dropFirst(missing)
        }
        guard !isInFront, let front else { return }
        try store.files.create(store.front(of: pack), permissions: .privateFile).append(front)
        if !rest.isEmpty { try writer?.append(Array(rest)) }
    }

    /// Completes the pack after its last byte.
    package consuming func finish() throws(FileError) {
        try writer?.close()
        try store.files.rename(store.part(of: pack), to: store.place(of: pack))
        try store.files.removeIfPresent(store.tag(of: pack, part))
    }
}

extension ObjectStore {
    /// Receives a pack of at most `limit` bytes.
    package func receive(_ pack: BasePack, _ part: BasePack.Part = .pack, limit: Int) throws(FileError) -> PackReceiver
    {
        try PackReceiver(pack, part, limit: limit, in: self)
    }

    /// The signatures received with a pack; nil if there are none.
    package func signatures(of pack: BasePack, limit: Int) -> [UInt8]? {
        guard let front = try? files.read(front(of: pack), limit: BasePack.frontCount + limit),
            BasePack.signatures(in: front) == front.count - BasePack.frontCount
        else { return nil }
        return Array(front.dropFirst(BasePack.frontCount))
    }

    /// The size of a complete pack in bytes; nil if it is not complete.
    package func size(of pack: BasePack) throws(FileError) -> Int? {
        guard let status = try files.status(of: place(of: pack)), status.kind == .file else { return nil }
        return status.identity.size
    }

    /// The number of a pack's stored bytes that no request needs again, and whether the pack is complete.
    package func received(of pack: BasePack) throws(FileError) -> (bytes: Int, isWhole: Bool) {
        if let size = try size(of: pack) { return (size, true) }
        guard let status = try files.status(of: part(of: pack)), status.kind == .file else { return (0, false) }
        if try files.status(of: tag(of: pack, .pack)) != nil { return (status.identity.size, false) }
        guard try files.status(of: tag(of: pack, .signed)) != nil, let front = try files.status(of: front(of: pack))
        else {
            return (0, false)
        }
        return (front.identity.size + status.identity.size, false)
    }

    /// Whether a complete pack for this manifest is stored, from any base.
    package func hasPack(to manifest: SHA256Digest) throws(FileError) -> Bool {
        try files.list(incoming).contains { $0.hasPrefix("\(manifest).from-") && $0.hasSuffix(".pack") }
    }

    package func open(_ pack: BasePack, limit: Int) throws(FileError) -> any FileReader {
        try files.open(place(of: pack), limit: limit)
    }

    /// Removes the stored files of a pack.
    package func remove(_ pack: BasePack) throws(FileError) {
        // A part without its tag is not resumed; a tag without its part is ignored.
        for part in [BasePack.Part.pack, .signed] { try files.removeIfPresent(tag(of: pack, part)) }
        try files.removeIfPresent(front(of: pack))
        try files.removeIfPresent(part(of: pack))
        try files.removeIfPresent(place(of: pack))
    }

    fileprivate func place(of pack: BasePack) -> FilePath {
        incoming.at("\(pack.manifest).\(pack.name(of: .pack))")
    }

    fileprivate func part(of pack: BasePack) -> FilePath {
        incoming.at("\(pack.manifest).\(pack.name(of: .pack)).part")
    }

    fileprivate func tag(of pack: BasePack, _ part: BasePack.Part) -> FilePath {
        incoming.at("\(pack.manifest).\(pack.name(of: part)).tag")
    }

    fileprivate func front(of pack: BasePack) -> FilePath {
        incoming.at("\(pack.manifest).\(pack.name(of: .signed)).front")
    }
}

extension String {
    fileprivate var isValidator: Bool { !isEmpty && utf8.allSatisfy { (0x20...0x7E).contains($0) } }
}
