import PatchFormat
import CommandKit
import PatchRelease
import PatchStore
import SystemPackage

extension Failure {
    /// The failure for a path without a signed release, with a hint that depends on the path's content.
    static func noRelease(at path: FilePath, code: ResultCode) -> Failure {
        let files = DiskFiles()
        func has(_ name: String) -> Bool { (try? files.status(of: path.at(name))) != nil }
        guard let kind = (try? files.status(of: path.followingLinks))?.kind else {
            return Failure("there is no folder \(path)", hint: wanted, code: code)
        }
        guard kind == .directory else {
            return Failure("\(path) is a file, and a signed release is a folder", hint: wanted, code: code)
        }
        let place = shellWord(path.string)
        let hint =
            if has("\(PulledFolder.release)/release.json") {
                "`patchsign pull` wrote it: the release in it is \(place)/\(PulledFolder.release)"
            } else if has("\(PulledFolder.base)/release.json") {
                "`patchsign pull` wrote it: the published release is \(place)/\(PulledFolder.base)"
            } else if has(ReleaseDescription.fileName) {
                "it is a folder to make a release of: patchsign release \(place) --keys DIR --output NEW"
            } else if has(ReleaseTrust.rootFile) {
                "it is a folder of keys: name it with --keys"
            } else {
                wanted
            }
        return Failure("\(path) is not a release folder: there is no release.json in it", hint: hint, code: code)
    }

    private static let wanted = "name the folder that `patchsign release` or `patchsign pull` wrote"
}
