import PatchFormat
import PatchServer
import PatchStore
import PatchTrust
import ReleaseFolder
import SystemPackage

extension UploadedRelease {
    /// One as it lies on the disk, whoever receives it.
    init(at folder: FilePath, in repository: AppRepository, files: any FileOperations) throws {
        let header = try ReleaseHeader(
            try files.read(folder.appending("release.json"), limit: Limits.releaseHeader)
        )
        let role = try Envelope(
            try files.read(folder.appending("role.json"), limit: Limits.targetsRole),
            role: header.channel.text,
            limit: Limits.targetsRole
        )
        let parsed = try TargetsRole(role, name: header.channel.text)
        try self.init(header, role, parsed, at: folder, in: repository, files: files)
    }

    /// All that it consists of, wherever it lies now.
    func pins(in repository: AppRepository, files: any FileOperations) throws(UploadError) -> GarbagePins {
        var pins = GarbagePins()
        var documents: [TargetPath: [UInt8]] = [:]
        for (name, file) in parsed.targets {
            guard let path = TargetPath(name.text), let sha256 = file.sha256 else { continue }
            pins.targets.insert(.target(path, sha256))
            documents[path] = try target(path, sha256, in: repository, files: files)
        }
        pins.objects = Set(try objects(named: documents).map(\.sha256))
        return pins
    }
}
