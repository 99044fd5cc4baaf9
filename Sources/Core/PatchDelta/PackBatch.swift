import PatchCompression
import PatchFormat

/// Rows that are compressed together or one by one, whichever is smaller.
struct PackBatch {
    struct Member {
        let row: PackPlan.Row
        let content: [UInt8]
        /// The reference with the tokens replaced, or nil if there is none.
        let reference: [UInt8]?
        /// The size of the reference in the base, in bytes.
        let read: Int

        /// Whether replacing the tokens gives the content, so that the pack need not contain it.
        var isMade: Bool { reference == content }
    }

    struct Made {
        var exceptions: [PackHead.ExceptionalRow] = []
        var groups: [PackHead.Group] = []
        var frames: [[UInt8]] = []
        /// The members of each group.
        private(set) var members: [[Member]] = []
        /// Bytes that a reader reads of the base and makes.
        var work = 0

        /// The size of the frames, and about as many bytes as each group needs in the head.
        var cost: Int { frames.reduce(0) { $0 + $1.count + 3 } }

        mutating func append(_ members: [Member], _ frame: [UInt8], isPlain: Bool) {
            exceptions += members.map { PackMaker.exception($0.row, isPlain ? .plain : .patched) }
            groups.append(PackHead.Group(rows: members.count, length: frame.count, isPlain: isPlain))
            frames.append(frame)
            self.members.append(members)
            work += isPlain ? members.reduce(0) { $0 + $1.content.count } : PackBatch.work(members)
        }

        mutating func append(_ other: Made) {
            exceptions += other.exceptions
            groups += other.groups
            frames += other.frames
            members += other.members
            work += other.work
        }

        /// Replaces each frame by LZMA2 if that is smaller.
        mutating func tryLZMA2() throws(CompressionError) {
            for place in groups.indices where frames[place].count >= PackBatch.worthLZMA2 {
                let group = groups[place]
                let (content, prefix) = PackBatch.parts(of: members[place], isPlain: group.isPlain)
                guard
                    let frame = try LZMAPatch.frame(of: content, prefix: prefix, limit: frames[place].count - 1)
                else { continue }
                frames[place] = frame
                groups[place] = PackHead.Group(
                    rows: group.rows,
                    length: frame.count,
                    isPlain: group.isPlain,
                    coding: .lzma2
                )
            }
        }
    }

    /// A patch that has at least this share of its content is compared with the plainly compressed content.
    private static let doubtful = 8
    /// Smaller frames gain nothing from LZMA2.
    private static let worthLZMA2 = 256

    private let effort: PackMaker.Effort
    private var members: [Member] = []
    private(set) var size = 0
    private var prefixSize = 0
    private var references: Set<Int> = []

    init(effort: PackMaker.Effort) {
        self.effort = effort
    }

    func hasRoom(for member: Member) -> Bool {
        size + member.content.count <= PackLimits.held && prefixSize + added(by: member) <= PackLimits.held
    }

    /// Whether a row that has room here uses a reference that the batch already contains.
    func holdsReference(of row: PackPlan.Row) -> Bool {
        row.reference.map(references.contains) == true && size + row.fingerprint.size <= PackLimits.held
    }

    /// Bytes that the member's reference adds to the prefix.
    private func added(by member: Member) -> Int {
        guard let row = member.row.reference, !references.contains(row) else { return 0 }
        return member.reference?.count ?? 0
    }

    mutating func append(_ member: Member) {
        members.append(member)
        size += member.content.count
        prefixSize += added(by: member)
        if let row = member.row.reference, member.reference != nil { references.insert(row) }
    }

    /// Returns the smallest of: all rows in one group, each alone, and one group of those that gain from a prefix and one of the
    /// others.
    ///
    /// Each group is zstd or LZMA2.
    ///
    /// - Parameters:
    ///   - group: the number of the next group in the pack.
    ///   - work: bytes that a reader may read and make for it. All rows in one group need no more.
    func made(group: Int, work: Int) throws(PackError) -> Made {
        if members.isEmpty { return Made() }
        do throws(CompressionError) {
            guard effort == .most else { return try together(members) }
            var made = try smallest(work: work)
            try made.tryLZMA2()
            return made
        } catch { throw .compression(.group(group), error) }
    }

    private func smallest(work: Int) throws(CompressionError) -> Made {
        var (each, patched, plain) = (Made(), [Member](), [Member]())
        for member in members {
            let (frame, isPlain) = try alone(member)
            each.append([member], frame, isPlain: isPlain)
            if isPlain { plain.append(member) } else { patched.append(member) }
        }
        guard members.count > 1 else { return each }
        let all = try together(members)
        var choices = [all, each]
        if !plain.isEmpty, !patched.isEmpty {
            var mixed = try together(patched)
            mixed.append(try together(plain, isPlain: true))
            choices.append(mixed)
        }
        return choices.filter { $0.work <= work }.min { $0.cost < $1.cost } ?? all
    }

    /// The bytes that a reader reads and makes for rows in one group with a prefix.
    private static func work(_ members: [Member]) -> Int {
        var (work, known) = (0, Set<Int>())
        for member in members {
            work += member.content.count
            guard let row = member.row.reference, let reference = member.reference, known.insert(row).inserted
            else { continue }
            work += member.read + reference.count
        }
        return work
    }

    private func together(_ members: [Member], isPlain: Bool = false) throws(CompressionError) -> Made {
        let isPlain = isPlain || members.allSatisfy { $0.row.reference == nil || $0.reference == nil }
        let (content, prefix) = Self.parts(of: members, isPlain: isPlain)
        var made = Made()
        let frame = try ZstandardPatch.frame(of: content, prefix: prefix, level: effort.level)
        made.append(members, frame, isPlain: isPlain)
        return made
    }

    /// The content of a group, and its prefix: each reference once.
    private static func parts(of members: [Member], isPlain: Bool) -> (content: [UInt8], prefix: [UInt8]) {
        var (content, prefix) = ([UInt8](), [UInt8]())
        var known: Set<Int> = []
        for member in members {
            content += member.content
            guard !isPlain, let row = member.row.reference, let reference = member.reference,
                known.insert(row).inserted
            else { continue }
            prefix += reference
        }
        return (content, prefix)
    }

    private func alone(_ member: Member) throws(CompressionError) -> (frame: [UInt8], isPlain: Bool) {
        guard let reference = member.reference else {
            return (try ZstandardPatch.frame(of: member.content, prefix: [], level: effort.level), true)
        }
        let patch = try ZstandardPatch.frame(of: member.content, prefix: reference, level: effort.level)
        guard patch.count > member.content.count / Self.doubtful else { return (patch, false) }
        let plain = try ZstandardPatch.frame(of: member.content, prefix: [], level: effort.level)
        return plain.count < patch.count ? (plain, true) : (patch, false)
    }
}
