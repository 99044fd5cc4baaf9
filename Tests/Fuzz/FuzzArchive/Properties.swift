import Fuzzing
import Gateways
import PatchFormat

private let bounds = ZipArchive.Bounds(archive: 65_536, contents: 20_000, entries: 20)

/// What comes of an archive is within bounds, and the same again when it is written; a package of JSPatch's loader too.
func attempt(_ bytes: [UInt8]) {
    if let archive = try? ZipArchive(reading: bytes, within: bounds) {
        require(archive.files.reduce(0) { $0 + $1.bytes.count } <= bounds.contents, "no more comes out than may")
        require(archive.files.count <= bounds.entries, "there are no more files than may be")
        for (file, next) in zip(archive.files, archive.files.dropFirst()) {
            require(file.path < next.path, "paths ascend")
        }
        guard let written = try? archive.bytes(), let read = try? ZipArchive(reading: written, within: bounds) else {
            fatalError("broken: what was read cannot be written and read again")
        }
        require(read == archive, "what is written is what was read")
        require((try? read.bytes()) == written, "and has one form")
    }
    guard let package = try? LoaderPackage(bytes) else { return }
    guard let written = try? package.bytes() else { fatalError("broken: a package cannot be written again") }
    require((try? LoaderPackage(written)) == package, "a package is written again as it was")
}
