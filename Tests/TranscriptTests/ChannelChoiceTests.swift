import ArgumentParser
import PatchCrypto
import PatchFormat
import PatchTrust
import SystemPackage
import Testing

@testable import PatchServer
@testable import PatchServerCommand
@testable import PatchSignCommand
@testable import ReleaseClient
@testable import CommandKit

@Suite("The channel of a rollout without --channel")
struct ChannelChoiceTests {
    private static func listing(_ channels: [(String, [String])]) -> JSON {
        .fields([
            ("app", .text("app.shop")),
            (
                "channels",
                .array(
                    channels.map { name, versions in
                        let patches = versions.map { version in
                            JSON.fields([
                                ("patchId", .text("web")), ("version", .text(version)),
                                ("sha256", .text(SHA256Digest(of: Array(version.utf8)).hex)),
                            ])
                        }
                        return .fields([("channel", .text(name)), ("patches", .array(patches))])
                    }
                )
            ),
        ])
    }

    private static func chosen(_ version: String?, _ channels: [(String, [String])]) -> Result<String, Failure> {
        let changes = version.map { version in
            let subject: DialChange.Subject = version == "*" ? .everyVersion : .version(Sample.named(version))
            return DialChange(.pause, of: Sample.patch, subject)
        }
        let choice = ChannelChoice(listing(channels))
        do throws(Failure) {
            return .success(try choice.channel(for: changes.map { [$0] } ?? []).text)
        } catch { return .failure(error) }
    }

    @Test(arguments: ["1", "9", "*", nil]) func `is the only one that has a release`(_ version: String?) throws {
        #expect(try Self.chosen(version, [("production", ["1"])]).get() == "production")
    }

    @Test func `is the one that lists the version`() throws {
        let channels = [("beta", ["2", "1"]), ("production", ["1"])]
        #expect(try Self.chosen("2", channels).get() == "beta")
        #expect(
            Self.chosen("1", channels)
                == .failure(
                    Failure(
                        "beta and production list web@1",
                        hint: "name one of them with --channel",
                        code: .usage
                    )
                )
        )
        #expect(
            Self.chosen("9", channels)
                == .failure(
                    Failure(
                        "no channel lists web@9",
                        hint: "patchsrv list shows the versions published in beta, production",
                        code: .refused
                    )
                )
        )
        #expect(
            Self.chosen(nil, channels)
                == .failure(Failure("--channel is needed: app.shop has beta, production", code: .usage))
        )
        #expect(
            Self.chosen("1", [])
                == .failure(
                    Failure(
                        "app.shop has no release yet",
                        hint: "publish one first: `patchsign push`",
                        code: .refused
                    )
                )
        )
    }

    @Test func `is named in a pushed release's command with the server that was pushed to`() {
        func completed(_ line: String) -> String {
            PushReport.completed(line, in: Sample.channel, options: " --server http://a --token-file ops.token")
        }
        #expect(
            completed("web 2 is paused; patchsrv rollout web@2 SHARE --channel production starts it")
                == "web 2 is paused; patchsrv rollout web@2 SHARE --channel production --server http://a "
                + "--token-file ops.token starts it"
        )
        #expect(completed("web 2 stands first --channel production") == "web 2 stands first --channel production")
    }

    @Test func `is named with an operator's token if that of the push does not suffice`() throws {
        let server = try ServerOptions.parse(["--server", "http://a", "--token-file", "ci.token"])
        #expect(server.operatorWords(withOwnToken: true) == " --server http://a --token-file ci.token")
        #expect(server.operatorWords(withOwnToken: false) == " --server http://a --token-file OPERATOR_TOKEN")
        #expect(
            PushReport.operatorHint(in: Sample.channel, of: Sample.app)
                == "the command needs a token with the role operator; where the server runs: `patchsrv token new NAME "
                + "--grant com.example.storefront/production=operator --output OPERATOR_TOKEN --data DIR`"
        )
    }

    @Test(arguments: [
        ("com.example.storefront/production=operator", true), ("com.example.storefront=admin", true),
        ("*=operator", true),
        ("com.example.storefront/production=publisher", false), ("com.example.storefront/beta=operator", false),
        ("*=viewer", false),
    ]) func `is operated with a token of the channel, its app or every app`(_ grant: String, _ mayOperate: Bool) {
        #expect(ServiceClient.mayOperate(Sample.channel, of: Sample.app, with: ["other=admin", grant]) == mayOperate)
    }

    @Test func `asks for a passphrase file that is near the key, where no terminal is`() {
        let key: FilePath = "/srv/shop/server/keys/app.shop/online.key"
        #expect(
            KeyOptions.candidates(for: key).map(\.string) == [
                "/srv/shop/server/keys/app.shop/online.pass", "/srv/shop/server/keys/online.pass",
                "/srv/shop/server/online.pass", "/srv/shop/online.pass", "/srv/online.pass",
            ]
        )
        #expect(KeyOptions.candidates(for: "online.key").isEmpty)
        let message = "there is no terminal to ask for the passphrase of the online key \(key)"
        #expect(
            KeyOptions.noTerminal(for: key, beside: "/srv/shop/online.pass")
                == Failure(message, hint: "name it: --passphrase-file /srv/shop/online.pass", code: .usage)
        )
        #expect(
            KeyOptions.noTerminal(for: key, beside: nil)
                == Failure(
                    message,
                    hint: "name it with --passphrase-file or in PATCHSRV_PASSPHRASE, in cron too",
                    code: .usage
                )
        )
    }
}
