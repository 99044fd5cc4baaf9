import PatchFormat
import Testing

@testable import PatchSignCommand
@testable import CommandKit

@Suite("The release of a rollback without --to")
struct EarlierReleaseTests {
    private static func rows(_ lists: [String], withdrawn: [Int: String] = [:]) -> [EarlierRelease.Row] {
        lists.enumerated().map { index, version in
            EarlierRelease.Row(
                version: index + 1,
                listed: [label(version): Sample.digest],
                withdrawn: Set([withdrawn[index + 1]].compactMap(\.self).map(label))
            )
        }.reversed()
    }

    private static func label(_ version: String) -> Label {
        Label(patchID: Sample.patch, version: Sample.named(version))
    }

    @Test func `is the newest one with another list`() {
        #expect(EarlierRelease(before: Self.rows(["1", "2"]))?.version == 1)
        // 4 and 5 are the list of 3, signed again.
        #expect(EarlierRelease(before: Self.rows(["1", "2", "3", "3", "3"]))?.version == 2)
    }

    @Test func `is not named if it is not certain`() {
        #expect(EarlierRelease(before: []) == nil)
        #expect(EarlierRelease(before: Self.rows(["1", "1"])) == nil)
        // 3 went back from 2, so 2 is the release that was left.
        #expect(EarlierRelease(before: Self.rows(["1", "2", "1"])) == nil)
        #expect(EarlierRelease(before: Self.rows(["1", "2", "3"], withdrawn: [3: "2"])) == nil)
    }

    @Test func `is read from the history, and completes the command`() throws {
        func release(_ version: Int, _ label: String) -> JSON {
            let patch = JSON.fields([
                ("patchId", .text("web")), ("version", .text(label)), ("sha256", .text(Sample.digest.hex)),
            ])
            return .fields([("roleVersion", .integer(version)), ("patches", .array([patch]))])
        }
        let earlier = EarlierRelease(in: .fields([("releases", .array([release(7, "2"), release(6, "1")]))]))
        #expect(
            earlier?.hint(after: ["rollback", "--channel", "production", "--note", "checkout errors", "--push"])
                == "release 6 has the list before that of 7: `patchsign rollback --to 6 --channel production --note "
                + "'checkout errors' --push`"
        )
        #expect(EarlierRelease(in: .fields([("releases", .array([release(7, "2"), .null]))])) == nil)
        #expect(EarlierRelease(in: .null) == nil)
        #expect(
            RollbackCommand.missing(RollbackCommand.history(of: Sample.channel, options: " --server http://a"))
                == Failure(
                    "--to is needed: the release to go back to",
                    hint: "`patchsrv history --channel production --server http://a` shows the releases",
                    code: .usage
                )
        )
    }
}
