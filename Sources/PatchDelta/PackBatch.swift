import PatchCompression
import PatchFormat

/// Rows that are compressed together, or one by one: whichever is smaller.
struct PackBatch {
    struct Member {
        let row: PackPlan.Row
        let content: [UInt8]
        /// With the tokens put in; nil where there is none.
        let reference: [UInt8]?

        /// Whether the tokens made the content: none of its bytes need to travel.
        var isMade: Bool { reference == content }
    }

    struct Made {
        var exceptions: [PackHead.Exception] = []
        var groups: [PackHead.Group] = []
        var frames: [[UInt8]] = []

        /// Bytes of the frames, and about as many as each group has in the head.
        var cost: Int { frames.reduce(0) { $0 + $1.count + 3 } }

        mutating func append(_ members: [Member], _ frame: [UInt8], isPlain: Bool) {
            exceptions += members.map { PackMaker.exception($0.row, isPlain ? .plain : .patched) }
            groups.append(PackHead.Group(rows: members.count, length: frame.count, isPlain: isPlain))
            frames.append(frame)
        }
    }

    /// A patch that has this share of its content is compared with the content by itself.
    private static let doubtful = 8

    private let effort: PackMaker.Effort
    private var members: [Member] = []
    private var size = 0
    private var prefixSize = 0

    init(effort: PackMaker.Effort) {
        self.effort = effort
    }

    func hasRoom(for member: Member) -> Bool {
        // A reference that two rows have is counted twice: the bound holds all the same.
        size + member.content.count <= PackLimits.held
            && prefixSize + (member.reference?.count ?? 0) <= PackLimits.held
    }

    mutating func append(_ member: Member) {
        members.append(member)
        size += member.content.count
        prefixSize += member.reference?.count ?? 0
    }

    /// The smallest of: all rows solid, each by itself, and those solid that gain from it.
    ///
    /// - Parameter group: which group of the pack comes next.
    func made(group: Int) throws(PackError) -> Made {
        if members.isEmpty { return Made() }
        do throws(CompressionError) {
            guard effort == .most else { return try together(members) }
            var (each, patched, plain) = (Made(), [Member](), [Member]())
            for member in members {
                let (frame, isPlain) = try alone(member)
                each.append([member], frame, isPlain: isPlain)
                if isPlain { plain.append(member) } else { patched.append(member) }
            }
            guard members.count > 1 else { return each }
            var choices = [try together(members), each]
            if !plain.isEmpty, !patched.isEmpty {
                var mixed = try together(patched)
                let rest = try together(plain, isPlain: true)
                mixed.exceptions += rest.exceptions
                mixed.groups += rest.groups
                mixed.frames += rest.frames
                choices.append(mixed)
            }
            return choices.min { $0.cost < $1.cost } ?? each
        } catch { throw .compression(.group(group), error) }
    }

    private func together(_ members: [Member], isPlain: Bool = false) throws(CompressionError) -> Made {
        var (content, prefix) = ([UInt8](), [UInt8]())
        var known: Set<Int> = []
        for member in members {
            content += member.content
            guard !isPlain, let row = member.row.reference, let reference = member.reference,
                known.insert(row).inserted
            else { continue }
            prefix += reference
        }
        var made = Made()
        let frame = try ZstandardPatch.frame(of: content, prefix: prefix, level: effort.level)
        made.append(members, frame, isPlain: isPlain || known.isEmpty)
        return made
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
