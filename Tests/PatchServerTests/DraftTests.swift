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

@Suite("A release below its threshold")
struct DraftTests {
    private let production = ReleaseFactory.production

    @Test
    func `is kept as a draft and changes nothing that is served`() throws {
        let server = try TestingServer(threshold: 2)
        let before = try server.everything()
        let release = try server.factory.release(on: server.repository)
        guard case .drafted(production, 1, let quorum) = try server.publish(release) else {
            Issue.record("was not drafted")
            return
        }
        #expect((quorum.valid, quorum.needed) == (1, 2))
        let after = try server.everything()
        #expect(before.allSatisfy { after[$0.key] == $0.value })
        #expect(after.keys.filter { before[$0] == nil }.allSatisfy { $0.hasPrefix("/srv/drafts/") })
        #expect(try server.repository.tree.drafts(of: production).map(\.version) == [1])
    }

    @Test
    func `is published once the second key holder's copy comes in, and the draft is gone`() throws {
        let server = try TestingServer(threshold: 2)
        let unsigned = try server.factory.release(on: server.repository, signedBy: [])
        var (one, two) = (unsigned, unsigned)
        try one.sign(with: try TestingKey.production.key, id: try TestingKey.production.signer.id)
        try two.sign(with: try TestingKey.second.key, id: try TestingKey.second.signer.id)
        try server.publish(one)
        guard case .published(let done) = try server.publish(two) else {
            Issue.record("was not published")
            return
        }
        #expect(done.version == 1)
        #expect(done.removedDrafts == [1])
        #expect(try server.repository.tree.drafts(of: production).isEmpty)
        #expect(try PublishedState(of: server.repository).version(of: production) == 1)
    }

    @Test
    func `stays a draft when the same key holder signs twice`() throws {
        let server = try TestingServer(threshold: 2)
        let unsigned = try server.factory.release(on: server.repository, signedBy: [])
        for _ in 1...2 {
            var signed = unsigned
            try signed.sign(with: try TestingKey.production.key, id: try TestingKey.production.signer.id)
            guard case .drafted(production, 1, let quorum) = try server.publish(signed) else {
                Issue.record("was not drafted")
                return
            }
            #expect(quorum.valid == 1)
        }
    }

    @Test
    func `does not lose a good signature to a bad one by the same key`() throws {
        let server = try TestingServer(threshold: 2)
        let unsigned = try server.factory.release(on: server.repository, signedBy: [])
        var (one, two) = (unsigned, unsigned)
        try one.sign(with: try TestingKey.production.key, id: try TestingKey.production.signer.id)
        try two.sign(with: try TestingKey.second.key, id: try TestingKey.second.signer.id)
        two.merge([.init(keyID: try TestingKey.production.signer.id.hex, bytes: Array(repeating: 1, count: 384))])
        try server.publish(one)
        guard case .published = try server.publish(two) else {
            Issue.record("was not published")
            return
        }
    }

    @Test
    func `is refused when no key of the channel signed it`() throws {
        let server = try TestingServer(threshold: 2)
        let before = try server.everything()
        let release = try server.factory.release(on: server.repository, signedBy: [.other, .beta])
        #expect(throws: ServerError.release(.trust(.threshold(role: "production", valid: 0, needed: 2)))) {
            try server.publish(release)
        }
        #expect(try server.everything() == before)
    }

    @Test
    func `is refused when another pipeline drafted this version with other content`() throws {
        let server = try TestingServer(threshold: 2)
        let mine = try server.factory.release(on: server.repository)
        let theirs = try server.factory.release(
            ReleaseFactory.Contents(web: nil),
            on: server.repository,
            signedBy: [.second]
        )
        try server.publish(theirs)
        let before = try server.everything()
        let conflict = PublishConflict.otherDraft(
            channel: production,
            version: 1,
            kept: theirs.role.identity,
            offered: mine.role.identity
        )
        #expect(throws: ServerError.conflict(conflict)) { try server.publish(mine) }
        #expect(try server.everything() == before)
    }

    @Test
    func `gives way to another release of its version that has its quorum`() throws {
        let server = try TestingServer(threshold: 2)
        try server.publish(try server.factory.release(on: server.repository))
        let whole = try server.factory.release(
            ReleaseFactory.Contents(web: nil),
            on: server.repository,
            signedBy: [.production, .second]
        )
        guard case .published(let done) = try server.publish(whole) else {
            Issue.record("was not published")
            return
        }
        #expect(done.removedDrafts == [1])
        #expect(try server.repository.tree.drafts(of: production).isEmpty)
    }

    @Test(arguments: [FaultyFiles.Survival.lose, .keepNames])
    func `given up is whole or gone, wherever that is stopped`(survival: FaultyFiles.Survival) throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files, threshold: 2)
        try server.publish(try server.factory.release(on: server.repository))
        let rehearsal = files.reopened()
        try server.on(rehearsal).repository.tree.removeDraft(of: production, version: 1)
        for change in 1...rehearsal.changes {
            let disk = files.reopened(failingAtChange: change)
            #expect(throws: ServerError.self) {
                try server.on(disk).repository.tree.removeDraft(of: production, version: 1)
            }
            for disk in [disk.crashed(survival), disk.reopened()] {
                let after = try server.on(disk)
                for draft in try after.repository.tree.drafts(of: production) {
                    #expect(draft.release.objects.count == 3, "stopped at change \(change)")
                }
                try after.repository.tree.removeDraft(of: production, version: 1)
                #expect(try after.repository.tree.drafts(of: production).isEmpty)
            }
        }
    }

    @Test
    func `that is damaged can be given up, and its number taken by another`() throws {
        let server = try TestingServer(threshold: 2)
        let release = try server.factory.release(on: server.repository)
        try server.publish(release)
        let folder = server.folder.drafts(of: release.header.app, channel: production).appending("1")
        try server.files.remove(folder.appending("role.json"))
        #expect(throws: ServerError.self) { try server.publish(release) }
        try server.repository.tree.removeDraft(of: production, version: 1)
        #expect(try server.files.status(of: folder) == nil)
        guard case .drafted = try server.publish(release) else {
            Issue.record("was not drafted")
            return
        }
    }
}
