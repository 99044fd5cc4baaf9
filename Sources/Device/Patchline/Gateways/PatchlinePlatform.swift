import GatewayClients
import Gateways
import Glibc
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import SystemPackage

/// A client of JSPatch's platform: scripts for an app that still uses a server of JSPatch's protocol.
///
/// ```swift
/// let platform = try PatchlinePlatform(
///     root: "https://patches.example.com", appKey: "0a1b2c3d4e5f6071", appVersion: "2.1", publicKey: pem,
///     deviceID: "device 1", folder: "/var/lib/shop/JSPatch")
/// if let scripts = try platform.run() { engine.evaluate(scripts.main) }      // the installed version
/// switch try await platform.sync(data: ["isMale": "1"]) {
/// case .installed(_, .now): if let scripts = try platform.run() { engine.evaluate(scripts.main) }
/// case .installed, .deleted, .kept: break
/// }
/// _ = try await platform.report()
/// ```
///
/// It protects less than a ``PatchlineStore``: it has one key over an MD5 digest, an unsigned sync file, no expiry, and no rollback
/// of a version that does not start. <doc:JSPatchPlatform> describes the protocol.
public struct PatchlinePlatform: Sendable {
    private let client: PlatformClient
    private let root: ServerURL
    private let statistics: ServerURL

    /// - Parameters:
    ///   - root: The URL that contains `APPKEY/APPVERSION` and `APPKEY/APPVERSION/fileN`.
    ///   - statistics: The URL that contains `succ.php` and `err.php`. Nil for `root`.
    ///   - appKey: The platform's identifier of the app.
    ///   - appVersion: Integers joined by dots. It is the name of the server's folder.
    ///   - publicKey: An RSA key in PEM, with at least 1,024 bits.
    ///   - encryptionKey: The 16 bytes that decrypt scripts. Nil for the key that JSPatch's own client derives from app key and
    ///     version.
    ///   - deviceID: The identifier under which the server counts this device, 1 to 128 bytes.
    ///   - folder: The absolute path of the folder `JSPatch`. It contains one folder per app version.
    ///   - followsDevelopment: Whether to install development versions instead of released ones.
    ///   - takesUnnamedPackages: Whether to accept packages that do not name their version, as the platform made them. Anyone who
    ///     controls the server can then send any other package that the key ever signed.
    public init(
        root: String,
        statistics: String? = nil,
        appKey: String,
        appVersion: String,
        publicKey: String,
        encryptionKey: [UInt8]? = nil,
        deviceID: String,
        folder: String,
        followsDevelopment: Bool = false,
        takesUnnamedPackages: Bool = false
    ) throws(PatchlineError) {
        guard let url = ServerURL(root) else { throw PatchlineError("root \(ServerURL.rule)") }
        guard let counting = statistics.map({ ServerURL($0) }) ?? url else {
            throw PatchlineError("statistics \(ServerURL.rule)")
        }
        guard let app = PlatformAppKey(appKey) else { throw PatchlineError("appKey \(PlatformAppKey.rule)") }
        guard let version = AppVersion(appVersion) else { throw PatchlineError("appVersion \(AppVersion.rule)") }
        guard let device = PlatformDeviceID(deviceID) else {
            throw PatchlineError("deviceID \(PlatformDeviceID.rule)")
        }
        guard folder.hasPrefix("/") else { throw PatchlineError("folder must be an absolute path") }
        let signer: JSPatchPublicKey
        do throws(JSPatchError) { signer = try JSPatchPublicKey(pem: publicKey) } catch {
            throw PatchlineError("publicKey: \(error)")
        }
        guard let key = AESKey(encryptionKey ?? PlatformPlace(app, version).ownKey) else {
            throw PatchlineError("encryptionKey \(AESKey.rule)")
        }
        self.root = url
        self.statistics = counting
        var policy = PlatformClient.Policy()
        policy.audience = followsDevelopment ? .developers : .everyone
        policy.unnamed = takesUnnamedPackages ? .taken : .refused
        client = PlatformClient(
            FilePath(folder),
            app: .init(PlatformPlace(app, version), device: device, signer: signer, key: key),
            policy: policy
        )
    }

    /// The outcome of ``sync(data:)``.
    public enum Outcome: Equatable, Sendable {
        /// When the installed version runs.
        public enum Run: Equatable, Sendable {
            case now, atNextLaunch
        }

        /// A version was installed.
        case installed(version: Int, run: Run)
        /// The installed version was deleted on the server's request.
        case deleted
        /// Nothing changed, for this reason.
        case kept(String)
    }

    /// Downloads `ROOT/APPKEY/APPVERSION` within 20 s, and carries out its decision if this device permits it.
    ///
    /// If it succeeds, the new version is durably installed, encrypted as it was received. If it fails, the old version stays
    /// installed. A version lower than one that was installed here is rejected.
    /// - Parameter data: The app's facts about device and user, for conditions.
    public func sync(data: [String: String] = [:]) async throws(Failure) -> Outcome {
        var facts: [ConditionKey: ConditionValue] = [:]
        for (name, text) in data {
            guard let key = ConditionKey(name) else {
                throw Failure(PatchlineError("data: the key '\(name)' \(ConditionKey.rule)"))
            }
            guard let value = ConditionValue(text) else {
                throw Failure(PatchlineError("data: the value of \(key) \(ConditionValue.rule)"))
            }
            facts[key] = value
        }
        let known = facts
        var decision: PlatformDecision?
        do throws(PlatformClientError) {
            try await PlatformClient.fetching(from: root) { fetcher throws(PlatformClientError) in
                decision = try await client.sync(from: fetcher, facts: known, now: .ofClock) { .random }
            }
        } catch { throw Failure(error) }
        switch decision {
        case .install(let version, let run)?:
            return .installed(version: version.number, run: run == .now ? .now : .atNextLaunch)
        case .delete?: return .deleted
        case .keep(let reason)?: return .kept(reason.description)
        case nil: preconditionFailure("a sync that does not fail has a result")
        }
    }

    /// Sends reports of installs and failures that the server has not acknowledged yet.
    ///
    /// - Returns: The number of reports that the server did not acknowledge.
    public func report() async throws(Failure) -> Int {
        var left = 0
        do throws(PlatformClientError) {
            try await PlatformClient.fetching(from: statistics) { fetcher throws(PlatformClientError) in
                left = try await client.report(to: fetcher)
            }
        } catch { throw Failure(error) }
        return left
    }

    /// The installed version, or 0 if this app version has none.
    public var currentVersion: Int {
        get throws(Failure) {
            do throws(PlatformClientError) { return try client.folder.installed().version?.number ?? 0 } catch {
                throw Failure(error)
            }
        }
    }

    /// Returns the scripts that the app must run now, verified and decrypted in memory; nil if no version is installed.
    public func run() throws(Failure) -> PatchlineLoader.Scripts? {
        do throws(PlatformClientError) {
            return try client.scripts().flatMap { PatchlineLoader.Scripts($0) }
        } catch { throw Failure(error) }
    }
}

extension PatchlinePlatform {
    /// An error in one sentence, with the platform's code if it has one.
    public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// `com.jspatch` if there is a ``code``; nil for errors of the app or the disk.
        public let domain: String?
        /// 5001 to 5007, as on the platform.
        public let code: Int?
        /// The kind of the error, for programs.
        public let kind: PatchlineError.Code
        public let description: String

        init(_ error: PatchlineError) {
            (domain, code, kind, description) = (nil, nil, error.code, error.description)
        }

        init(_ error: PlatformClientError) {
            (domain, code) = (error.code.map { _ in PlatformError.domain }, error.code?.rawValue)
            kind =
                switch error {
                case .fetch(.cancelled): .cancelled
                case .fetch(let error): error.isNetwork ? .network : .refused
                case .package(let error):
                    switch error.code {
                    case .otherMD5, .decryptMD5: .refused
                    case .untar, .untarScript, .noScripts, .noKey, .network: .malformed
                    }
                case .syncFile, .record: .malformed
                case .file, .lock(.file): .disk
                case .lock(.held): .busy
                }
            description = error.description
        }
    }
}

extension UTCTime {
    /// The current time.
    ///
    /// It only prevents cached answers, and no decision depends on it.
    fileprivate static var ofClock: UTCTime { UTCTime(seconds: time(nil)) }
}

extension PlatformDraw {
    fileprivate static var random: PlatformDraw {
        guard let draw = PlatformDraw(Int.random(in: range)) else { preconditionFailure("it is in the range") }
        return draw
    }
}
