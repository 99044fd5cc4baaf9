import Fuzzing
import PatchCompression
import PatchDelta
import PatchFormat
import PatchCrypto
import PatchTrust

/// What comes of an express answer is within bounds, and the same again when it is written as a plain one and as a difference.
///
/// The first byte chooses: a plain answer, a difference as it travels, or the content of one, which is framed here, so that a
/// change of it is no change of lengths and sums alone.
func attempt(_ bytes: [UInt8]) {
    guard let first = bytes.first, let channel = ChannelName("production") else { return }
    let rest = Array(bytes.dropFirst())
    let plain: [UInt8]
    switch first % 3 {
    case 0: plain = rest
    case 1:
        // As many bytes as an answer may have are many for a short run.
        guard ZstandardFrame(rest).map({ $0.contentSize <= 65_536 }) ?? true,
            let found = try? ExpressDifference.plain(rest, from: Base.parts)
        else { return }
        plain = found
    default:
        guard let frame = try? ZstandardPatch.frame(of: rest, prefix: Base.text, level: 1, isChecked: true),
            let found = try? ExpressDifference.plain(frame, from: Base.parts)
        else { return }
        plain = found
    }
    require(plain.count <= 2 * Limits.express, "no more comes out than may")
    guard let express = try? Express(plain, of: channel) else { return }
    require(express.fileBytes == plain, "an answer is written again as it was")
    guard let body = ExpressDifference.body(of: express, from: Base.parts) else {
        require(!ExpressDifference.isPossible(from: express.parts), "what can be named can be written")
        return
    }
    require(ExpressDifference.isDifference(body), "a difference begins as one")
    require((try? ExpressDifference.plain(body, from: Base.parts)) == plain, "a difference is the plain answer again")
}

/// What differences are made to.
private enum Base {
    static let parts = [
        Express.Part(.role("snapshot", version: 7), Array(#"{"signed":{"version":7}}"#.utf8)),
        Express.Part(.role("production", version: 2), Array(#"{"signed":{"sha256":"#.utf8)),
    ]

    static let text =
        Array(#"{"signed":{"sha256":"#.utf8) + [0] + Array("metadata/2.production.json\n".utf8)
        + Array(#"{"signed":{"version":7}}"#.utf8) + [0] + Array("metadata/7.snapshot.json\n".utf8)
}
