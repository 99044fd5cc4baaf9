import HTTPCore
import HTTPFiles
import NIOHTTP1
import PatchFormat
import PatchCrypto
import PatchTrust
import ReleaseFolder
import Testing

@testable import ReleaseClient

@Suite("What a release service says that it publishes", .timeLimit(.minutes(10)))
struct PublishedAppTests {
    @Test func `is taken as an older release where its version is the one that was asked for, and no other`()
        async throws
    {
        let honest = try TreeService(current: 9)
        #expect(try await honest.release(7) == 7)
        let hostile = try TreeService(current: 9, answering: [7: 3, 8: 9])
        for (asked, offered) in [(7, 3), (8, 9)] {
            await #expect(
                throws: ServiceError.trust(.wrongVersion(role: "production", offered: offered, expected: asked))
            ) { try await hostile.release(asked) }
        }
    }

    @Test(arguments: [9, 12]) func `is not asked for a release that is not below the current one`(_ version: Int)
        async throws
    {
        let service = try TreeService(current: 9)
        let error = await #expect(throws: ServiceError.self) { try await service.release(version) }
        #expect(
            error?.description == "the server's answer is not valid: answer: change.to "
                + "must be below 9, the number of the current release"
        )
        let empty = try TreeService(current: nil)
        let none = await #expect(throws: ServiceError.self) { try await empty.release(version) }
        #expect(none == .noRelease(try #require(ChannelName("production"))))
    }

    /// On the devices' port or a static host; an object storage says 403 of a file that is not there.
    @Test func `is read without a service where devices read it`() async throws {
        for absent in [404, 403] {
            let host = try TreeService(current: 9, absence: absent)
            #expect(try await host.currentOnHost() == 9)
        }
        let empty = try TreeService(current: nil, absence: 404)
        #expect(try await empty.currentOnHost() == nil)
        let error = await #expect(throws: ServiceError.self) {
            try await empty.currentOnHost(of: AppID("com.example.other"))
        }
        guard case .problem(let problem) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(problem.kind == "noTree" && problem.detail.hasSuffix(" publishes no com.example.other"))
    }

    @Test func `is taken as a script for a package where its digest is that of the list, and no other`() async throws {
        let (digest, other) = (SHA256Digest(of: Array("one()".utf8)), SHA256Digest(of: Array("two()".utf8)))
        let service = try TreeService(
            current: 9,
            objects: [digest: Array("one()".utf8), other: Array("three()".utf8)]
        )
        #expect(try await service.object(digest) == Array("one()".utf8))
        let error = await #expect(throws: ServiceError.self) { try await service.object(other) }
        #expect(
            error?.description == "the server's answer is not valid: answer: "
                + "\(URLLayout.object(other)) is not the requested object"
        )
    }
}

/// A service with one app, whose releases are all signed as they should be, and which may answer one for another.
private struct TreeService: FileSource {
    private static let now = UTCTime(seconds: 1_795_219_200)

    private let app: AppID
    private let channel: ChannelName
    private let root: [UInt8]
    /// By path below the tree.
    private let files: [String: [UInt8]]
    /// How it answers for what is not there.
    private let absence: Int

    let acceptsBodies = false

    /// - Parameters:
    ///   - current: the version of the release that the snapshot lists; versions up to 12 are signed.
    ///   - others: the version that is answered in place of another.
    ///   - objects: what is answered, by the digest that is asked for.
    ///   - absence: the status of an answer for a file that is not there.
    init(
        current: Int?,
        answering others: [Int: Int] = [:],
        objects: [SHA256Digest: [UInt8]] = [:],
        absence: Int = 404
    ) throws {
        let (app, channel) = (try #require(AppID("com.example.shop")), try #require(ChannelName("production")))
        let key = try PrivateKey.generate(.ed25519)
        let signer = TUFKey(key.publicKey)
        let one = RoleDocument.Signers(keys: [signer], threshold: 1)
        let expires = Self.now.adding(.days(7))
        func signed(_ document: Envelope) throws -> [UInt8] {
            var envelope = document
            try envelope.sign(with: key, id: signer.id, scheme: .ed25519)
            return envelope.fileBytes
        }
        var files: [String: [UInt8]] = [:]
        for (digest, bytes) in objects { files[URLLayout.object(digest)] = bytes }
        for version in 1...12 {
            files[URLLayout.metadata(channel.text, version: version)] = try signed(
                RoleDocument.delegated(
                    channel.text,
                    version: others[version] ?? version,
                    expires: expires,
                    targets: [:]
                )
            )
        }
        let targets = try signed(
            RoleDocument.targets(version: 1, expires: expires, delegations: [.channel(channel, signers: one)])
        )
        var listed = ["targets": RoleFile(of: targets, version: 1)]
        if let current { listed[channel.text] = RoleFile(version: current, length: nil, sha256: nil) }
        let snapshot = try signed(RoleDocument.snapshot(version: 1, expires: expires, files: listed))
        files[URLLayout.metadata("targets", version: 1)] = targets
        files[URLLayout.metadata("snapshot", version: 1)] = snapshot
        files[URLLayout.timestamp] = try signed(
            RoleDocument.timestamp(
                version: 1,
                expires: expires,
                snapshot: RoleFile(of: snapshot, version: 1),
                signedAt: Self.now
            )
        )
        let top = Dictionary(uniqueKeysWithValues: RootRole.roleNames.map { ($0, one) })
        root = try signed(RoleDocument.root(app: app, version: 1, expires: expires, roles: top))
        (self.app, self.channel, self.files, self.absence) = (app, channel, files, absence)
    }

    /// Asked for an older release.
    ///
    /// - Returns: the version of what the client took for it.
    func release(_ version: Int) async throws -> Int {
        let (app, channel, root) = (app, channel, root)
        return try await asked { client throws(ServiceError) in
            let published = try await PublishedApp(app, root: root, at: Self.now, from: client)
            return try await published.release(of: channel, version: version).header.roleVersion
        }
    }

    /// Asked as a host of files; no release can be read further than its role, which has no targets here.
    ///
    /// - Returns: the version of the current release.
    func currentOnHost(of other: AppID? = nil) async throws -> Int? {
        let (app, channel, root) = (other ?? app, channel, root)
        return try await asked { client throws(ServiceError) in
            let published = try await PublishedApp(app, root: root, at: Self.now, from: client, at: .files)
            return try await published.release(of: channel)?.header.roleVersion
        }
    }

    func object(_ digest: SHA256Digest) async throws -> [UInt8] {
        let app = app
        return try await asked { client throws(ServiceError) in try await client.object(digest, of: app) }
    }

    func decide(_ request: FileRequest) -> FileDecision { .later(.whole, answer) }

    private func answer(_ request: FileRequest) -> FileAnswer {
        let segments = request.path.segments
        let path =
            request.query?.split(separator: "=", maxSplits: 1).last.map(String.init)
            ?? (segments.first == app.text ? segments.dropFirst().joined(separator: "/") : "")
        guard let bytes = files[path] else {
            let status = HTTPResponseStatus(statusCode: absence)
            return .bytes(ServedBytes(status: status, bytes: [], contentType: "application/json"))
        }
        return .bytes(ServedBytes(status: .ok, bytes: bytes, contentType: "application/json"))
    }
}
