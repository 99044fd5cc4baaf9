import PatchCompression
import PatchFormat

/// The limits of the resources that a pack may need from its reader.
///
/// Sizes are in bytes.
package enum PackLimits {
    /// The size of the decompressed head, and of a manifest's head text: names of 100,000 files.
    static let head = Limits.manifest
    /// The size of a content made in memory, of the content of a group, and of its prefix, which are in memory at once.
    package static let held = 16_777_216
    /// The size of the head's frame.
    static let headFrame = ZstandardPatch.bound(of: head)
    /// The window of a content that is passed on in pieces, which determines the reader's memory for it.
    static let passingWindowLog = 23
    /// The shortest part of a name that is replaced by another.
    static let token = 4
    /// The number of different old name parts.
    ///
    /// Each uses a few hundred bytes of memory.
    static let tokens = 100_000

    /// The bytes that are read of the base and made.
    ///
    /// A maker stays within this limit, and a reader allows at least as much.
    ///
    /// Both know the size of the base's contents before the pack exists.
    package static func work(base contents: Int) -> Int { 4 * max(held, contents) }
}
