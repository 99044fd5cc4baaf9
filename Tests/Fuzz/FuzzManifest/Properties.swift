import Fuzzing
import PatchFormat

/// A manifest that is read is whole: sorted, safe paths, and the same again after it was written.
func attempt(_ bytes: [UInt8]) {
    guard let manifest = try? AssetManifest(bytes) else { return }
    let written = manifest.json.fileBytes
    guard let again = try? AssetManifest(written) else { fatalError("broken: a manifest that was written is refused") }
    require(again == manifest, "a manifest says the same after it was written")
    require(again.json.fileBytes == written, "a manifest has one spelling")
    require(manifest.problem() == nil, "a manifest that was read has no problem left")
    var last: AssetPath?
    for asset in manifest.assets {
        if let last { require(last < asset.path, "paths ascend") }
        last = asset.path
        check(asset.path)
        require(!asset.statement(app: manifest.app, patchID: manifest.patchID).isEmpty, "an asset has a statement")
    }
}

private func check(_ path: AssetPath) {
    let segments = path.text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    require(path.text.utf8.count <= AssetPath.maximumBytes, "a path is at most 1,024 bytes")
    for segment in segments {
        require((1...AssetPath.maximumSegmentBytes).contains(segment.count), "a segment is 1 to 255 bytes")
        require(!segment.elementsEqual(".".utf8) && !segment.elementsEqual("..".utf8), "no segment climbs")
        require(segment.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0x5C }, "a segment is plain text")
    }
}
