import GatewayClients
import Gateways
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import SystemPackage

/// A client of JSPatch's loader: script packages for an app that still uses a server of JSPatch's protocol.
///
/// ```swift
/// let loader = try PatchlineLoader(
///     root: "https://patches.example.com", appVersion: "2.1", publicKey: pem, folder: "/var/lib/shop/JSPatch")
/// try await loader.update(to: 3)
/// if let scripts = try loader.run() { engine.evaluate(scripts.main) }
/// ```
///
/// It protects less than a ``PatchlineStore``: it has one key over an MD5 digest, no expiry, no rollout, and no rollback of a
/// version that does not start. <doc:JSPatchLoader> describes the protocol.
public struct PatchlineLoader: Sendable {
    private let client: LoaderClient
    private let root: ServerURL

    /// - Parameters:
    ///   - root: The URL that contains `APPVERSION/vN.zip`.
    ///   - appVersion: Integers joined by dots. It is the name of the server's folder.
    ///   - publicKey: An RSA key in PEM, with at least 1,024 bits.
    ///   - folder: The absolute path of the folder `JSPatch`. It contains one folder per app version.
    ///   - takesUnnamedPackages: Whether to accept packages that do not name their version, as JSPatch's own packer makes them.
    ///     Anyone who controls the server can then send any package that the key ever signed.
    public init(
        root: String,
        appVersion: String,
        publicKey: String,
        folder: String,
        takesUnnamedPackages: Bool = false
    ) throws(PatchlineError) {
        guard let url = ServerURL(root) else { throw PatchlineError("root \(ServerURL.rule)") }
        guard let version = AppVersion(appVersion) else { throw PatchlineError("appVersion \(AppVersion.rule)") }
        guard folder.hasPrefix("/") else { throw PatchlineError("folder must be an absolute path") }
        let key: JSPatchPublicKey
        do throws(JSPatchError) { key = try JSPatchPublicKey(pem: publicKey) } catch {
            throw PatchlineError("publicKey: \(error)")
        }
        self.root = url
        client = LoaderClient(
            FilePath(folder),
            appVersion: version,
            key: key,
            unnamed: takesUnnamedPackages ? .taken : .refused
        )
    }

    /// Downloads `ROOT/APPVERSION/vN.zip` within 20 s, verifies it, and installs it atomically.
    ///
    /// If it succeeds, the new version is durably installed and the old one is deleted. If it fails, the old version stays
    /// installed.
    /// - Parameter version: At least 1, and greater than ``currentVersion``.
    public func update(to version: Int) async throws(Failure) {
        guard let wanted = LoaderVersion(version) else {
            throw Failure(PatchlineError("version \(LoaderVersion.rule)"))
        }
        do throws(LoaderClientError) {
            try await LoaderClient.fetching(from: root) { fetcher throws(LoaderClientError) in
                try await client.update(to: wanted, from: fetcher)
            }
        } catch { throw Failure(error) }
    }

    /// The installed version, or 0 if this app version has none.
    public var currentVersion: Int {
        get throws(Failure) {
            do throws(LoaderClientError) { return try client.folder.installed()?.number ?? 0 } catch {
                throw Failure(error)
            }
        }
    }

    /// Returns the scripts that the app must run now, or nil if there is no main.js.
    public func run() throws(Failure) -> Scripts? {
        do throws(LoaderClientError) { return try client.folder.scripts().flatMap { Scripts($0) } } catch {
            throw Failure(error)
        }
    }
}

extension PatchlineLoader {
    /// The scripts of one version, as its engine runs them.
    ///
    /// A later update does not change them.
    public struct Scripts: Sendable {
        private let installed: InstalledScripts

        public var version: Int { installed.version.number }
        /// The text of main.js.
        public let main: String

        init?(_ installed: InstalledScripts) {
            guard let main = installed.main else { return nil }
            self.installed = installed
            self.main = main
        }

        /// Returns the text of a script next to main.js by its name (`cart.js`), for the engine's `include`.
        ///
        /// Nil if there is no such script.
        public func include(_ name: String) -> String? { installed.include(name) }
    }

    /// An error in one sentence, with JSPatch's code if it has one.
    public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// `org.jspatch` if there is a ``code``; nil for errors of the server, the network or the disk.
        public let domain: String?
        /// -1001 for an invalid package, -1002 for a package that is not signed for this request, -1003 for a version that is not
        /// newer.
        ///
        /// Nil for errors of the server, the network or the disk.
        public let code: Int?
        /// The kind of the error, for programs.
        public let kind: PatchlineError.Code
        public let description: String

        init(_ error: PatchlineError) {
            (domain, code, kind, description) = (nil, nil, error.code, error.description)
        }

        init(_ error: LoaderClientError) {
            switch error {
            case .package(let error):
                (domain, code) = (LoaderError.domain, error.code.rawValue)
                kind =
                    switch error.code {
                    case .unzipFailed: .malformed
                    case .verifyFailed: .refused
                    case .notNewer: .nothingThere
                    }
            case .fetch(let error):
                (domain, code) = (nil, nil)
                kind = error == .cancelled ? .cancelled : error.isNetwork ? .network : .refused
            case .file, .lock(.file): (domain, code, kind) = (nil, nil, .disk)
            case .lock(.held): (domain, code, kind) = (nil, nil, .busy)
            case .record: (domain, code, kind) = (nil, nil, .malformed)
            }
            description = error.description
        }
    }
}
