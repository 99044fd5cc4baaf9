import PatchFormat
import PatchStore
import ReleaseFolder
import PatchServer
import SystemPackage
import CommandKit
import YAMLReading

/// The folder of a trial system.
///
/// ```
/// keys/         root.json, targets.json, and private keys, encrypted
/// online.pass   opens keys/online.key, for the server only
/// releases/1 …  signed releases
/// server/       the server's folder
/// .gitignore    keeps private and large files out of version control
/// ```
struct QuickstartFolder {
    static let standard = "patchline"
    private static let ignored = """
        # The server's folder and secrets stay out of version control.
        /server/
        *.key
        *.pass

        """

    let root: FilePath
    private let files = DiskFiles()

    var keys: FilePath { root.at("keys") }
    var onlineKey: FilePath { keys.at("online.key") }
    var onlinePassphrase: FilePath { root.at("online.pass") }
    var server: FilePath { root.at("server") }

    func release(_ number: Int) -> FilePath { releases.at("\(number)") }
    private var releases: FilePath { root.at("releases") }

    init(_ root: FilePath) {
        self.root = root
    }

    var hasKeys: Bool { get throws(FileError) { try files.status(of: keys.at("root.json")) != nil } }

    /// Makes the folder, its `.gitignore`, and a passphrase for the online key.
    ///
    /// Existing files are kept.
    func make() throws(FileError) {
        try files.makeDirectory(root)
        try files.makeDirectory(releases)
        let ignore = ".gitignore"
        if try files.status(of: root.at(ignore)) == nil {
            try files.replace(ignore, in: root, with: Array(Self.ignored.utf8), permissions: .everyone)
        }
        if try files.status(of: onlinePassphrase) == nil {
            try files.replace("online.pass", in: root, with: Array((Self.randomPassphrase() + "\n").utf8))
        }
    }

    /// Locks the folder against a second quickstart while keys and releases are made.
    func taken() throws(Failure) -> StoreLock {
        do throws(StoreLockError) { return try StoreLock(root.at(".quickstart")) } catch {
            switch error {
            case .held:
                throw Failure(
                    "another quickstart works in \(root)",
                    hint: "wait until it serves, or name another place with --into",
                    code: .busy
                )
            case .file(let error): throw Failure("\(error)", code: .disk)
            }
        }
    }

    /// Whether a `patchsrv serve` or an earlier quickstart serves the folder now.
    var isServed: Bool {
        let serving = ServerFolder(server).serving
        guard (try? files.status(of: serving)) ?? nil != nil else { return false }
        do throws(StoreLockError) {
            _ = try StoreLock(serving)
            return false
        } catch {
            if case .held = error { return true }
            return false
        }
    }

    /// A random passphrase of 192 bits.
    private static func randomPassphrase() -> String {
        var system = SystemRandomNumberGenerator()
        return (0..<3).map { _ in
            let text = String(UInt64.random(in: 0...UInt64.max, using: &system), radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
    }

    /// The number of the newest release, or 0 without one.
    ///
    /// Folders without a release are skipped.
    func newestRelease() throws(FileError) -> Int {
        let numbers = try files.list(releases).compactMap { name in
            Int(name).flatMap { number in number > 0 && "\(number)" == name ? number : nil }
        }
        for number in numbers.sorted(by: >) {
            guard try files.status(of: release(number).at("release.json")) != nil else { continue }
            return number
        }
        return 0
    }
}

extension FilePermissions {
    /// The permissions 0644.
    fileprivate static let everyone = FilePermissions(rawValue: 0o644)
}

/// The app and the channel of a folder that is released for the first time.
struct QuickstartTarget: Equatable {
    /// Folder names that do not identify the app.
    private static let builds = ["dist", "build", "out", "public", "www", "_site", "site", "html", "browser"]

    let app: AppID
    let channel: ChannelName

    /// The app and channel of `release.yaml`, or else `app.NAME` of the project's folder on the channel production.
    ///
    /// - Parameters:
    ///   - folder: The folder to release.
    ///   - description: The text of its release.yaml, if it has one.
    ///   - app: An app that replaces the derived one.
    init?(_ folder: FilePath, description: String?, app given: AppID?) {
        let named = description.flatMap { Self.value(of: "app", in: $0) }.flatMap { AppID($0) }
        let channel = description.flatMap { Self.value(of: "channel", in: $0) } ?? "production"
        guard let app = given ?? named ?? Self.app(of: folder), let channel = ChannelName(channel) else { return nil }
        (self.app, self.channel) = (app, channel)
    }

    /// The app named after the project's folder: `app.shop` for `/home/ann/shop/dist`.
    private static func app(of folder: FilePath) -> AppID? {
        let names = folder.string.split(separator: "/").map { $0.lowercased() }
        let name = names.last { !builds.contains($0) } ?? "web"
        let letters = name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        let text = String(letters.drop { $0 == "-" }.prefix(60))
        return AppID("app.\(text.isEmpty ? "web" : text)")
    }

    /// The value of a top-level member of a YAML mapping.
    ///
    /// `patchsign` later reads and checks the whole file.
    private static func value(of key: String, in text: String) -> String? {
        guard let tree = try? YAMLTree(text), let root = tree.root, case .mapping(let members) = tree[root].content
        else { return nil }
        for (name, value) in members {
            if case .scalar(let found) = tree[name].content, found.text == key,
                case .scalar(let scalar) = tree[value].content, !scalar.text.isEmpty
            {
                return scalar.text
            }
        }
        return nil
    }
}
