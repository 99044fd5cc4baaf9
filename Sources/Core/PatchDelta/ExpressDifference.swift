import PatchCompression
package import PatchFormat

/// An express response as the difference to the files that a device named: one zstd frame with their text as the prefix.
///
/// The difference is not signed. The response that results from it is parsed and verified like a directly downloaded one.
package enum ExpressDifference {
    /// The largest total size of the response and the named files that a server compresses, in bytes.
    package static let mostMade = 8_388_608
    /// Up to this size, a server uses the highest compression effort.
    private static let small = 262_144

    /// Whether a body is a difference.
    ///
    /// A plain response begins differently.
    package static func isDifference(_ body: [UInt8]) -> Bool { body.starts(with: ZstandardFrame.magic) }

    /// Whether both sides can write the text of these files.
    package static func isPossible(from base: [Express.Part]) -> Bool {
        !base.isEmpty && ExpressText.text(of: base, numbering: false) != nil
    }

    /// - Parameter base: the named files, in the order in which they were named.
    /// - Returns: nil if a difference cannot be made.
    package static func body(
        of express: Express,
        from base: [Express.Part],
        limit: Int = mostMade
    ) -> [UInt8]? {
        guard !base.isEmpty, let prefix = ExpressText.text(of: base, numbering: false),
            let text = ExpressText.text(of: express.parts, numbering: true)
        else { return nil }
        let content = Array("\(express.newestRoot)\n".utf8) + text
        let size = content.count + prefix.count
        guard size <= limit else { return nil }
        return try? ZstandardPatch.frame(
            of: content,
            prefix: prefix,
            level: size <= small ? 19 : 5,
            isChecked: true
        )
    }

    /// Returns the bytes of the plain response.
    ///
    /// Its rules are checked when it is parsed.
    ///
    /// - Parameter base: the files that were named, in their order.
    package static func plain(
        _ body: [UInt8],
        from base: [Express.Part],
        limit: Int = Limits.express
    ) throws(FormatError) -> [UInt8] {
        guard let prefix = ExpressText.text(of: base, numbering: false) else {
            throw ExpressText.broken("cannot represent these files")
        }
        let content: [UInt8]
        do throws(CompressionError) {
            content = try ZstandardPatch.content(of: body, prefix: prefix, limit: limit)
        } catch {
            throw FormatError("express", rule: "must be a difference to the named files: \(error)")
        }
        guard let end = content.prefix(17).firstIndex(of: UInt8(ascii: "\n")) else {
            throw ExpressText.broken("has no root version in its first line")
        }
        var plain = Array("\(Express.format)\n".utf8) + content[...end]
        for file in try ExpressText.files(of: content[(end + 1)...], limit: limit).reversed() {
            plain += file.path + Array(" \(file.bytes.count)\n".utf8) + file.bytes
            plain.append(UInt8(ascii: "\n"))
        }
        return plain
    }
}
