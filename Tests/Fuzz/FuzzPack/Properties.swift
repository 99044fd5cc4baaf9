import Fuzzing
import PatchCompression
import PatchDelta
import PatchFormat
import PatchCrypto
import PatchTrust

private let bounds = PackReader.Bounds(pack: 65_536, contents: 20_000)

/// What comes of a pack is within bounds, the same in whatever parts the pack comes, and the manifest that was asked for.
///
/// The first byte chooses the base; from 128 on, a head's text follows, its length in two bytes first, which is framed here: so
/// that a change of it is no change of lengths and sizes alone. From 192 on it is of version 2. Whole packs begin with `P`.
func attempt(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let base = Base.all[Int(first & 0x3F) % Base.all.count]
    let pack =
        first < 128
        ? (first == UInt8(ascii: "P") ? bytes : Array(bytes.dropFirst()))
        : framed(bytes.dropFirst(), version: first < 192 ? 1 : 2)
    // As many bytes as a head may have are many for a short run.
    guard pack.count <= bounds.pack, headSize(of: pack) <= 16_384 else { return }
    let nothing = SHA256Digest(of: [])
    let found = outcome(pack, base, asked: nothing, parts: pack.count)
    // Of every other input: it takes as long again.
    if bytes.count & 1 == 0 {
        require(outcome(pack, base, asked: nothing, parts: 61) == found, "parts make no difference")
    }
    guard case .refused(.otherManifest(let digest, nothing)) = found else {
        guard case .refused = found else { fatalError("broken: a manifest that nobody asked for was given") }
        return
    }
    guard case .made(let manifest) = outcome(pack, base, asked: digest, parts: pack.count) else {
        fatalError("broken: a pack is refused that makes what was asked for")
    }
    require(SHA256Digest(of: manifest) == digest, "the manifest is the one that was asked for")
    guard let read = try? PackManifest(manifest) else { fatalError("broken: a manifest that was made is refused") }
    require(read.bytes == manifest, "a manifest that was made is written again as it is")
    for row in 0..<read.count where row > 0 { require(read.path(of: row - 1) < read.path(of: row), "paths ascend") }
}

private enum Outcome: Equatable {
    case made([UInt8])
    case refused(PackError)
}

private func outcome(_ pack: [UInt8], _ base: Base, asked: SHA256Digest, parts: Int) -> Outcome {
    var reader = PackReader(
        base: base.manifest,
        manifest: asked,
        objects: PackObjects { digest in base.contents[digest].map { BytesInMemory($0) } },
        limits: bounds
    )
    var (rest, row, content, total) = (pack[...], -1, [UInt8](), 0)
    do throws(PackError) {
        while !rest.isEmpty {
            reader.feed(Array(rest.prefix(parts)))
            rest = rest.dropFirst(parts)
            while let result = try reader.next() {
                switch result {
                case .piece(let bytes, let of):
                    if of != row { (row, content) = (of, []) }
                    content += bytes
                    total += bytes.count
                    require(total <= bounds.contents, "no more comes out than may")
                case .content(let fingerprint, let of):
                    require(of == row, "a content ends where it began")
                    require(Fingerprint(of: content) == fingerprint, "a content has the fingerprint that is told")
                    content = []
                }
            }
        }
        return .made(try reader.finish())
    } catch { return .refused(error) }
}

/// A pack of a head's text and what follows it.
private func framed(_ bytes: ArraySlice<UInt8>, version: UInt8) -> [UInt8] {
    let length = bytes.prefix(2).reduce(0) { $0 << 8 | Int($1) }
    let text = bytes.dropFirst(2).prefix(length)
    let size = text.count
    // One raw block in a single segment whose size has four bytes (RFC 8878).
    let header: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0xA0] + (0..<4).map { UInt8(truncatingIfNeeded: size >> ($0 * 8)) }
    let block = size << 3 | 1
    let frame = header + (0..<3).map { UInt8(truncatingIfNeeded: block >> ($0 * 8)) } + text
    let number = [UInt8(frame.count & 0x7F) | 0x80, UInt8(frame.count >> 7 & 0x7F) | 0x80, UInt8(frame.count >> 14)]
    let shortest = frame.count < 1 << 14 ? [number[0], number[1] & 0x7F] : number
    let length7 = frame.count < 1 << 7 ? [number[0] & 0x7F] : shortest
    return Array("PLP".utf8) + [version] + length7 + frame + bytes.dropFirst(2 + length)
}

private func headSize(of pack: [UInt8]) -> Int {
    let rest = pack.dropFirst(4).drop { $0 >= 0x80 }.dropFirst()
    return ZstandardFrame(Array(rest.prefix(ZstandardFrame.headerBytes)))?.contentSize ?? 0
}
