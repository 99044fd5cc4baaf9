package import Gateways
package import PatchFormat
package import PatchStore
package import SystemPackage

/// The version that a loader has installed for one app version.
///
/// ```
/// JSPatch/2.1/version       3
/// JSPatch/2.1/v3/main.js
/// ```
///
/// JSPatch's own loader overwrites the scripts of the previous version. Here each version has a folder, and `version` is replaced
/// once the folder is complete. Until then, and after a crash, the previous version runs.
package struct LoaderFolder: Sendable {
    static let record = "version"
    private static let staging = ".new"

    /// The path of `JSPatch/APPVERSION`.
    package let path: FilePath
    private let files: any FileOperations

    package init(_ path: FilePath, files: any FileOperations) {
        self.path = path
        self.files = files
    }

    /// The installed version, or nil if none was installed.
    package func installed() throws(LoaderClientError) -> LoaderVersion? {
        let place = path.at(Self.record)
        let bytes: [UInt8]
        do throws(FileError) { bytes = try files.read(place, limit: 16) } catch .notFound {
            return nil
        } catch { throw .file(error) }
        guard bytes.last == 0x0A, let version = LoaderVersion(String(decoding: bytes.dropLast(), as: UTF8.self)) else {
            throw .record(place)
        }
        return version
    }

    /// Replaces the installed version by an update.
    ///
    /// Only one process may do so at a time.
    ///
    /// Afterwards the new version is durable and all others are removed. After an error or a crash, either the old or the new
    /// version runs, complete.
    package func install(_ update: LoaderUpdate) throws(LoaderClientError) {
        let (version, installed) = (update.place.version, try installed())
        try checking { () throws(LoaderError) in try LoaderUpdate.check(version, installed: installed) }
        let (staging, place) = (path.at(Self.staging), path.at(Self.folder(of: version)))
        try onDisk { () throws(FileError) in
            try files.makeDirectory(path)
            // Remains of a crash. A version that is not installed is unused.
            try files.removeTree(staging)
            try files.removeTree(place)
            do throws(FileError) {
                try files.addDirectory(staging)
                for (name, bytes) in update.scripts { try files.write(bytes, to: staging.at(name.text)) }
                try files.syncDirectory(staging)
                try files.rename(staging, to: place)
            } catch {
                try? files.removeTree(staging)
                throw error
            }
            try files.syncDirectory(path)
            try files.replace(Self.record, in: path, with: Array("\(version)\n".utf8))
        }
        removeOthers(than: version)
    }

    /// Removes all other versions.
    ///
    /// One that cannot be removed now is removed by the next update.
    private func removeOthers(than version: LoaderVersion) {
        let kept = Self.folder(of: version)
        for name in (try? files.list(path)) ?? [] where name.hasPrefix("v") && ![kept, Self.record].contains(name) {
            try? files.removeTree(path.at(name))
        }
    }

    /// The scripts of the installed version, all of one version, or nil if none was installed.
    package func scripts() throws(LoaderClientError) -> InstalledScripts? {
        while let version = try installed() {
            let found = Result { () throws(FileError) in try read(version) }
            // An update meanwhile removed the files that were being read.
            guard try installed() == version else { continue }
            do throws(FileError) { return InstalledScripts(version: version, scripts: try found.get()) } catch {
                throw .file(error)
            }
        }
        return nil
    }

    private func read(_ version: LoaderVersion) throws(FileError) -> [ScriptName: [UInt8]] {
        let folder = path.at(Self.folder(of: version))
        var scripts: [ScriptName: [UInt8]] = [:]
        for name in try files.list(folder) {
            guard let script = ScriptName(name) else { continue }
            scripts[script] = try files.read(folder.at(name), limit: Limits.loaderScripts)
        }
        return scripts
    }

    private static func folder(of version: LoaderVersion) -> String { "v\(version)" }
}

/// The scripts of one version, held in memory so that an update does not change them.
package struct InstalledScripts: Equatable, Sendable {
    package let version: LoaderVersion
    package let scripts: [ScriptName: [UInt8]]

    /// The script that runs, or nil if it was removed from the folder.
    package var main: String? { scripts[.main].map { String(decoding: $0, as: UTF8.self) } }

    /// The script for `include('cart.js')`: one beside main.js, by its name only.
    ///
    /// Nil for all other names.
    package func include(_ name: String) -> String? {
        ScriptName(name).flatMap { scripts[$0] }.map { String(decoding: $0, as: UTF8.self) }
    }
}
