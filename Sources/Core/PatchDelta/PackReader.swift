import PatchCompression
package import PatchFormat
import PatchCrypto

/// A result of reading a pack, in order.
package enum PackResult: Equatable, Sendable {
    /// The next bytes of the content of this row of the new manifest.
    case piece([UInt8], row: Int)
    /// All bytes of this row have been received. They are not verified yet.
    case content(Fingerprint, row: Int)
}

/// Applies a pack to its base while it arrives.
///
/// The pack is not trusted: every count, size and position is checked before it is used, and ``finish()`` returns the new manifest
/// only if it is the requested one. Until then, the caller must store contents separately or under their digests.
///
/// ```
/// magic ─▶ head ─▶ the rows that the tokens produce ─▶ group 1 ─▶ … ─▶ end
/// ```
package struct PackReader: ~Copyable {
    private enum State {
        case magic
        case head(PackHead.Version, length: Int)
        case rows
        case group(Int)
        case contents(group: Int)
        case passing(LargeContent, group: Int)
        case end
    }

    private let base: PackManifest
    private let manifest: SHA256Digest
    private let size: Int
    private let objects: PackObjects
    private let limits: Bounds
    private var state = State.magic
    private var input = PackInput()
    private var application: PackApplication?
    /// The content of a group, and its rows that were not returned yet, the last first.
    private var content: [UInt8] = []
    private var places: [(row: Int, range: Range<Int>)] = []
    private var told: (row: Int, fingerprint: Fingerprint)?

    /// The limits of a pack.
    ///
    /// Sizes are in bytes.
    package struct Bounds: Sendable {
        /// The size of the pack.
        package let pack: Int
        /// The bytes read of the base, counting repeated reads, and all bytes made: contents and prefixes.
        ///
        /// A ``PackMaker`` stays within ``PackLimits/work(base:)``.
        package let contents: Int

        package init(pack: Int, contents: Int) {
            (self.pack, self.contents) = (pack, contents)
        }
    }

    /// - Parameters:
    ///   - manifest: the signed digest of the new manifest.
    ///   - size: its signed size. The head of a pack is never larger, and costs a reader some hundred times its bytes.
    ///   - objects: the contents of the base.
    package init(
        base: PackManifest,
        manifest: SHA256Digest,
        size: Int = Limits.manifest,
        objects: PackObjects,
        limits: Bounds
    ) {
        (self.base, self.manifest, self.objects, self.limits) = (base, manifest, objects, limits)
        self.size = min(size, PackLimits.head)
    }

    /// Adds the next bytes of the pack.
    ///
    /// Call ``next()`` until it returns nil before adding more.
    package mutating func feed(_ bytes: [UInt8]) {
        input.append(bytes)
    }

    /// Returns the next result, or nil if more of the pack is needed or it has ended.
    package mutating func next() throws(PackError) -> PackResult? {
        guard input.total <= limits.pack else { throw .tooLong(limit: limits.pack) }
        while true {
            if let (row, fingerprint) = told.take() {
                application?.take(fingerprint, row: row)
                return .content(fingerprint, row: row)
            }
            switch state {
            case .magic:
                guard let (version, length) = try input.beginning(limits.pack) else { return nil }
                state = .head(version, length: length)
            case .head(let version, let length):
                guard let beginning = input.first(min(length, ZstandardFrame.headerBytes)) else { return nil }
                _ = try PackHead.check(beginning: beginning, limit: size)
                guard let frame = input.take(length) else { return nil }
                let head = try PackHead(frame: frame, version: version, base: base)
                application = try PackApplication(head, base: base, objects: objects, limit: limits.contents)
                let groups = head.groups.reduce(0) { $0 + $1.length }
                guard groups <= limits.pack - (input.total - input.count) else { throw .tooLong(limit: limits.pack) }
                state = .rows
            case .rows:
                guard let (row, bytes) = try application?.substituted() else {
                    state = .group(0)
                    continue
                }
                return hand(bytes, row)
            case .group(let number):
                guard let group = application?.group(number) else {
                    state = .end
                    continue
                }
                if group.size > PackLimits.held, let row = group.rows.first {
                    let large = try LargeContent(row, size: group.size, length: group.length, group: number)
                    state = .passing(large, group: number)
                    continue
                }
                guard let frame = input.take(group.length) else { return nil }
                content = try application?.content(of: number, frame) ?? []
                places = application?.places(of: number).reversed() ?? []
                state = .contents(group: number)
            case .contents(let number):
                guard let (row, range) = places.popLast() else {
                    content = []
                    state = .group(number + 1)
                    continue
                }
                return hand(Array(content[range]), row)
            case .passing(let content, let number):
                if let piece = try content.next(&input, group: number) { return .piece(piece, row: content.row) }
                guard let fingerprint = content.fingerprint() else { return nil }
                told = (content.row, fingerprint)
                state = .group(number + 1)
            case .end:
                guard input.count == 0 else { throw .trailing }
                return nil
            }
        }
    }

    private mutating func hand(_ bytes: [UInt8], _ row: Int) -> PackResult {
        told = (row, Fingerprint(of: bytes))
        return .piece(bytes, row: row)
    }

    /// Returns the new manifest in file form.
    ///
    /// Its digest is the requested one.
    package consuming func finish() throws(PackError) -> [UInt8] {
        guard case .end = state, told == nil, let application else { throw .incomplete }
        guard input.count == 0 else { throw .trailing }
        let bytes = try application.manifest()
        let found = SHA256Digest(of: bytes)
        guard found == manifest else { throw .otherManifest(found, asked: manifest) }
        return bytes
    }
}
