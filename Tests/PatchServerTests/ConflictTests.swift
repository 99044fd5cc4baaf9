import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage
import ServerTesting
import Testing

@Suite("A release that somebody else was faster than")
struct ConflictTests {
    @Test
    func `is refused when it was made from an older role`() throws {
        let server = try TestingServer()
        let (first, second) = (ReleaseFactory.Contents(), ReleaseFactory.Contents(web: nil))
        let mine = try server.factory.release(first, on: server.repository)
        let theirs = try server.factory.release(second, on: server.repository)
        try server.publish(theirs)
        let before = try server.everything()
        #expect(throws: ServerError.conflict(.outdated(channel: ReleaseFactory.production, base: 0, current: 1))) {
            try server.publish(mine)
        }
        #expect(try server.everything() == before)
    }

    @Test
    func `is refused when its base has the current version and other content`() throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        let current = try #require(try PublishedState(of: server.repository).channels[ReleaseFactory.production])
        let other = SHA256Digest(of: [1])
        let release = try server.factory.release(
            ReleaseFactory.Contents(web: nil),
            base: .init(roleVersion: 1, sha256: other),
            signedBy: [.production]
        )
        let conflict = PublishConflict.otherBase(
            channel: ReleaseFactory.production,
            version: 1,
            base: other,
            current: current.identity
        )
        #expect(throws: ServerError.conflict(conflict)) { try server.publish(release) }
    }

    @Test
    func `is refused when it gives a published label other bytes, in any channel`() throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        // Gone from the list, and still taken.
        try server.publish(
            try server.factory.release(ReleaseFactory.Contents(scripts: [:]), on: server.repository)
        )
        let contents = ReleaseFactory.Contents(scripts: ["fix-cart-total": ("1", "cart.total = 2;")], web: nil)
        for (channel, key) in [(ReleaseFactory.production, TestingKey.production), (ReleaseFactory.beta, .beta)] {
            let before = try server.everything()
            let release = try server.factory.release(contents, on: server.repository, channel: channel, signedBy: [key])
            let fault = EntryFault(entry: "fix-cart-total 1", rule: .republished)
            let refusal = ServerError.republished(fault, difference: "other bytes, 15 as before")
            #expect(throws: refusal) { try server.publish(release) }
            #expect(try server.everything() == before)
        }
    }

    @Test
    func `may list a published label again with the same bytes`() throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        try server.publish(try server.factory.release(ReleaseFactory.Contents(web: nil), on: server.repository))
        try server.publish(try server.factory.release(on: server.repository))
        #expect(try PublishedState(of: server.repository).version(of: ReleaseFactory.production) == 3)
    }
}
