import ArgumentParser
import Gateways
import PatchFetch
import PatchFormat
import PatchRelease
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSignCommand
@testable import ReleaseClient
@testable import CommandKit

@Suite("What patchsign says")
struct PatchSignTranscripts {
    @Test func `of each error stands in its transcript, with the code with which it ends`() throws {
        var transcript = Transcript(
            "patchsign-errors",
            about: "What patchsign says of each error, what it advises, and the code with which it ends."
        )
        transcript.section("signing", SigningError.samples.map { Failure($0).transcript })
        transcript.section("the release service", ServiceError.samples.map { Failure($0).transcript })
        transcript.section("answers of a service", answers().map { Failure($0).transcript })
        transcript.section("passphrases", PassphraseError.samples.map { Failure($0).transcript })
        transcript.section("other things", try others().map(\.transcript))
        transcript.list("what the channel of a stale release says", Self.stale)
        transcript.list(
            "what a release is made of",
            [
                ReleaseReport.words(["a.map"], leftOutOf: Sample.patch),
                ReleaseReport.words((1...7).map { "\($0).map" }, leftOutOf: Sample.patch),
                ReleaseReport.words(SignatureCounts(made: 2, kept: 1_000)), PullReport.late,
                ServerMemory.warning(Sample.server, "neither XDG_STATE_HOME nor HOME names a folder"),
            ] + PackCommand.samples
        )
        try transcript.check()
    }

    @Test func `to a command line that it does not understand stands in its transcript`() throws {
        var transcript = Transcript(
            "patchsign-usage",
            about: "Command lines that patchsign does not understand, and the first line of its answer."
        )
        transcript.section("command lines", program.answers(Self.misused))
        try transcript.check()
    }

    /// The way on in each case, by each way of making a release again.
    private static var stale: [String] {
        let server = " --server https://updates.example.com --token-file FILE"
        let draft = ChannelState.Draft(version: 6, identity: Sample.digest, signatures: 1, threshold: 2)
        let label = Sample.label
        let cases: [StaleRelease] = [
            .madeFromDraft(draft), .draftWaits(draft), .ahead(current: 0), .ahead(current: 3), .listed(current: 8),
            .otherContent([label], current: 8), .withdrawn([label, label, label, label], current: 8),
            .behind(current: 8),
        ]
        let again = Remake.command("patchsign withdraw web --channel production --keys Keys --push")
        let ways: [Remake] = [.folder, again, .proposal(Sample.named("5e5e5e5e5e5e5e5e")), .elsewhere]
        let bases = cases.map { stale in (stale, 5) } + [(.behind(current: 8), 0)]
        return bases.flatMap { stale, base in
            ways.map { stale.hint(in: Sample.channel, base: base, server: server, remake: $0) }
        }
            + [
                PublishedBase.first(Sample.channel, on: Sample.server),
                PublishedBase.found(8, Sample.channel, on: Sample.server),
            ]
    }

    @Test func `to a version with other content names the ways to a new one, with and without release.yaml`() {
        let stale = StaleRelease.otherContent([Sample.label], current: 8)
        func hint(_ remake: Remake) -> String {
            stale.hint(in: Sample.channel, base: 7, server: " --server http://a", remake: remake)
        }
        let cause = "release 8 has web 1.4.2 with other content: give it a new version in release.yaml"
        #expect(
            hint(.folder)
                == "\(cause), then `patchsign release FOLDER --keys DIR --output NEW --server http://a`; a folder without "
                + "release.yaml gets one from that command, or by --version"
        )
        #expect(hint(.elsewhere) == "\(cause), or with --version if its folder has none")
    }

    private static let gone = WithdrawnVersion(
        patchID: Sample.patch,
        version: Sample.version,
        sha256: Sample.digest,
        serial: 7,
        since: Sample.time
    )

    @Test func `of a rollback names the command that makes it final, for three versions at most`() throws {
        let options = try ChangeOptions.parse(["--server", "https://updates.example.com", "--keys", "Keys", "--push"])
        let labels = (1...4).map { Label(patchID: Sample.patch, version: Sample.named("2.\($0)")) }
        let hints = options.withdrawalHints(of: labels, in: Sample.channel)
        #expect(hints.count == 3)
        #expect(
            hints.first
                == "a later release may list web 2.1 again; `patchsign withdraw web@2.1 --channel production --keys Keys "
                + "--push --server https://updates.example.com` makes its removal final"
        )
    }

    private func answers() -> [ServiceError] {
        let rules = [
            ("release", AnswerRule.draft), ("id", AnswerRule.proposal), ("change", AnswerRule.change),
            ("outcome", AnswerRule.outcome), ("objects/ab/abcd", AnswerRule.object),
        ]
        let refusals: [TransportFault.TLSRefusal] = [
            .otherName, .notVerified, .notTLS, .ended, .fault(.noAuthority), .handshake("PROTOCOL_VERSION"),
        ]
        let faults: [TransportFault] =
            refusals.map { .tls($0) }
            + [
                .noConnection(host: "updates.example.com", port: 443, withinDeadline: true), .connectTimedOut,
                .noAddress(host: "updates.example.com"),
            ]
        var found: [ServiceError] = rules.map { .malformed(FormatError("answer", field: $0.0, rule: $0.1)) }
        found.append(.connection(AnswerRule.took(5, of: 6, "list.json")))
        for fault in faults { found.append(ServiceError(fault, at: "/api/v1/apps", of: Sample.server)) }
        return found
    }

    private func others() throws -> [Failure] {
        let options = try ChangeOptions.parse(["--server", "https://updates.example.com", "--keys", "Keys", "--push"])
        let waiting = WaitingProposal(
            id: Sample.named("5e5e5e5e5e5e5e5e"),
            app: Sample.app,
            channel: Sample.channel,
            options: options
        )
        var found = [
            KeyOpening.noneTyped(for: "Keys/production.key"), ChangeOptions.noFolder(in: "/tmp", SystemError(28)),
            waiting.stays(because: Failure(.timedOut("/api/v1/apps"))),
        ]
        found.append(PullCommand.needless(Self.gone.alreadyWithdrawnNote, waiting.id, in: Sample.channel))
        found.append(
            WithdrawCommand.notListed(
                Sample.patch,
                version: Sample.version,
                by: 8,
                again: "patchsign withdraw web --version 1.4.2 --channel production --keys Keys --push"
            )
        )
        let making = try MakingOptions.parse([])
        do throws(Failure) { _ = try making.outputFolder() } catch { found.append(error) }
        let share = try PromotedShare("web=10%")
        do throws(Failure) {
            _ = try ProposedChange.promotion(from: Sample.beta, [share, share])
        } catch { found.append(error) }
        found.append(TimeOption.clockBehind(UTCTime(seconds: 60)))
        let server = " --server https://updates.example.com"
        found.append(PublishedBase.incomplete("production", 8, valid: 1, needed: 2, options: server))
        let steps = [
            StepBack(label: Sample.label, newest: Sample.named("2.0.0")),
            StepBack(label: Label(patchID: Sample.script, version: Sample.version), newest: Sample.named("7")),
        ]
        do throws(Failure) { try PromotionBack.refuse(steps, in: Sample.channel) } catch { found.append(error) }
        for (release, targets) in [(Sample.before, Sample.after), (Sample.after, Sample.before)] {
            let expiry = ReleaseExpiry(
                release: ReleaseExpiry.Role("production", expires: release),
                root: Sample.after,
                targets: targets
            )
            do throws(Failure) { try expiry.refuseExpired(at: Sample.time) } catch { found.append(error) }
        }
        do { _ = try Passphrase([0xFF], from: .terminal).text() } catch let error as Failure { found.append(error) }
        return found
    }

    private let program = CommandTranscript(program: PatchSignProgram.self, name: "patchsign")

    private static let misused = [
        "relase",
        "delegate beta --keys Keys --retire --threshold 2",
        "withdraw web@1 --version 2 --previous a --keys Keys --output b",
        "propose --channel production --withdraw web@ --server https://updates.example.com",
        "frob",
        "release sgin a b",
        "key --frob",
        "release --keys Keys --output new",
        "release Patches --output new",
        "release Patches --keys Keys",
        "release Patches --check --previous old",
        "release Patches --keys Keys --output new --unsigned --key beta",
        "release Patches --keys Keys --output new --previous old --server https://example.com",
        "release renew old --keys Keys --output new --above 0",
        "release renew --keys Keys --output new",
        "release renew old --keys Keys --output new --channel production",
        "release renew old --keys Keys --output new --server https://example.com",
        "promote --from beta --to production --keys Keys --server https://example.com",
        "rollback --to 0 --channel production --keys Keys --server https://example.com --push",
        "withdraw web --keys Keys --output new",
        "rollback --to 5 --channel production --keys Keys --server https://example.com",
        "withdraw web --keys Keys --output new --previous old --channel production",
        "withdraw web --keys Keys --push --channel production --listed-by old",
        "embed release1 --keys Keys --output shipped --select web",
        "embed release1 --keys Keys --output shipped --select web=1 --select web=2",
        "embed release1 --keys Keys --output shipped --app-build a/b",
        "verify release1 --keys Keys --all",
        "rotate .. --keys Keys",
        "rotate production.next --keys Keys",
        "pull --channel production --keys Keys --output work --server https://example.com --draft 1 --proposal 5e5e5e5e5e5e5e5e",
        "pull --channel production --keys Keys --output work --server https://example.com --draft 0",
        "push release1 --server ftp://example.com",
        "push release1 --server https://example.com --retries 200",
        "push release1 --server https://example.com --retries -1",
        "propose --channel production --server https://example.com",
        "propose --channel production --server https://example.com --withdraw web --rollout web=10%",
        "propose --channel production --server https://example.com --promote-from beta --rollout web",
        "propose --channel production --server https://example.com --promote-from beta --rollout a/b=10%",
        "propose --channel production --server https://example.com --promote-from beta --rollout web=10",
        "propose --channel production --server https://example.com --promote-from beta --rollout web=x",
        "rotate production --keys Keys --new-passphrase-file a --unencrypted-keys",
        "rotate production --keys Keys --bits 1024",
        "sign --key Keys/token.yaml --pin-file a --pin-env B",
        "release Patches --keys Keys --output new --pin-file a --pin-env B",
        "init --app com.example.storefront --keys Keys --passphrase-file a --passphrase-env B",
        "init --app com.example.storefront --keys Keys --passphrase-file a --unencrypted-keys",
        "init --app a/b --keys Keys",
        "describe dist",
        "describe dist --keys Keys --app com.example.storefront",
        "key new mine.key --kind ed25519 --bits 4096",
        "pack main.js",
        "pack --jspatch-key Keys/jspatch.key",
        "pack main.js --jspatch-key Keys/jspatch.key --app-version 2.x",
        "pack main.js --jspatch-key Keys/jspatch.key --app-version 2.1 -o fix",
        "pack main.js --jspatch-key Keys/jspatch.key --paused",
        "pack main.js --jspatch-key Keys/jspatch.key --aes-key aes.key -o v3",
        "pack main.js --jspatch-key Keys/jspatch.key --aes-key aes.key --gray 11",
        "pack main.js --jspatch-key Keys/jspatch.key --aes-key aes.key --gray 2 --condition a==1",
        "pack main.js --jspatch-key Keys/jspatch.key --aes-key aes.key --condition a=1",
        "pack main.js --jspatch-key Keys/jspatch.key --aes-key aes.key --otherwise 2",
        "status --keys",
        "status --keys Keys --now yesterday",
    ]
}

extension PackCommand {
    fileprivate static var samples: [String] {
        let place = AppVersion("2.1").flatMap { app in LoaderVersion(2).map { LoaderPlace(app, $0) } }
        return [nil, place].map { words(LoaderPacking.Packed(file: "v2.zip", scripts: 2, size: 1_234, place: $0)) }
            + [words("www/0a1b2c3d/2.1/index.html", PlatformSyncFile(version: place?.version))]
    }
}
