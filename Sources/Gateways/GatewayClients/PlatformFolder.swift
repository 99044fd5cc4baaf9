package import Gateways
package import PatchFormat
package import PatchStore
package import SystemPackage

/// The files that a client of JSPatch's platform stores.
///
/// ```
/// JSPatch/device.json        the draw and the reports
/// JSPatch/2.1/state.json     {"highest":3,"version":3}
/// JSPatch/2.1/v3/scripts     encrypted, as received
/// JSPatch/2.1/v3/key         the signature over it
/// ```
///
/// The scripts, their names and the key are not stored in plain form. `state.json` is replaced once a version's folder is complete.
/// Until then, and after a crash, the previous version runs.
package struct PlatformFolder: Sendable {
    static let stateName = "state.json"
    static let deviceName = "device.json"
    private static let staging = ".new"

    /// The path of `JSPatch`.
    package let root: FilePath
    /// The path of `JSPatch/APPVERSION`.
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

    /// The record of the device, or nil if there is none yet.
    package func device() throws(PlatformClientError) -> PlatformDevice? {
        guard let bytes = try read(root.at(Self.deviceName), limit: PlatformDevice.limit) else { return nil }
        do throws(FormatError) { return try PlatformDevice(bytes) } catch { throw .record(error) }
    }

    /// Writes the record of the device durably.
    package func save(_ device: PlatformDevice) throws(PlatformClientError) {
        try Self.onDisk { () throws(FileError) in
            try files.makeDirectory(root)
            try files.replace(Self.deviceName, in: root, with: device.bytes)
        }
    }

    /// Replaces the installed version by an update.
    ///
    /// Only one process may do so at a time.
    ///
    /// Afterwards the new version is durable and all others are removed. After an error or a crash, either the old or the new
    /// version runs, complete.
    package func install(_ update: PlatformUpdate) throws(PlatformClientError) {
        let (version, installed) = (update.place.version, try installed())
        // The installed version is never replaced in place.
        guard installed.version != version else { return }
        let (staging, place) = (path.at(Self.staging), path.at(Self.folder(of: version)))
        try Self.onDisk { () throws(FileError) in
            try files.makeDirectory(path)
            // Remains of a crash. A version that is not installed is unused.
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

    /// Deletes the installed version.
    ///
    /// Afterwards no version is installed, durably, and its files are removed. After a crash, either the version runs as before or
    /// none does.
    package func delete() throws(PlatformClientError) {
        let installed = try installed()
        guard installed.version != nil else { return }
        try Self.onDisk { () throws(FileError) in
            try files.replace(Self.stateName, in: path, with: installed.deleting.bytes)
        }
        removeOthers(than: nil)
    }

    /// Removes all other versions.
    ///
    /// One that cannot be removed now is removed by the next update.
    private func removeOthers(than version: LoaderVersion?) {
        let kept = version.map { Self.folder(of: $0) }
        for name in (try? files.list(path)) ?? [] where name.hasPrefix("v") && name != kept {
            try? files.removeTree(path.at(name))
        }
    }

    /// The installed package as received, or nil if no version is installed.
    package func package() throws(PlatformClientError) -> (version: LoaderVersion, package: PlatformPackage)? {
        while let version = try installed().version {
            let found = Result { () throws(FileError) in try read(version) }
            // An update meanwhile removed the files that were being read.
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
