package import Gateways
import PatchFormat
package import PatchStore
import PatchCrypto
package import SystemPackage

/// The files that a device stores for a Meteor app, apart from the version embedded in it.
///
/// ```
/// record.json                   the current, the pending and the failed versions
/// versions/SHA1/program.json    a complete version: the SHA-1 of its name, because the server chooses the name
/// downloading/program.json      the present download, possibly incomplete
/// partial/program.json          the previous download, whose files may be reused
/// ```
///
/// A folder becomes a version by one rename, after all its files are durable.
package struct MeteorFolder: Sendable {
    package let root: FilePath
    package let platform: MeteorManifest.Platform
    private let files: any FileOperations

    package init(_ root: FilePath, platform: MeteorManifest.Platform, files: any FileOperations) {
        (self.root, self.platform, self.files) = (root, platform, files)
    }

    private static let recordName = "record.json"
    static let manifestName = MeteorAsset.kept.text
    private var versions: FilePath { root.at("versions") }
    private var downloading: FilePath { root.at("downloading") }
    private var partial: FilePath { root.at("partial") }
    private func place(of version: String) -> FilePath {
        versions.at(Fingerprint(of: Array(version.utf8)).sha1.hex)
    }

    // MARK: The active version

    /// The record, or nil if there is none yet.
    package func record() throws(MeteorClientError) -> MeteorRecord? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try files.read(root.at(Self.recordName), limit: Limits.meteorRecord)
        } catch .notFound {
            return nil
        } catch { throw .file(error) }
        do throws(FormatError) { return try MeteorRecord(bytes) } catch { throw .record(error) }
    }

    /// Writes the record durably.
    ///
    /// After an error the previous one remains.
    package func write(_ record: MeteorRecord) throws(MeteorClientError) {
        try kept { () throws(FileError) in
            try files.makeDirectory(root)
            try files.replace(Self.recordName, in: root, with: record.json.fileBytes)
        }
    }

    // MARK: Versions

    /// The files of a version, not necessarily all.
    package struct Held: Sendable {
        package let place: FilePath
        package let manifest: MeteorManifest
        let files: any FileOperations

        package func file(of asset: MeteorAsset) -> FilePath { place.pushing(FilePath(asset.path.text)) }

        func has(_ asset: MeteorAsset) -> Bool { (try? files.status(of: file(of: asset)))?.kind == .file }

        /// The assets whose files exist, by URL.
        var there: MeteorSource.Assets {
            Dictionary(manifest.assets.filter(has).map { ($0.url, $0) }) { first, _ in first }
        }
    }

    /// The complete versions, without unreadable ones.
    package func held() throws(MeteorClientError) -> [Held] {
        let names = try kept { () throws(FileError) in
            try files.status(of: versions) == nil ? [] : try files.list(versions).sorted()
        }
        return names.compactMap { held(at: versions.at($0)) }.filter { place(of: $0.manifest.version) == $0.place }
    }

    private func held(at place: FilePath) -> Held? {
        guard let bytes = try? files.read(place.at(Self.manifestName), limit: Limits.meteorManifest),
            let manifest = try? MeteorManifest(bytes, for: platform)
        else { return nil }
        return Held(place: place, manifest: manifest, files: files)
    }

    /// The incomplete downloads, whose files can be reused.
    func begun() -> [Held] { [downloading, partial].compactMap(held(at:)) }

    /// Starts a download or continues it.
    ///
    /// An incomplete download of another version is kept for its files and replaces the one kept before.
    func begin(_ manifest: MeteorManifest, _ bytes: [UInt8]) throws(MeteorClientError) -> Held {
        try kept { () throws(FileError) in
            let program = downloading.at(Self.manifestName)
            let isSame = (try? files.read(program, limit: Limits.meteorManifest)) == bytes
            guard !isSame else { return }
            if try files.status(of: downloading) != nil {
                try files.removeTree(partial)
                try files.rename(downloading, to: partial)
            }
            try files.makeDirectory(downloading)
            try files.replace(Self.manifestName, in: downloading, with: bytes)
        }
        return Held(place: downloading, manifest: manifest, files: files)
    }

    /// Links a file of another version into this one.
    func link(_ source: FilePath, to target: FilePath) throws(MeteorClientError) {
        try kept { () throws(FileError) in
            try files.makeDirectory(target.removingLastComponent())
            try files.link(source, to: target)
        }
    }

    /// Writes a file.
    ///
    /// Afterwards its content is durable under this name. After an error the name does not exist.
    func fill(
        _ target: FilePath,
        write: (any FileWriter) async throws(MeteorClientError) -> Void
    ) async throws(MeteorClientError) {
        let part = FilePath("\(target.string).part")
        let writer = try kept { () throws(FileError) in
            try files.makeDirectory(target.removingLastComponent())
            try files.removeIfPresent(part)
            return try files.create(part, permissions: .privateFile)
        }
        do throws(MeteorClientError) {
            try await write(writer)
            try kept { () throws(FileError) in
                try writer.finish()
                try files.rename(part, to: target)
            }
        } catch {
            try? files.removeIfPresent(part)
            throw error
        }
    }

    /// Turns a completed download into a version.
    func commit(_ held: Held) throws(MeteorClientError) {
        let place = place(of: held.manifest.version)
        try kept { () throws(FileError) in
            for folder in held.folders.sorted(by: { $0.count > $1.count }) {
                try files.syncDirectory(folder.isEmpty ? held.place : held.place.pushing(FilePath(folder)))
            }
            try files.makeDirectory(versions)
            // An unreadable version.
            try files.removeTree(place)
            try files.rename(held.place, to: place)
            try files.syncDirectory(versions)
            try files.syncDirectory(root)
            try? files.removeTree(partial)
        }
    }

    /// Removes all other versions.
    ///
    /// One that cannot be removed now is removed the next time.
    package func keep(only versions: Set<String>) {
        let names = Set(versions.map { place(of: $0).string })
        for name in (try? files.list(self.versions)) ?? [] where !names.contains(self.versions.at(name).string) {
            try? files.removeTree(self.versions.at(name))
        }
    }

    /// Removes everything of the app's previous build.
    package func forget() throws(MeteorClientError) {
        try kept { () throws(FileError) in
            for folder in [versions, downloading, partial] { try files.removeTree(folder) }
        }
    }

    /// The version embedded in the app: `index.html` and `program.json` beside its files.
    package static func initial(
        at folder: FilePath,
        platform: MeteorManifest.Platform,
        files: any FileOperations
    ) throws(MeteorClientError) -> Held {
        let bytes = try kept { () throws(FileError) in
            try files.read(folder.at(manifestName), limit: Limits.meteorManifest)
        }
        let manifest = try mappingErrors { () throws(MeteorError) in try MeteorManifest(bytes, for: platform) }
        return Held(place: folder, manifest: manifest, files: files)
    }
}

extension MeteorFolder.Held {
    /// The configuration in the index page.
    package func config() throws(MeteorClientError) -> MeteorRuntimeConfig {
        let page = try kept { () throws(FileError) in
            try files.read(file(of: .indexPage), limit: Limits.meteorIndexPage)
        }
        return try mappingErrors { () throws(MeteorError) in try MeteorRuntimeConfig(page: page) }
    }

    /// The folders of its files: `app`, `app/img`, and the empty path for the root.
    fileprivate var folders: Set<String> {
        var folders: Set<String> = [""]
        for asset in manifest.assets where has(asset) {
            var names = asset.path.segments.dropLast()
            while !names.isEmpty {
                folders.insert(names.joined(separator: "/"))
                names = names.dropLast()
            }
        }
        return folders
    }
}
