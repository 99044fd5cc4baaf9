package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

extension SignedRelease {
    private static let headerFile = "release.json"
    private static let roleFile = "role.json"

    /// Reads the header, the role and each target that the role names.
    ///
    /// Other files are ignored.
    package init(folder: FilePath, files: any FileOperations) throws(ReleaseError) {
        let reader = FolderReader(folder: folder, files: files)
        let headerBytes = try reader.read(Self.headerFile, limit: Limits.releaseHeader)
        let roleBytes = try reader.read(Self.roleFile, limit: Limits.targetsRole)
        let header: ReleaseHeader
        let role: Envelope
        let parsed: TargetsRole
        do throws(FormatError) {
            header = try ReleaseHeader(headerBytes, named: Self.headerFile)
            role = try Envelope(roleBytes, role: header.channel.text, limit: Limits.targetsRole)
            parsed = try TargetsRole(role, name: header.channel.text)
        } catch { throw .format(error) }
        var targets: [TargetPath: [UInt8]] = [:]
        for (name, file) in parsed.targets {
            guard let path = TargetPath(name.text) else {
                throw .format(FormatError(Self.roleFile, field: "signed.targets.\(name)", rule: TargetPath.rule))
            }
            targets[path] = try reader.read("targets/\(path)", limit: min(file.length, Limits.manifest))
        }
        var objects: [SHA256Digest: FilePath] = [:]
        for digest in Self.objectsNamed(in: targets, channel: header.channel) {
            let path = folder.at(URLLayout.object(digest))
            if try reader.exists(path) { objects[digest] = path }
        }
        self.init(header: header, role: role, targets: targets, objects: objects)
    }

    /// The digests of the scripts, assets and packages that the list and its manifests name.
    ///
    /// Unreadable documents are skipped here. Verifying the release reports them.
    private static func objectsNamed(in targets: [TargetPath: [UInt8]], channel: ChannelName) -> Set<SHA256Digest> {
        guard let list = targets[.patchList(channel)].flatMap({ try? ParsedPatchList($0) })?.list else { return [] }
        var digests = Set(list.gatewayPackages.map(\.package.fingerprint.sha256))
        for entry in list.entries {
            switch entry.kind {
            case .script: digests.insert(entry.fingerprint.sha256)
            case .bundle:
                let path = TargetPath.manifest(channel: channel, patchID: entry.patchID, version: entry.version)
                guard let manifest = targets[path].flatMap({ try? AssetManifest($0) }) else { continue }
                digests.formUnion(manifest.assets.map(\.fingerprint.sha256))
            }
        }
        return digests
    }

    /// From this number of objects on, one wait for the whole disk is faster than one per file: 5,000 waits took a minute.
    private static let many = 16

    /// Writes the release as a new folder.
    ///
    /// Objects are linked from `linking` if possible, and copied otherwise. Afterwards everything is durable.
    ///
    /// - Parameters:
    ///   - linking: Older signed releases, whose files never change.
    ///   - progress: Receives the number of written files.
    package func write(
        to folder: FilePath,
        files: any FileOperations,
        linking: [FilePath] = [],
        progress start: ProgressStart = { _ in { _ in } }
    ) throws(FileError) {
        let total = objects.count + made.count + targets.count
        let progress = start(total)
        var done = 0
        try files.makeDirectory(folder)
        // Each directory once, because creating it also syncs it.
        let parts = Set((Array(objects.keys) + made.keys).map { folder.at(URLLayout.object($0)).parent })
        for part in parts.union(targets.keys.map { folder.at("targets/\($0)").parent }) {
            try files.checkFolders(to: part, from: folder)
        }
        let batch = objects.count < Self.many ? nil : try files.beginBatch(on: folder)
        if batch == nil {
            for part in parts { try files.makeDirectory(part) }
        } else {
            for part in Set(parts.map(\.parent)).union(parts).sorted(by: { $0.string < $1.string }) {
                try files.addDirectory(part)
            }
        }
        for (digest, source) in objects.sorted(by: { $0.key < $1.key }) {
            done += 1
            progress(min(done, total - 1))
            let destination = folder.at(URLLayout.object(digest))
            if try files.identity(of: destination) != nil { continue }
            // An older release's object was verified with that release. Every object is verified again after writing.
            let older = linking.map { $0.at(URLLayout.object(digest)) }
            if older.contains(where: { (try? files.link($0, to: destination)) != nil }) { continue }
            try files.copy(source, to: destination, inBatch: batch != nil)
        }
        for (digest, bytes) in made.sorted(by: { $0.key < $1.key }) {
            let destination = folder.at(URLLayout.object(digest))
            if try files.identity(of: destination) == nil { try files.write(bytes, to: destination) }
        }
        if let batch {
            try batch.sync()
        } else {
            for part in parts { try files.syncDirectory(part) }
        }
        for (path, bytes) in targets.sorted(by: { $0.key < $1.key }) {
            let destination = folder.at("targets/\(path)")
            try files.makeDirectory(destination.parent)
            try files.write(bytes, to: destination)
            try files.syncDirectory(destination.parent)
        }
        try writeRole(to: folder, files: files)
        try files.replace(Self.headerFile, in: folder, with: header.json.fileBytes)
        progress(total)
    }

    /// Writes the role alone, after a signature was added.
    package func writeRole(to folder: FilePath, files: any FileOperations) throws(FileError) {
        try files.replace(Self.roleFile, in: folder, with: role.fileBytes)
    }
}

private struct FolderReader {
    let folder: FilePath
    let files: any FileOperations

    func exists(_ path: FilePath) throws(ReleaseError) -> Bool {
        do throws(FileError) { return try files.identity(of: path) != nil } catch { throw .file(error) }
    }

    func read(_ name: String, limit: Int) throws(ReleaseError) -> [UInt8] {
        let path = folder.at(name)
        guard try exists(path) else { throw .missing(name) }
        do throws(FileError) { return try files.read(path, limit: limit) } catch { throw .file(error) }
    }
}
