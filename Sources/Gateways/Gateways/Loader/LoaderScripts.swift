package import PatchFormat

/// What a loader's package brings: scripts side by side, the one that is run among them, and what they are made for.
package struct LoaderScripts: Equatable, Sendable {
    /// UTF-8, each.
    package let scripts: [ScriptName: [UInt8]]
    /// Nil in a package that does not say it, as JSPatch's own packer makes them.
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
    /// `script.zip`: the scripts, flat, and the record of what they are made for.
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

    /// Reads `script.zip` as JSPatch's loader does: by the last name of each path, what ends in `.js`; all else is passed over.
    ///
    /// Two scripts of one name are refused: there, the later one would win.
    init(archive bytes: [UInt8]) throws(LoaderError) {
        let archive = try LoaderPackage.read(LoaderPackage.scriptArchiveName, bytes)
        try self.init(
            archive.files.map { ($0.path.segments.last ?? $0.path.text, $0.bytes) },
            record: archive[LoaderPlace.recordName]
        )
    }

    /// What is called `*.js` among these files; all else is passed over.
    ///
    /// - Parameter record: what the scripts are made for, where they say it.
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
    /// - Throws: for what is no path; names here are checked or constant.
    init(named name: String, _ bytes: [UInt8]) throws(ZipError) {
        do throws(AssetPath.Problem) { self.init(try AssetPath(name), bytes) } catch {
            throw .entry(name, .name(error))
        }
    }
}
