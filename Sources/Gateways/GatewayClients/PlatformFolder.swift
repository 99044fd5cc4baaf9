package import Gateways
package import PatchFormat
package import PatchStore
package import SystemPackage

/// What a client of JSPatch's platform keeps.
///
/// ```
/// JSPatch/device.json        what it drew, and its reports
/// JSPatch/2.1/state.json     {"highest":3,"version":3}
/// JSPatch/2.1/v3/scripts     encrypted, as it came
/// JSPatch/2.1/v3/key         the signature over it
/// ```
///
/// No script stands there as it is run, nor its name, nor the key that opens it. `state.json` is replaced once a version's folder is
/// whole: until then, and after a crash, the one before runs.
package struct PlatformFolder: Sendable {
    static let stateName = "state.json"
    static let deviceName = "device.json"
    private static let staging = ".new"

    /// `JSPatch`.
    package let root: FilePath
    /// `JSPatch/APPVERSION`.
    package let path: FilePath
    private let files: any FileOperations

    package init(_ root: FilePath, appVersion: AppVersion, files: any FileOperations) {
        self.root = root
        path = root.at(appVersion.text)
        self.files = files
    }

    package func installed() throws(PlatformClientError) -> PlatformInstalled {
        guard let bytes = try read(path.at(Self.stateName), limit: PlatformInstalled.limit) else { return .nothing }
        do throws(FormatError) { return try PlatformInstalled(bytes) } catch { throw .record(error) }
    }

    /// Nil where nothing was drawn yet.
    package func device() throws(PlatformClientError) -> PlatformDevice? {
        guard let bytes = try read(root.at(Self.deviceName), limit: PlatformDevice.limit) else { return nil }
        do throws(FormatError) { return try PlatformDevice(bytes) } catch { throw .record(error) }
    }

    /// Afterwards: `device` is durable.
    package func save(_ device: PlatformDevice) throws(PlatformClientError) {
        try Self.onDisk { () throws(FileError) in
            try files.makeDirectory(root)
            try files.replace(Self.deviceName, in: root, with: device.bytes)
        }
    }

    /// Installs an update in place of what is there; nobody else does so meanwhile.
    ///
    /// Afterwards: the new version is durable, and nothing of another is left. After an error, and after a crash, the one or the
    /// other runs, whole.
    package func install(_ update: PlatformUpdate) throws(PlatformClientError) {
        let (version, installed) = (update.place.version, try installed())
        // What runs is never taken apart.
        guard installed.version != version else { return }
        let (staging, place) = (path.at(Self.staging), path.at(Self.folder(of: version)))
        try Self.onDisk { () throws(FileError) in
            try files.makeDirectory(path)
            // A crash may have left one; a version that is not installed is nobody's.
            try files.removeTree(staging)
            try files.removeTree(place)
            do throws(FileError) {
                try files.addDirectory(staging)
                try files.write(update.package.scripts, to: staging.at(PlatformPackage.scriptsName))
                try files.write(update.package.signature, to: staging.at(PlatformPackage.signatureName))
                try files.syncDirectory(staging)
                try files.rename(staging, to: place)
            } catch {
                try? files.removeTree(staging)
                throw error
            }
            try files.syncDirectory(path)
            try files.replace(Self.stateName, in: path, with: installed.installing(version).bytes)
        }
        removeOthers(than: version)
    }

    /// Deletes what is installed.
    ///
    /// Afterwards: no version is installed, durably, and nothing of one is left. After a crash the one that was there runs, or none.
    package func delete() throws(PlatformClientError) {
        let installed = try installed()
        guard installed.version != nil else { return }
        try Self.onDisk { () throws(FileError) in
            try files.replace(Self.stateName, in: path, with: installed.deleting.bytes)
        }
        removeOthers(than: nil)
    }

    /// What cannot be removed now goes at the next update.
    private func removeOthers(than version: LoaderVersion?) {
        let kept = version.map { Self.folder(of: $0) }
        for name in (try? files.list(path)) ?? [] where name.hasPrefix("v") && name != kept {
            try? files.removeTree(path.at(name))
        }
    }

    /// What is installed, as it came; nil where nothing is.
    package func package() throws(PlatformClientError) -> (version: LoaderVersion, package: PlatformPackage)? {
        while let version = try installed().version {
            let found = Result { () throws(FileError) in try read(version) }
            // An update came in between, and took away what was being read.
            guard try installed().version == version else { continue }
            do throws(FileError) { return (version, try found.get()) } catch { throw .file(error) }
        }
        return nil
    }

    private func read(_ version: LoaderVersion) throws(FileError) -> PlatformPackage {
        let folder = path.at(Self.folder(of: version))
        return PlatformPackage(
            scripts: try files.read(folder.at(PlatformPackage.scriptsName), limit: Limits.loaderPackage),
            signature: try files.read(folder.at(PlatformPackage.signatureName), limit: Limits.loaderPackage)
        )
    }

    private func read(_ place: FilePath, limit: Int) throws(PlatformClientError) -> [UInt8]? {
        do throws(FileError) { return try files.read(place, limit: limit) } catch .notFound {
            return nil
        } catch { throw .file(error) }
    }

    private static func folder(of version: LoaderVersion) -> String { "v\(version)" }

    static func onDisk<Value>(_ work: () throws(FileError) -> Value) throws(PlatformClientError) -> Value {
        do throws(FileError) { return try work() } catch { throw .file(error) }
    }
}
