import Fuzzing
import Gateways
import PatchFormat

private let bounds = TarArchive.Bounds(archive: 65_536, entries: 20)
private let block = 512

/// What comes of a tar archive is within bounds, and the same again when it is written; a package of JSPatch's platform too.
func attempt(_ bytes: [UInt8]) {
    look(bytes)
    look(mended(bytes))
}

private func look(_ bytes: [UInt8]) {
    if let archive = try? TarArchive(reading: bytes, within: bounds) {
        require(archive.files.reduce(0) { $0 + $1.bytes.count } <= bytes.count, "no more comes out than is there")
        require(archive.files.count <= bounds.entries, "there are no more files than may be")
        for (file, next) in zip(archive.files, archive.files.dropFirst()) {
            require(file.name < next.name, "names ascend")
        }
        for file in archive.files { require(file.name.segments.count == 1, "a name leads into no folder") }
        let written = archive.bytes
        guard let read = try? TarArchive(reading: written, within: .init(archive: written.count, entries: 20)) else {
            fatalError("broken: what was read cannot be written and read again")
        }
        require(read == archive, "what is written is what was read")
        require(read.bytes == written, "and has one form")
    }
    guard let package = try? PlatformPackage(bytes) else { return }
    guard let written = try? package.bytes() else { fatalError("broken: a package cannot be written again") }
    require((try? PlatformPackage(written)) == package, "a package is written again as it was")
}

/// Whole blocks, each of which has the checksum of a header: few made-up headers would have the right one.
private func mended(_ bytes: [UInt8]) -> [UInt8] {
    var blocks = bytes + [UInt8](repeating: 0, count: (block - bytes.count % block) % block)
    for start in stride(from: 0, to: blocks.count, by: block) where blocks[start] != 0 {
        for place in start + 148..<start + 156 { blocks[place] = UInt8(ascii: " ") }
        let sum = blocks[start..<start + block].reduce(0) { $0 + Int($1) }
        let digits = String(sum, radix: 8)
        let text = String(repeating: "0", count: max(0, 6 - digits.count)) + digits + "\0 "
        for (offset, byte) in text.utf8.enumerated() { blocks[start + 148 + offset] = byte }
    }
    return blocks + [UInt8](repeating: 0, count: 2 * block)
}
