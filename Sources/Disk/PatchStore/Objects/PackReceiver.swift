import Linux
package import PatchFormat
import SystemPackage

/// A pack from a base on its way in: `INCOMING/<manifest sha256>.from-<base sha256>.pack.part` while it comes, without `.part`
/// once all of it is here.
///
/// What the server calls it stands in `….pack.tag`, and is written before its first byte, so that a later process goes on at
/// the byte; a pack without a strong name is not gone on with. Of the part `signed` the name stands in `….signed.tag`, the
/// signatures in `….signed.front`, and the rest is the pack. Nothing here is ever durable: whatever the pack makes is compared
/// with what was signed.
package struct PackReceiver: ~Copyable {
    /// How many bytes are here.
    package private(set) var received = 0
    /// The server's strong name for them.
    package private(set) var validator: String?

    /// Of the part `signed`, what stands before the pack, as far as it came; nil of others.
    private(set) var front: [UInt8]?
    private let pack: BasePack
    private let part: BasePack.Part
    private let store: ObjectStore
    private var writer: (any FileWriter)?

    /// Goes on with what is here; whatever cannot be gone on with is removed with the first byte of another answer.
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

    /// How many bytes no later request asks for.
    package var lasting: Int { validator == nil || isInFront ? 0 : received }

    /// How many bytes of signatures it says that it has; nil where it says nothing of that, or not yet.
    package var signatures: Int? { front.flatMap(BasePack.signatures) }

    /// Whether the pack itself has not begun.
    private var isInFront: Bool {
        guard let front else { return false }
        return front.count < BasePack.frontCount + (signatures ?? 0)
    }

    /// An answer begins, with the bytes from `offset` on: ``received``, or 0 to start again.
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

    /// All of it is here.
    package consuming func finish() throws(FileError) {
        try writer?.close()
        try store.files.rename(store.part(of: pack), to: store.place(of: pack))
        try store.files.removeIfPresent(store.tag(of: pack, part))
    }
}

extension ObjectStore {
    /// Of a pack of at most `limit` bytes.
    package func receive(_ pack: BasePack, _ part: BasePack.Part = .pack, limit: Int) throws(FileError) -> PackReceiver
    {
        try PackReceiver(pack, part, limit: limit, in: self)
    }

    /// The signatures that came with a pack; nil where it came without.
    package func signatures(of pack: BasePack, limit: Int) -> [UInt8]? {
        guard let front = try? files.read(front(of: pack), limit: BasePack.frontCount + limit),
            BasePack.signatures(in: front) == front.count - BasePack.frontCount
        else { return nil }
        return Array(front.dropFirst(BasePack.frontCount))
    }

    /// How many bytes a pack has of which all is here; nil for any other.
    package func size(of pack: BasePack) throws(FileError) -> Int? {
        guard let status = try files.status(of: place(of: pack)), status.kind == .file else { return nil }
        return status.identity.size
    }

    /// How many bytes of a pack are here that no request asks for again, and whether that is all of it.
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

    /// Whether a whole pack that makes this manifest is here, from any base.
    package func hasPack(to manifest: SHA256Digest) throws(FileError) -> Bool {
        try files.list(incoming).contains { $0.hasPrefix("\(manifest).from-") && $0.hasSuffix(".pack") }
    }

    package func open(_ pack: BasePack, limit: Int) throws(FileError) -> any FileReader {
        try files.open(place(of: pack), limit: limit)
    }

    /// Removes what is here of a pack.
    package func remove(_ pack: BasePack) throws(FileError) {
        // A part without its tag is not gone on with; a tag without its part is not read.
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
