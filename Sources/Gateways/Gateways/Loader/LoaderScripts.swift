package import PatchFormat

/// The content of a loader's package: scripts in one folder, among them `main.js`, and the place that they are made for.
package struct LoaderScripts: Equatable, Sendable {
    /// The scripts, each in UTF-8.
    package let scripts: [ScriptName: [UInt8]]
    /// The place in the record, or nil in a package without a record, as JSPatch's own packer makes it.
    package let place: LoaderPlace?

    package init(_ scripts: [ScriptName: [UInt8]], for place: LoaderPlace?) throws(LoaderError) {
        guard scripts.count <= Limits.scriptsInLoaderPackage else {
            throw .tooMany(scripts.count, limit: Limits.scriptsInLoaderPackage)
        }
        guard scripts[.main] != nil else { throw .noMain }
        for (name, bytes) in scripts.sorted(by: { $0.key < $1.key }) {
            guard String(validating: bytes, as: UTF8.self) != nil else { throw .notUTF8(name.text) }
        }
        self.scripts = scripts
        self.place = place
    }
}

extension LoaderScripts {
    /// `script.zip`: the scripts without folders, and the record of their place.
    package func archive() throws(LoaderError) -> [UInt8] {
        do throws(ZipError) {
            var files: [ZipArchive.File] = []
            for (name, bytes) in scripts { files.append(try .init(named: name.text, bytes)) }
            if let place { files.append(try .init(named: LoaderPlace.recordName, place.record)) }
            let bytes = try ZipArchive(files).bytes()
            guard bytes.count <= Limits.loaderPackage else { throw .tooLarge(limit: Limits.loaderPackage) }
            return bytes
        } catch { throw .archive(LoaderPackage.scriptArchiveName, error) }
    }

    /// Reads `script.zip` as JSPatch's loader does: every `*.js` file by the last name of its path.
    ///
    /// Other files are ignored.
    ///
    /// Two scripts of one name are rejected. JSPatch's loader would use the later one.
    init(archive bytes: [UInt8]) throws(LoaderError) {
        let archive = try LoaderPackage.read(LoaderPackage.scriptArchiveName, bytes)
        try self.init(
            archive.files.map { ($0.path.segments.last ?? $0.path.text, $0.bytes) },
            record: archive[LoaderPlace.recordName]
        )
    }

    /// Selects the files named `*.js` and ignores all others.
    ///
    /// - Parameter record: The record of the scripts' place, if the package has one.
    init(_ files: [(name: String, bytes: [UInt8])], record: [UInt8]?) throws(LoaderError) {
        var scripts: [ScriptName: [UInt8]] = [:]
        for file in files {
            guard let name = ScriptName(file.name) else { continue }
            guard scripts.updateValue(file.bytes, forKey: name) == nil else { throw .twice(name.text) }
        }
        var place: LoaderPlace?
        if let record {
            do throws(FormatError) { place = try LoaderPlace(record: record) } catch { throw .record(error) }
        }
        try self.init(scripts, for: place)
    }
}

extension ZipArchive.File {
    /// - Throws: If the name is not a valid path. Names here are checked or constant.
    init(named name: String, _ bytes: [UInt8]) throws(ZipError) {
        do throws(AssetPath.Problem) { self.init(try AssetPath(name), bytes) } catch {
            throw .entry(name, .name(error))
        }
    }
}
