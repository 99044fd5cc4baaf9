import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseClient
import ReleaseFolder
import SystemPackage

/// The release that a server publishes, downloaded and verified.
///
/// The next one is made from it. Only documents are downloaded: roles, the list, and the manifest and signatures of each listed
/// bundle. Scripts and assets are not needed, because unchanged files keep their signatures and are not uploaded again.
struct PublishedBase {
    let server: ServerOptions
    let memory: MemoryOptions
    let trust: ReleaseTrust

    /// The state of a channel on the server.
    private struct Fetched: Sendable {
        let seen: SeenMetadata
        let release: SignedRelease?
        /// Nil also for a request without a token, which cannot see drafts.
        let draft: ChannelState.Draft?
    }

    /// The current release of the channel; nil before the first one.
    ///
    /// - Parameters:
    ///   - quorum: `mayBeLost` for a release that lost signatures because a key was revoked.
    ///   - above: A version that the next release must exceed.
    /// - Throws: `conflict` if a pending draft could become the next release: another one would have to wait for it.
    func next(
        of channel: ChannelName,
        quorum: BaseRelease.SignatureRule = .complete,
        above: Int = 0
    ) async throws(Failure) -> BaseRelease? {
        let fetched = try await fetch(channel)
        if let draft = fetched.draft { throw waits(draft, in: channel) }
        guard let base = try base(fetched.release, of: channel, quorum, above) else { return nil }
        let version = base.contents.roleVersion
        Console.standardError.line(printable(Self.found(version, channel, on: try server.url())))
        return base
    }

    /// The current release of the channel, even if a draft is pending.
    func current(of channel: ChannelName) async throws(Failure) -> BaseRelease? {
        try base(try await fetch(channel).release, of: channel, .complete, 0)
    }

    private func fetch(_ channel: ChannelName) async throws(Failure) -> Fetched {
        let (root, app) = (try trust.rootBytes(), trust.app)
        let memory = try memory.ofServer(try server.url(), app: app)
        let fetched = try await server.reading { client, place throws(ServiceError) in
            let published = try await PublishedApp(
                app,
                root: root,
                at: ProcessEnvironment.latestPast,
                knowing: memory.known,
                from: client,
                at: place
            )
            let release = try await published.release(of: channel)
            var draft: ChannelState.Draft?
            if place == .service { draft = try await client.waitingDraft(of: channel, in: app) }
            return Fetched(seen: published.seen, release: release, draft: draft)
        }
        await memory.keep(fetched.seen)
        return fetched
    }

    private func base(
        _ release: SignedRelease?,
        of channel: ChannelName,
        _ quorum: BaseRelease.SignatureRule,
        _ above: Int
    ) throws(Failure) -> BaseRelease? {
        guard let release else { return nil }
        let version = release.header.roleVersion
        do throws(SigningError) {
            return try BaseRelease(
                published: release,
                at: FilePath("\(channel) \(version)"),
                rootOfTrust: trust,
                quorum: quorum,
                above: above,
                files: DiskFiles()
            )
        } catch .incomplete(_, let role, let valid, let needed) {
            throw Self.incomplete(role, version, valid: valid, needed: needed, options: server.words)
        } catch { throw Failure(error) }
    }

    private func waits(_ draft: ChannelState.Draft, in channel: ChannelName) -> Failure {
        let stale = StaleRelease.draftWaits(draft)
        return Failure(
            "\(channel) has a draft: release \(draft.version) waits for signatures "
                + "(\(draft.signatures) of \(draft.threshold))",
            hint: stale.hint(in: channel, base: 0, server: server.words, remake: .folder),
            code: .conflict
        )
    }

    static func first(_ channel: ChannelName, on server: ServerURL) -> String {
        "\(channel) has no release on \(server): this is its first"
    }

    static func found(_ version: Int, _ channel: ChannelName, on server: ServerURL) -> String {
        "made from release \(version) of \(channel), which \(server) publishes"
    }

    /// - Parameter options: The server options for another command, with a leading space.
    static func incomplete(_ role: String, _ version: Int, valid: Int, needed: Int, options: String) -> Failure {
        Failure(
            "release \(version) of \(role), which the server publishes, has \(valid) of "
                + "\(Words.count(needed, "signature")) by the keys that --keys names",
            hint: "if a key was revoked since: `patchsign release renew --base-quorum-lost --channel \(role) "
                + "--keys DIR --output NEW\(options)`; else --keys has another targets.json than the server",
            code: .refused
        )
    }
}
