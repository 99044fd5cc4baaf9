import ArgumentParser
import CommandKit
import PatchChoice
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// The steps of a quick start.
///
/// Steps that an earlier run completed are skipped.
struct QuickstartWork {
    let source: FilePath
    let place: QuickstartFolder
    let signer: ReleaseSigner
    let app: AppID?
    /// Whether a server is started afterwards, also if it cannot publish the source.
    let serves: Bool
    /// The output for the steps.
    let console: Console
    /// Returns the release keys' passphrase.
    ///
    /// Asks for it at most once a run.
    let passphrase: (_ isNew: Bool) throws(Failure) -> Passphrase
    private let files = DiskFiles()

    init(
        source: FilePath,
        place: QuickstartFolder,
        signer: ReleaseSigner,
        app: AppID?,
        serves: Bool,
        console: Console = .standardOutput,
        passphrase: @escaping (_ isNew: Bool) throws(Failure) -> Passphrase
    ) {
        (self.source, self.place, self.signer) = (source, place, signer)
        (self.app, self.serves, self.console, self.passphrase) = (app, serves, console, passphrase)
    }

    /// Runs all steps.
    ///
    /// Afterwards the newest release of the source is published in the server's folder.
    ///
    /// - Returns: Whether its page lacks the call that confirms a version.
    func prepare() async throws -> Bool {
        try checkSource()
        if let owner = ActingOwner.stranger(to: place.root) { throw Self.foreign(place.root, owner) }
        try place.make()
        let lock = try place.taken()
        let lacksConfirmation: Bool
        do { lacksConfirmation = try await work() } catch {
            lock.release()
            throw error
        }
        lock.release()
        return lacksConfirmation
    }

    private func work() async throws -> Bool {
        let typed = try makeKeys()
        try await startServer()
        let release = try release(typed)
        try await publish(release.number)
        return release.lacksConfirmation
    }

    /// The newest release.
    func newestHeader() throws -> ReleaseHeader {
        try newest(place.newestRelease()).header
    }

    /// Checks the source before anything is written.
    private func checkSource() throws(Failure) {
        guard (try? files.status(of: source.followingLinks)) ?? nil != nil else {
            throw Failure(
                "there is no folder \(source)",
                hint: "name the folder that is published; build the app first",
                code: .disk
            )
        }
        func has(_ name: String) -> Bool { (try? files.status(of: source.at(name)))?.kind == .file }
        guard !has(Self.description) else { return }
        guard has(Self.page) else {
            throw Failure(
                "there is neither \(Self.page) nor \(Self.description) in \(source)",
                hint: "name the folder that is published; build the app first",
                code: .disk
            )
        }
        guard !"\(place.root)/".hasPrefix("\(source)/") else {
            throw Failure(
                "\(place.root) would be in \(source), and its keys would be published with it",
                hint: "name another place with --into",
                code: .usage
            )
        }
    }

    /// - Returns: The passphrase, if the user was asked for it.
    private func makeKeys() throws -> Passphrase? {
        if try place.hasKeys {
            let known = try rootOfTrust().app
            guard app == nil || app == known else {
                throw Failure(
                    "\(place.keys) has the keys of \(known), not of \(app?.text ?? "")",
                    hint: "an app keeps its id; another app is made in another folder: --into DIR",
                    code: .conflict
                )
            }
            return nil
        }
        let text = try? files.read(source.at(Self.description), limit: Limits.releaseDescription)
        // Any encoding of an editor. `patchsign` reports a text that cannot be decoded.
        let description = text.flatMap { try? FileText.decode($0) }
        guard let target = QuickstartTarget(source, description: description, app: app) else {
            throw Self.noChannel(source)
        }
        let secret = try passphrase(true)
        try signer.done(
            [
                "init", "--app", target.app.text, "--keys", place.keys.string, "--channel", target.channel.text,
                "--recovery-key", "--passphrase-file", "-", "--online-passphrase-file", place.onlinePassphrase.string,
            ],
            passphrase: secret
        )
        report("made the keys of \(target.app) in \(place.keys)")
        report("made the passphrase of the server's key in \(place.onlinePassphrase)")
        return secret
    }

    private func rootOfTrust() throws -> RootOfTrust {
        try RootOfTrust(
            root: try files.read(place.keys.at("root.json"), limit: Limits.root),
            targets: try files.read(place.keys.at("targets.json"), limit: Limits.targetsRole),
            at: ProcessEnvironment.now()
        )
    }

    private func startServer() async throws {
        guard try serverFolder.allApps(files: files).isEmpty else { return }
        try await InitCommand.parse(
            ["--trust", place.keys.string, "--online-key", place.onlineKey.string] + serverOptions
        ).begin(shownOn: console)
    }

    /// Signs the source as the next release, unless nothing changed.
    ///
    /// - Returns: The newest release, and whether its page lacks the call that confirms a version.
    private func release(_ typed: Passphrase?) throws -> (number: Int, lacksConfirmation: Bool) {
        let newest = try place.newestRelease()
        var arguments = ["release", source.string, "--keys", place.keys.string]
        if newest > 0 {
            let header = try self.newest(newest).header
            if let published = try publishedVersion(of: header.channel), published > header.roleVersion {
                guard serves else {
                    throw Self.overtaken(
                        header.channel,
                        published: published,
                        own: header.roleVersion,
                        source: source,
                        keys: place.keys
                    )
                }
                let warning = Self.behind(
                    header.channel,
                    published: published,
                    own: header.roleVersion,
                    source: source,
                    keys: place.keys
                )
                for line in warning { Console.standardError.line(printable(line)) }
                return (newest, false)
            }
            arguments += ["--previous", place.release(newest).string]
        }
        let (check, code) = try signer.run(arguments + ["--check"])
        let lacksConfirmation = Self.lacksConfirmation(check)
        guard try newest == 0 || isChanged(check, code) else {
            report("\(source) has not changed since release \(newest)")
            return (newest, lacksConfirmation)
        }
        let next = place.release(newest + 1)
        try signer.done(
            arguments + ["--output", next.string, "--passphrase-file", "-"],
            passphrase: try typed ?? passphrase(false)
        )
        report("signed \(source) as release \(newest + 1), in \(next)")
        return (newest + 1, lacksConfirmation)
    }

    /// Whether the output of `patchsign release --check` has the warning about a page that does not confirm.
    static func lacksConfirmation(_ check: JSON) -> Bool {
        check.items("warnings").contains { $0.words("key").hasSuffix(".confirmed-by") }
    }

    /// The failure for a folder of another user, who could read its keys or may have chosen its passphrase.
    static func foreign(_ place: FilePath, _ owner: String) -> Failure {
        Failure("\(place) belongs to \(owner)", hint: "name a folder of your own with --into", code: .usage)
    }

    static func noChannel(_ source: FilePath) -> Failure {
        Failure("\(source.at(description)) names no channel", code: .malformed)
    }

    static func behind(
        _ channel: ChannelName,
        published: Int,
        own: Int,
        source: FilePath,
        keys: FilePath
    ) -> [String] {
        [
            "warning: the server has release \(published) of \(channel), and releases/ ends with \(own): other releases were "
                + "published, so the server is started as it is",
            "hint: if \(source) has changed, \(next(source, keys))",
        ]
    }

    /// How the source becomes a release of a server that has releases of other origin.
    private static func next(_ source: FilePath, _ keys: FilePath) -> String {
        "`patchsign release \(shellWord(source.string)) --keys \(shellWord(keys.string)) --server URL --output NEW` makes the "
            + "next one; push that"
    }

    static func overtaken(
        _ channel: ChannelName,
        published: Int,
        own: Int,
        source: FilePath,
        keys: FilePath
    ) -> Failure {
        Failure(
            "the server has release \(published) of \(channel), and releases/ ends with \(own): other releases were published",
            hint: next(source, keys),
            code: .conflict
        )
    }

    /// Whether the folder differs from the newest release.
    ///
    /// The check opens no key, so an unchanged folder needs no passphrase.
    private func isChanged(_ check: JSON, _ code: ResultCode) throws(Failure) -> Bool {
        if code == .done { return check["changed"] != .bool(false) }
        if case .array(let mistakes) = check["mistakes"] {
            for case .string(let text) in mistakes.map({ $0["message"] }) {
                Console.standardError.line(printable("error: \(text.text)"))
            }
        }
        throw Failure("\(source) cannot be released", hint: ReleaseSigner.resumeHint, code: code)
    }

    private func publish(_ number: Int) async throws {
        let release = try newest(number)
        if let published = try publishedVersion(of: release.header.channel), published >= release.header.roleVersion {
            return
        }
        try await PublishCommand.parse([place.release(number).string] + serverOptions)
            .publish(shownOn: console, isServedNext: serves)
    }

    private func newest(_ number: Int) throws(ReleaseError) -> SignedRelease {
        try SignedRelease(folder: place.release(number), files: files)
    }

    /// Nil before the first release.
    private func publishedVersion(of channel: ChannelName) throws -> Int? {
        let app = try rootOfTrust().app
        return try AppListing(of: AppRepository(app, in: serverFolder)).channels.first { $0.name == channel }?.version
    }

    private var serverFolder: ServerFolder { ServerFolder(place.server, build: Build.time) }
    private var serverOptions: [String] {
        ["--data", place.server.string, "--passphrase-file", place.onlinePassphrase.string]
    }

    private func report(_ text: String) { console.line(printable(text)) }

    private static let description = "release.yaml"
    private static let page = "index.html"
}
