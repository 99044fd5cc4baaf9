import Linux
package import PatchFormat
package import PatchStore
package import SystemPackage

/// The files of a published tree: names, sizes and times, without opening them.
package struct TreeListing: Sendable {
    package struct File: Equatable, Sendable {
        package let size: Int
        /// When it was last written, by the machine's clock at that time.
        package let modified: UTCTime

        package init(size: Int, modified: UTCTime) {
            self.size = size
            self.modified = modified
        }
    }

    package var files: [TreePath.File: File]
    /// Files that do not belong in a published tree, by path relative to the app's folder.
    package var strangers: [String]

    package init(files: [TreePath.File: File] = [:], strangers: [String] = []) {
        self.files = files
        self.strangers = strangers
    }

    /// The versions of a role that have a file.
    package func versions(of role: String) -> [Int] {
        files.keys.compactMap { file in
            guard case .role(role, let version) = file else { return nil }
            return version
        }.sorted()
    }

    /// Every channel whose role has a file, with its versions.
    package var channels: [ChannelName: [Int]] {
        var found: [ChannelName: [Int]] = [:]
        for case .role(let name, let version) in files.keys {
            if let channel = ChannelName(name) { found[channel, default: []].append(version) }
        }
        return found.mapValues { $0.sorted() }
    }
}

extension TreeListing {
    /// Reads the folder `tree` of one app.
    ///
    /// Symbolic links are not followed and count as strangers. Files removed during the listing are left out.
    ///
    /// - Parameter folders: the folders of the tree to list; nil for all.
    package init(
        of app: AppID,
        in tree: FilePath,
        below folders: [String]? = nil,
        files: any FileOperations
    ) throws(FileError) {
        self.init()
        for folder in folders ?? [""] {
            guard try files.status(of: folder.isEmpty ? tree : tree.at(folder))?.kind == .directory else { continue }
            try add(folder, of: app, in: tree, files)
        }
    }

    private mutating func add(
        _ folder: String,
        of app: AppID,
        in tree: FilePath,
        _ disk: any FileOperations
    ) throws(FileError) {
        let names: [String]
        do throws(FileError) { names = try disk.list(folder.isEmpty ? tree : tree.at(folder)) } catch .notFound {
            return
        }
        let paths = names.map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
        for (path, identity) in zip(paths, try disk.identities(of: paths, below: tree)) {
            if let identity {
                guard let file = TreePath(below: app, path)?.file else {
                    strangers.append(path)
                    continue
                }
                files[file] = File(size: identity.size, modified: UTCTime(nanoseconds: identity.modified))
            } else {
                switch try disk.status(of: tree.at(path))?.kind {
                case .directory: try add(path, of: app, in: tree, disk)
                case .file, .symbolicLink, .other: strangers.append(path)
                // It was removed after its folder was listed.
                case nil: break
                }
            }
        }
    }
}

extension TreePath {
    /// Parses a path relative to the app's folder.
    package init?(below app: AppID, _ path: String) {
        self.init(segments: [app.text] + path.split(separator: "/", omittingEmptySubsequences: false).map(String.init))
    }
}

extension UTCTime {
    /// - Parameter nanoseconds: since 1970, as reported by the kernel.
    package init(nanoseconds: Int64) {
        self.init(seconds: Int(nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000).quotient))
    }
}
