import PatchFormat
import PatchRelease
import PatchCrypto
import PatchTesting
import PatchTrust
import Testing

@Suite("A draft of a release")
struct DraftTests {
    private func described(
        _ id: String,
        _ version: String,
        bytes: String,
        keep: Int = 1,
        requires: [PatchID: [DescribedPatch.Requirement]] = [:],
        rules: PatchRules = .everyone
    ) throws -> ReleaseDraft.Described {
        let patch = DescribedPatch(
            patchID: named(id),
            version: named(version),
            content: .script(file: try AssetPath("a.js")),
            rules: rules,
            requires: requires,
            keep: keep
        )
        return ReleaseDraft.Described(patch, fingerprint: Fingerprint(of: Array(bytes.utf8)))
    }

    /// What a draft comes to once it is published, with signatures that nobody checks here.
    ///
    /// - Parameters:
    ///   - base: the list before it; what it withdrew is carried on.
    ///   - serial: of this list.
    private func published(
        _ draft: ReleaseDraft,
        over base: ReleaseContents? = nil,
        serial: Int = 1,
        at time: UTCTime = Workbench.time
    ) -> ReleaseContents {
        let entries = draft.rows.map { row in
            PatchEntry(
                patchID: row.label.patchID,
                kind: row.kind,
                version: row.label.version,
                url: "",
                fingerprint: row.fingerprint,
                signature: EntrySignature(keyID: row.fingerprint.sha256, bytes: row.fingerprint.sha256.bytes),
                salt: row.salt,
                requires: row.requires,
                rules: row.rules
            )
        }
        return ReleaseContents(
            app: Workbench.app,
            channel: named("production"),
            base: nil,
            roleVersion: 1,
            expires: Workbench.time,
            entryKeys: [],
            list: PatchList(
                app: Workbench.app,
                channel: named("production"),
                serial: serial,
                published: time,
                entries: entries,
                withdrawn: draft.withdrawn(beside: base?.list, inList: serial, at: time, validity: .days(90))
            ),
            manifests: [:]
        )
    }

    private func labels(_ draft: ReleaseDraft) -> [String] { draft.rows.map(\.label.description) }

    @Test func `lists the described version first and keeps one of the base's behind it`() throws {
        let one = published(try ReleaseDraft([described("a", "1", bytes: "1")], base: nil))
        let two = published(try ReleaseDraft([described("a", "2", bytes: "2")], base: one))
        #expect(labels(try ReleaseDraft([described("a", "3", bytes: "3")], base: two)) == ["a 3", "a 2"])
        #expect(
            labels(try ReleaseDraft([described("a", "3", bytes: "3", keep: 5)], base: two)) == ["a 3", "a 2", "a 1"]
        )
        #expect(labels(try ReleaseDraft([described("a", "3", bytes: "3", keep: 0)], base: two)) == ["a 3"])
        #expect(labels(try ReleaseDraft([described("a", "2", bytes: "2")], base: two)) == ["a 2", "a 1"])
        #expect(labels(try ReleaseDraft([described("a", "1", bytes: "1")], base: two)) == ["a 1", "a 2"])
    }

    @Test func `is refused when it lacks an id that the base lists`() throws {
        let base = published(
            try ReleaseDraft([described("a", "1", bytes: "1"), described("b", "1", bytes: "b")], base: nil)
        )
        #expect(throws: SigningError.unlisted([named("b")])) {
            try ReleaseDraft([described("a", "1", bytes: "1")], base: base)
        }
    }

    @Test func `is refused when a label comes with other bytes`() throws {
        let base = published(try ReleaseDraft([described("a", "1", bytes: "one")], base: nil))
        let error = #expect(throws: SigningError.self) {
            try ReleaseDraft([described("a", "1", bytes: "other")], base: base)
        }
        guard case .republished(label("a", "1"), _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `keeps versions up to the first that every device may take, however few are asked for`() throws {
        let quarter = PatchRules(rollout: 2_500)
        let one = published(try ReleaseDraft([described("a", "1", bytes: "1")], base: nil))
        let two = published(try ReleaseDraft([described("a", "2", bytes: "2", rules: quarter)], base: one))
        let three = try ReleaseDraft([described("a", "3", bytes: "3", rules: quarter)], base: two)
        #expect(labels(three) == ["a 3", "a 2", "a 1"])
        #expect(labels(try ReleaseDraft([described("a", "3", bytes: "3", keep: 0)], base: two)) == ["a 3"])
        let four = try ReleaseDraft([described("a", "4", bytes: "4")], base: published(three))
        #expect(labels(four) == ["a 4", "a 3"])
    }

    @Test func `keeps signature and salt of a label with the same bytes, and takes its new rules`() throws {
        let base = published(try ReleaseDraft([described("a", "1", bytes: "one")], base: nil))
        var rules = PatchRules.everyone
        rules.rollout = 100
        let row = try ReleaseDraft([described("a", "1", bytes: "one", rules: rules)], base: base).rows[0]
        #expect(row.known == base.list.entries[0].signature)
        #expect(row.salt == base.list.entries[0].salt)
        #expect(row.rules.rollout == 100)
    }

    @Test func `gives a content the same salt under any label, as the format says`() throws {
        let rows = try ReleaseDraft([described("a", "1", bytes: "one")], base: nil).rows
        let text = "patchline-salt-v1\na\n\(rows[0].fingerprint.sha256.hex)"
        #expect(rows[0].salt == Array(SHA256Digest(of: Array(text.utf8)).bytes.prefix(16)))
        let again = try ReleaseDraft(
            [described("a", "2", bytes: "one")],
            base: published(try ReleaseDraft([described("a", "1", bytes: "one")], base: nil))
        )
        #expect(again.rows.map(\.salt) == [rows[0].salt, rows[0].salt])
    }

    @Test func `turns a required version into its content`() throws {
        let web = try described("web", "1", bytes: "web")
        let draft = try ReleaseDraft(
            [described("a", "1", bytes: "one", requires: [named("web"): [.version(named("1"))]]), web],
            base: nil
        )
        #expect(draft.rows[0].requires == [named("web"): [web.fingerprint.sha256]])
    }

    @Test func `is refused when a patch requires what is not listed`() throws {
        #expect(throws: SigningError.unmet(label("a", "1"), requires: named("web"))) {
            try ReleaseDraft(
                [described("a", "1", bytes: "1", requires: [named("web"): [.version(named("9"))]])],
                base: nil
            )
        }
    }

    @Test func `of a withdrawal lacks the patch, or one version of it, and nothing else`() throws {
        let one = published(
            try ReleaseDraft([described("a", "1", bytes: "1"), described("b", "1", bytes: "b")], base: nil)
        )
        let two = published(
            try ReleaseDraft([described("a", "2", bytes: "2"), described("b", "1", bytes: "b")], base: one)
        )
        #expect(labels(try ReleaseDraft(withdrawing: named("a"), version: nil, from: two)) == ["b 1"])
        #expect(labels(try ReleaseDraft(withdrawing: named("a"), version: named("2"), from: two)) == ["a 1", "b 1"])
        #expect(throws: SigningError.nothingToWithdraw(named("a"), named("9"))) {
            try ReleaseDraft(withdrawing: named("a"), version: named("9"), from: two)
        }
    }

    @Test func `of a withdrawal names a version that an earlier release listed and the base does not`() throws {
        let one = published(
            try ReleaseDraft([described("a", "1", bytes: "1"), described("b", "1", bytes: "b")], base: nil)
        )
        let two = published(
            try ReleaseDraft(
                [described("a", "2", bytes: "2", keep: 0), described("b", "1", bytes: "b")],
                base: one
            ),
            serial: 2
        )
        let back = published(try ReleaseDraft(rollingBackTo: one, over: two), over: two, serial: 3)
        #expect(two.mayReturn(after: back) == [label("a", "2")])
        #expect(throws: SigningError.nothingToWithdraw(named("a"), named("2"))) {
            try ReleaseDraft(withdrawing: named("a"), version: named("2"), from: back)
        }
        #expect(throws: SigningError.nothingToWithdraw(named("a"), named("9"))) {
            try ReleaseDraft(withdrawing: named("a"), version: named("9"), from: back, listedBy: two)
        }
        let draft = try ReleaseDraft(withdrawing: named("a"), version: named("2"), from: back, listedBy: two)
        #expect(labels(draft) == ["a 1", "b 1"])
        let gone = published(draft, over: back, serial: 4)
        let row = try #require(gone.list.withdrawn.first)
        #expect(row.label == label("a", "2") && row.serial == 4 && gone.list.withdrawn.count == 1)
        #expect(gone.withdrawal(of: named("a"), version: named("2")) == row)
        #expect(gone.withdrawal(of: named("a"), version: nil) == nil, "a 1 is listed")
        #expect(back.withdrawal(of: named("a"), version: named("2")) == nil)
        #expect(!gone.listsTheSame(as: back) && two.mayReturn(after: gone) == [])
        #expect(
            ReleaseDifference(from: back, to: gone).words == [
                "= a 1 stays", "= b 1 stays",
                "- a 2, which is not listed any more, is withdrawn for good; devices that still run it "
                    + "remove it, and no later release can list it",
            ]
        )
        #expect(throws: SigningError.withdrawn(label("a", "2"), since: row)) {
            try ReleaseDraft(rollingBackTo: two, over: gone)
        }
    }

    @Test func `of a withdrawal is refused while its content stays listed as another version`() throws {
        let one = published(try ReleaseDraft([described("a", "1", bytes: "same")], base: nil))
        let two = published(try ReleaseDraft([described("a", "2", bytes: "same")], base: one))
        #expect(throws: SigningError.contentStays(label("a", "1"), as: named("2"))) {
            try ReleaseDraft(withdrawing: named("a"), version: named("1"), from: two)
        }
        #expect(labels(try ReleaseDraft(withdrawing: named("a"), version: nil, from: two)) == [])
    }

    // MARK: Withdrawn by name

    @Test func `names what it withdraws, and is carried on for ten releases and as long as a role holds`() throws {
        let one = published(try ReleaseDraft([described("a", "2", bytes: "2")], base: nil))
        let two = try ReleaseDraft([described("a", "3", bytes: "3")], base: one)
        let listed = published(two)
        let draft = try ReleaseDraft(withdrawing: named("a"), version: named("3"), from: listed)
        let gone = published(draft, over: listed, serial: 7)
        #expect(
            gone.list.withdrawn == [
                WithdrawnVersion(
                    patchID: named("a"),
                    version: named("3"),
                    sha256: SHA256Digest(of: Array("3".utf8)),
                    serial: 7,
                    since: Workbench.time
                )
            ]
        )
        let next = ReleaseDraft(renewing: gone)
        let late = Workbench.time.adding(.days(90))
        #expect(published(next, over: gone, serial: 16, at: late).list.withdrawn == gone.list.withdrawn)
        #expect(published(next, over: gone, serial: 17).list.withdrawn == gone.list.withdrawn)
        #expect(published(next, over: gone, serial: 17, at: late).list.withdrawn == [])
    }

    @Test func `names what was withdrawn for as long as no listed version of its patch is for every device`() throws {
        let one = published(try ReleaseDraft([described("a", "2", bytes: "2")], base: nil))
        let quarter = PatchRules(rollout: 2_500)
        let two = published(try ReleaseDraft([described("a", "3", bytes: "3", keep: 0, rules: quarter)], base: one))
        let draft = try ReleaseDraft(withdrawing: named("a"), version: named("2"), from: two)
        let gone = published(draft, over: two, serial: 3)
        let late = Workbench.time.adding(.days(900))
        let closed = published(ReleaseDraft(renewing: gone), over: gone, serial: 99, at: late)
        #expect(closed.list.withdrawn == gone.list.withdrawn)
        let open = try ReleaseDraft([described("a", "4", bytes: "4")], base: closed)
        #expect(published(open, over: closed, serial: 100, at: late).list.withdrawn == [])
    }

    @Test func `never lists again what was withdrawn by name, in whichever way it would come back`() throws {
        let one = published(try ReleaseDraft([described("a", "1", bytes: "1")], base: nil))
        let two = published(try ReleaseDraft([described("a", "2", bytes: "2")], base: one))
        let gone = published(
            try ReleaseDraft(withdrawing: named("a"), version: named("2"), from: two),
            over: two,
            serial: 3
        )
        func error(_ version: String) throws -> SigningError {
            .withdrawn(label("a", version), since: try #require(gone.list.withdrawn.first))
        }
        #expect(throws: try error("2")) { try ReleaseDraft([described("a", "2", bytes: "2")], base: gone) }
        #expect(throws: try error("3")) { try ReleaseDraft([described("a", "3", bytes: "2")], base: gone) }
        #expect(throws: try error("2")) { try ReleaseDraft(promoting: two, over: gone) }
        #expect(throws: try error("2")) { try ReleaseDraft(rollingBackTo: two, over: gone) }
        #expect(labels(try ReleaseDraft(rollingBackTo: one, over: gone)) == ["a 1"])
        #expect(throws: SigningError.republished(label("a", "2"), difference: "it was withdrawn in list 3")) {
            try ReleaseDraft([described("a", "2", bytes: "other")], base: gone)
        }
        #expect(labels(try ReleaseDraft([described("a", "3", bytes: "3")], base: gone)) == ["a 3", "a 1"])
        #expect(
            try error("2").description
                == "a 2 was withdrawn in list 3 (\(Workbench.time)), and that is final"
        )
        #expect(
            try error("3").description
                == "a 3 has the content of 2, which was withdrawn in list 3 (\(Workbench.time)), and that is final"
        )
    }

    @Test(
        arguments: [
            (now: ["2.0.0"], next: ["2.1.0"], back: []), (["2.0.0"], ["2.0.0"], []), (["2.0.0"], ["1.9.0"], ["1.9.0"]),
            (["2.0.0"], ["10.0.0"], []), (["2.0.0"], ["2.1.0", "1.9.0"], ["1.9.0"]),
            (["2.0.0", "1.0.0"], ["1.0.0"], ["1.0.0"]),
            (["2.0.0", "1.0.0"], ["2.0.0", "1.0.0"], []), (["2.0.0-rc.1"], ["1.9.0+7"], ["1.9.0+7"]),
            (["spring"], ["autumn"], []), (["spring", "winter"], ["winter"], ["winter"]),
        ] as [(now: [String], next: [String], back: [String])]
    )
    func `of a promotion says which versions are below the channel's newest`(
        _ now: [String],
        _ next: [String],
        _ back: [String]
    ) throws {
        func list(_ versions: [String]) throws -> ReleaseContents {
            var rules = PatchRules()
            rules.rollout = 100
            var contents: ReleaseContents?
            for version in versions.reversed() {
                let open = version == versions.last ? PatchRules() : rules
                contents = published(
                    try ReleaseDraft([described("a", version, bytes: version, rules: open)], base: contents)
                )
            }
            return try #require(contents)
        }
        let steps = StepBack.all(from: try list(now), to: try list(next))
        #expect(steps.map(\.label.version.text) == back && steps.allSatisfy { $0.newest.text == now[0] })
        #expect(StepBack.all(from: nil, to: try list(next)).isEmpty)
    }

    @Test func `of a promotion lists the other channel's versions first, and loses nothing of its own`() throws {
        let own = published(
            try ReleaseDraft(
                [described("a", "1", bytes: "1"), described("b", "1", bytes: "b"), described("c", "1", bytes: "c")],
                base: nil
            )
        )
        let tested = published(
            try ReleaseDraft([described("a", "2", bytes: "2"), described("b", "1", bytes: "b")], base: nil)
        )
        #expect(labels(try ReleaseDraft(promoting: tested, over: own)) == ["a 2", "a 1", "b 1", "c 1"])
        #expect(labels(try ReleaseDraft(promoting: tested, over: nil)) == ["a 2", "b 1"])
        var few = PatchRules()
        few.rollout = 100
        let behind = published(
            try ReleaseDraft(
                [described("a", "3", bytes: "3", rules: few)],
                base: published(try ReleaseDraft([described("a", "2", bytes: "2")], base: nil))
            )
        )
        let rows = try ReleaseDraft(promoting: behind, over: own).rows
        #expect(
            rows.map(\.label.description) == ["a 3", "a 2", "b 1", "c 1"],
            "one for everybody is behind it already"
        )
        #expect(rows[0].rules == few)
    }

    @Test func `of a promotion may let fewer devices take a version, and then keeps the one before behind it`() throws {
        let own = published(try ReleaseDraft([described("a", "1", bytes: "1")], base: nil))
        let tested = published(
            try ReleaseDraft([described("a", "2", bytes: "2"), described("b", "1", bytes: "b")], base: nil)
        )
        let rows = try ReleaseDraft(promoting: tested, over: own, rollouts: [named("a"): 1_000]).rows
        #expect(rows.map(\.label.description) == ["a 2", "a 1", "b 1"])
        #expect(rows.map(\.rules.rollout) == [1_000, 10_000, 10_000])
        #expect(throws: SigningError.nothingToWithdraw(named("c"), nil)) {
            try ReleaseDraft(promoting: tested, over: own, rollouts: [named("c"): 1_000])
        }
    }

    @Test func `of a promotion to a share leaves older versions where they are, so everybody else keeps what he has`()
        throws
    {
        let own = published(
            try ReleaseDraft([described("a", "1", bytes: "1"), described("b", "1", bytes: "b")], base: nil)
        )
        let share: [PatchID: Int] = [named("a"): 1_000]
        for rules in [PatchRules.everyone, PatchRules(rollout: 5_000), PatchRules(condition: "region==eu")] {
            let two = published(
                try ReleaseDraft([described("a", "2", bytes: "2"), described("b", "2", bytes: "bb")], base: nil)
            )
            let tested = published(
                try ReleaseDraft(
                    [described("a", "3", bytes: "3", rules: rules), described("b", "3", bytes: "bbb", rules: rules)],
                    base: two
                )
            )
            let rows = try ReleaseDraft(promoting: tested, over: own, rollouts: share).rows
            let isOpen = rules == .everyone
            #expect(
                rows.map(\.label.description) == ["a 3", "a 1", "b 3", "b 2"],
                "only what a share is named for: \(rules)"
            )
            #expect(rows[0].rules.rollout == 1_000 && rows[0].rules.condition == rules.condition)
            #expect(rows[1].rules == .everyone && rows[2].rules.isForEveryone == isOpen)
            #expect(labels(try ReleaseDraft(promoting: tested, over: nil, rollouts: share)) == ["a 3", "b 3", "b 2"])
        }
        // What both list stands under this channel's rules, and under one content.
        func three(_ two: String) throws -> ReleaseContents {
            let older = published(try ReleaseDraft([described("a", "2", bytes: two)], base: nil))
            return published(try ReleaseDraft([described("a", "3", bytes: "3")], base: older))
        }
        let slow = published(
            try ReleaseDraft(
                [described("a", "2", bytes: "2", rules: PatchRules(rollout: 7_000)), described("b", "1", bytes: "b")],
                base: own
            )
        )
        let rows = try ReleaseDraft(promoting: try three("2"), over: slow, rollouts: share).rows
        #expect(rows.map(\.label.description) == ["a 3", "a 2", "a 1", "b 1"])
        #expect(rows.map(\.rules.rollout) == [1_000, 7_000, 10_000, 10_000])
        let digest = SHA256Digest(of: Array("2".utf8)).hex.prefix(12)
        #expect(throws: SigningError.republished(label("a", "2"), difference: "sha256 \(digest)… in production")) {
            try ReleaseDraft(promoting: try three("other"), over: slow, rollouts: share)
        }
    }

    @Test func `of a promotion is refused when both channels give one label another content`() throws {
        let own = published(try ReleaseDraft([described("a", "1", bytes: "one")], base: nil))
        let tested = published(try ReleaseDraft([described("a", "1", bytes: "other")], base: nil))
        let digest = SHA256Digest(of: Array("one".utf8)).hex.prefix(12)
        #expect(throws: SigningError.republished(label("a", "1"), difference: "sha256 \(digest)… in production")) {
            try ReleaseDraft(promoting: tested, over: own)
        }
    }

    @Test func `of other rules changes those of one version and nothing else`() throws {
        let base = published(
            try ReleaseDraft(
                [described("a", "2", bytes: "2"), described("b", "1", bytes: "b")],
                base: published(
                    try ReleaseDraft([described("a", "1", bytes: "1"), described("b", "1", bytes: "b")], base: nil)
                )
            )
        )
        let edit = try RuleEdit(
            Fields(.fields([("rollout", .integer(2_500)), ("condition", .text("region==eu"))]), of: "edit")
        )
        let rows = try ReleaseDraft(changing: edit, of: label("a", "2"), in: base).rows
        #expect(rows.map(\.rules) == [PatchRules(rollout: 2_500, condition: "region==eu"), .everyone, .everyone])
        #expect(rows.map(\.known) == base.list.entries.map(\.signature))
        #expect(throws: SigningError.nothingToWithdraw(named("a"), named("9"))) {
            try ReleaseDraft(changing: edit, of: label("a", "9"), in: base)
        }
    }
}
