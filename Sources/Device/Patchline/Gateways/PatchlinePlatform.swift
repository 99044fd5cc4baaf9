import GatewayClients
import Gateways
import Glibc
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import SystemPackage

/// A client of JSPatch's platform: scripts from a server that serves JSPatch's apps, for an app that still follows it.
///
/// ```swift
/// let platform = try PatchlinePlatform(
///     root: "https://patches.example.com", appKey: "0a1b2c3d4e5f6071", appVersion: "2.1", publicKey: pem,
///     deviceID: "device 1", folder: "/var/lib/shop/JSPatch")
/// if let scripts = try platform.run() { engine.evaluate(scripts.main) }      // what is installed
/// switch try await platform.sync(data: ["isMale": "1"]) {
/// case .installed(_, .now): if let scripts = try platform.run() { engine.evaluate(scripts.main) }
/// case .installed, .deleted, .kept: break
/// }
/// _ = try await platform.report()
/// ```
///
/// It has less than a ``PatchlineStore``: one key over an MD5, a sync file that nobody signed, no expiry and no way back from a version
/// that does not start. The page <doc:JSPatchPlatform> tells what the wire carries.
public struct PatchlinePlatform: Sendable {
    private let client: PlatformClient
    private let root: ServerURL
    private let statistics: ServerURL

    /// - Parameters:
    ///   - root: where `APPKEY/APPVERSION` and `APPKEY/APPVERSION/fileN` lie.
    ///   - statistics: where `succ.php` and `err.php` are; nil for the root.
    ///   - appKey: by which the platform knows the app.
    ///   - appVersion: integers joined by dots, as the server's folder is called.
    ///   - publicKey: RSA, PEM, from 1,024 bits on.
    ///   - encryptionKey: 16 bytes that open scripts; nil for those that JSPatch's own client makes of app key and version.
    ///   - deviceID: by which the server counts this device: 1 to 128 bytes.
    ///   - folder: `JSPatch`, an absolute path; each app version has a folder in it.
    ///   - followsDevelopment: whether what developers try is taken in place of what everyone gets.
    ///   - takesUnnamedPackages: whether packages are taken that do not say which version they are, as the platform made them. Then
    ///     whoever answers in the server's place may hand out any other package that the key ever signed.
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

    /// What ``sync(data:)`` did.
    public enum Outcome: Equatable, Sendable {
        /// When what is installed is to run.
        public enum Run: Equatable, Sendable {
            case now, atNextLaunch
        }

        /// A version was installed.
        case installed(version: Int, run: Run)
        /// What was installed is gone, because the server says so.
        case deleted
        /// Nothing was to be done; why, in words.
        case kept(String)
    }

    /// Asks for `ROOT/APPKEY/APPVERSION` within 20 s, and does what it says, if that may be done here.
    ///
    /// Afterwards: the new version is installed, durably and encrypted as it came; after an error the older one is installed as before.
    /// A version that is lower than one that was installed here is not taken.
    /// - Parameter data: what the app knows of device and user, for conditions.
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
        case nil: preconditionFailure("a sync that does not fail comes to something")
        }
    }

    /// Sends what was installed, and what failed, and was not acknowledged yet: each once.
    ///
    /// - Returns: how many reports are left, because the server did not acknowledge them.
    public func report() async throws(Failure) -> Int {
        var left = 0
        do throws(PlatformClientError) {
            try await PlatformClient.fetching(from: statistics) { fetcher throws(PlatformClientError) in
                left = try await client.report(to: fetcher)
            }
        } catch { throw Failure(error) }
        return left
    }

    /// 0 where nothing is installed for this app version.
    public var currentVersion: Int {
        get throws(Failure) {
            do throws(PlatformClientError) { return try client.folder.installed().version?.number ?? 0 } catch {
                throw Failure(error)
            }
        }
    }

    /// What the app runs now, verified and decrypted into memory; nil where nothing is installed.
    public func run() throws(Failure) -> PatchlineLoader.Scripts? {
        do throws(PlatformClientError) {
            return try client.scripts().flatMap { PatchlineLoader.Scripts($0) }
        } catch { throw Failure(error) }
    }
}

extension PatchlinePlatform {
    /// What went wrong, in one sentence, with the platform's code where it has one.
    public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// `com.jspatch` beside a ``code``; nil for what the app or the disk did.
        public let domain: String?
        /// 5001 to 5007, as the platform has them.
        public let code: Int?
        /// What a program does about it.
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
    /// Keeps caches away, and decides nothing.
    fileprivate static var ofClock: UTCTime { UTCTime(seconds: time(nil)) }
}

extension PlatformDraw {
    fileprivate static var random: PlatformDraw {
        guard let draw = PlatformDraw(Int.random(in: range)) else { preconditionFailure("it is in the range") }
        return draw
    }
}
