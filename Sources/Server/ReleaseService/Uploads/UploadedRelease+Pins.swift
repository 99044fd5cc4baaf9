import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

extension GarbagePins {
    /// Lists and manifests of one upload, which perhaps no quorum will ever sign: as much as the largest manifest has.
    private static let bytesReadOfUpload = Limits.manifest

    /// All that a release on its way in consists of, wherever it lies now.
    ///
    /// - Throws: for one that nobody can publish any more.
    init(ofUploadAt folder: FilePath, to repository: AppRepository, files: any FileOperations) throws {
        self.init()
        guard let (header, role) = try UploadFolder(path: folder, files: files).documents() else { return }
        let offer = try ReleaseOffer(of: header, role, to: repository)
        guard offer.bytesToRead <= Self.bytesReadOfUpload else { return }
        let sources = try UploadSources(offer, at: folder, in: repository, files: files)
        objects = try UploadedRelease(offer, on: sources, totalLimit: UploadedRelease.totalLimit).objects
        for (name, file) in offer.parsed.targets {
            guard let path = TargetPath(name.text), let sha256 = file.sha256 else { continue }
            targets.insert(.target(path, sha256))
        }
    }
}

extension ReleaseOffer {
    /// Of its lists and manifests.
    fileprivate var bytesToRead: Int {
        parsed.targets.filter { !$0.key.text.hasSuffix(".sigs") }.values.reduce(0) { $0 + $1.length }
    }
}
