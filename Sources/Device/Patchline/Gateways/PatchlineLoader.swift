import GatewayClients
import Gateways
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import SystemPackage

/// JSPatch's loader: packages of scripts from a server that serves JSPatch's apps, for an app that still follows it.
///
/// ```swift
/// let loader = try PatchlineLoader(
///     root: "https://patches.example.com", appVersion: "2.1", publicKey: pem, folder: "/var/lib/shop/JSPatch")
/// try await loader.update(to: 3)
/// if let scripts = try loader.run() { engine.evaluate(scripts.main) }
/// ```
///
/// It has less than a ``PatchlineStore``: one key over an MD5, no expiry, no rollout and no way back from a version that does not
/// start. The page <doc:JSPatchLoader> tells what the wire carries.
public struct PatchlineLoader: Sendable {
    private let client: LoaderClient
    private let root: ServerURL

    /// - Parameters:
    ///   - root: where `APPVERSION/vN.zip` lies.
    ///   - appVersion: integers joined by dots, as the server's folder is called.
    ///   - publicKey: RSA, PEM, from 1,024 bits on.
    ///   - folder: `JSPatch`, an absolute path; each app version has a folder in it.
    ///   - takesUnnamedPackages: whether packages are taken that do not say which version they are, as JSPatch's own packer makes
    ///     them. Then whoever answers in the server's place may hand out any older or other package that the key ever signed.
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

    /// Fetches `ROOT/APPVERSION/vN.zip` within 20 s, verifies it and installs it in one step.
    ///
    /// Afterwards: the new version is installed, durably, and nothing of an older one is left; after an error the older one is
    /// installed as before.
    /// - Parameter version: from 1 on, and above ``currentVersion``.
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

    /// 0 where nothing was installed for this app version.
    public var currentVersion: Int {
        get throws(Failure) {
            do throws(LoaderClientError) { return try client.folder.installed()?.number ?? 0 } catch {
                throw Failure(error)
            }
        }
    }

    /// What the app runs now; nil where there is no main.js.
    public func run() throws(Failure) -> Scripts? {
        do throws(LoaderClientError) { return try client.folder.scripts().flatMap { Scripts($0) } } catch {
            throw Failure(error)
        }
    }
}

extension PatchlineLoader {
    /// The scripts of one version, as its engine runs them; an update meanwhile changes none.
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

        /// The text of a script beside main.js, by its name (`cart.js`): what the engine's `include` evaluates; nil for all else.
        public func include(_ name: String) -> String? { installed.include(name) }
    }

    /// What went wrong, in one sentence, with JSPatch's code where it has one.
    public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// `org.jspatch` beside a ``code``; nil for what the server, the network or the disk did.
        public let domain: String?
        /// -1001 for a package that is none, -1002 for one that is not signed for what was asked for, -1003 for a version that is
        /// not newer; nil for what the server, the network or the disk did.
        public let code: Int?
        /// What a program does about it.
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
