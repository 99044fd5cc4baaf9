import PatchCompression
import PatchFormat

/// What a pack may ask of its reader; sizes are in bytes.
package enum PackLimits {
    /// Of what comes out of the head, and of a manifest's head text: names of 100,000 files.
    static let head = Limits.manifest
    /// Of a content that is made in memory, of the content of a group, and of its prefix: they are held at once.
    package static let held = 16_777_216
    /// Of the head's frame.
    static let headFrame = ZstandardPatch.bound(of: head)
    /// Of the frame of a content that is not held: a reader's memory for it.
    static let passingWindowLog = 23
    /// The shortest name part that is put in the place of another.
    static let token = 4
    /// Different old name parts; each takes some hundred bytes in memory.
    static let tokens = 100_000

    /// Of all that is read of the base and made: what a maker keeps to, and a reader allows at least.
    ///
    /// Both know the base's contents before anything of a pack is there.
    package static func work(base contents: Int) -> Int { 4 * max(held, contents) }
}
