import HTTPFiles
import PatchFormat
import PatchServer
import PatchStore
import ReleaseClient
import ReleaseService
import ServerRecords
import CommandKit
import Testing

@testable import PatchServerCommand

@Suite("What patchsrv says")
struct PatchServerTranscripts {
    private func said(_ errors: [any Error]) throws -> [String] {
        try errors.map { try #require(Failure(of: $0), "\($0)").transcript }
    }

    @Test func `of each error stands in its transcript, with the code with which it ends`() throws {
        var transcript = Transcript(
            "patchsrv-errors",
            about: "What patchsrv says of each error, what it advises, and the code with which it ends."
        )
        transcript.section("publishing and serving", try said(ServerError.samples))
        transcript.section("operations", try said(OperationError.samples))
        transcript.section("files", try said(FileError.samples + [Sample.format]))
        transcript.section("exporting", try said(ExportError.samples))
        transcript.section("records", try said(RecordError.samples))
        transcript.section("listening", try said(FileServerError.samples))
        let holders = [
            PortHolder(user: 1_000, process: nil), PortHolder(user: 0, process: (id: 4_711, name: "patchsrv")),
        ]
        transcript.section(
            "a port whose holder is known",
            holders.map { holder in
                let error = FileServerError.portInUse(host: "127.0.0.1", port: 8_081)
                return Failure(error, prefix: "operators-", holder: { _ in holder }).transcript
            }
        )
        transcript.section("a server that is asked over HTTP", try said(ServiceError.samples))
        transcript.section("passphrases", try said(PassphraseError.samples))
        transcript.section("settings", SettingsError.samples.map { Failure($0).transcript })
        try transcript.check()
    }

    /// Lines of `/proc/net/tcp`.
    @Test func `who has a port is read from sockets that listen`() {
        let line =
            "   0: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 31337 1 0 100 0"
        let socket = PortHolder.Socket(line: line)
        #expect(socket?.port == 8_081 && socket?.user == 1_000 && socket?.inode == 31_337)
        #expect(PortHolder.Socket(line: line.replacing(" 0A ", with: " 01 ")) == nil)
        #expect(
            PortHolder.Socket(line: "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt")
                == nil
        )
        #expect(PortHolder.Socket(line: "") == nil)
    }

    @Test func `to a command line that it does not understand stands in its transcript`() throws {
        var transcript = Transcript(
            "patchsrv-usage",
            about: "Command lines that patchsrv does not understand, and the first line of its answer."
        )
        transcript.section("command lines", program.answers(Self.misused))
        try transcript.check()
    }

    private let program = CommandTranscript(program: PatchServerProgram.self, name: "patchsrv")

    private static let misused = [
        "draft shwo 3",
        "audit frob",
        "serve --data /srv/patchline --port 70000",
        "serve --data /srv/patchline --connections 1",
        "serve --data /srv/patchline --least-rate 2GB",
        "serve --data /srv/patchline --least-rate fast",
        "serve --data /srv/patchline --pack-room much",
        "publish Release --data /srv/patchline --pack-bases 21",
        "packs --data /srv/patchline --channel production --from 1.0.0 --all",
        "packs --data /srv/patchline --channel production --from a/b",
        "serve --data /srv/patchline --operators-port 70000",
        "serve --data /srv/patchline --port 8081",
        "serve --data /srv/patchline --host :: --operators-host 127.0.0.1 --operators-port 8080",
        "serve --data /srv/patchline --tls-certificate a.pem",
        "serve --data /srv/patchline --tls-passphrase-file a",
        "serve --data /srv/patchline --passphrase-file a --passphrase-env B",
        "serve --data /srv/patchline --stop-within soon",
        "serve --data /srv/patchline --trusted-proxy localhost",
        "serve --data /srv/patchline --refresh-every sometimes",
        "serve --data /srv/patchline --log-format xml",
        "check --data /srv/patchline --from /backup",
        "doctor --data /srv/patchline --port 0", "doctor --data /srv/patchline --port 65536",
        "doctor --data /srv/patchline --port 443 --operators-port 443",
        "export /srv/www --data /srv/patchline --valid 9999d",
        "gc --data /srv/patchline --keep 0",
        "gc --data /srv/patchline --protect a",
        "restore --data /srv/patchline",
        "restore /backup --data /srv/patchline --above 0",
        "answer list --data /srv/patchline",
        "answer set --data /srv/patchline --channel beta --patch web --version 1",
        "answer set --data /srv/patchline --channel beta --everyone --patch web",
        "answer set --data /srv/patchline --channel beta --everyone --patch web --version 1 --hold",
        "answer set --data /srv/patchline --channel beta --everyone --patch web --hold --force",
        "answer set --data /srv/patchline --channel beta --user-hash 5E --patch web --hold",
        "answer set --data /srv/patchline --channel beta --everyone --patch web@1 --version 2",
        "answer set --data /srv/patchline --channel beta --everyone --patch web@",
        "answer set --data /srv/patchline --channel beta --everyone --patch w/b@1",
        "answer remove --data /srv/patchline --channel beta --everyone --patch web@1",
        "parameters set --data /srv/patchline --channel production banner",
        "parameters set --data /srv/patchline --channel production a/b=1",
        "parameters set --data /srv/patchline --channel production a=1 a=2",
        "parameters set --data /srv/patchline --channel production a=1.5",
        "parameters set --data /srv/patchline --channel production a=1 --expect now",
        "parameters unset --data /srv/patchline --channel production a/b",
        "draft show 0 --data /srv/patchline --channel production",
        "history list --data /srv/patchline --last 0",
        "history --data /srv/patchline --channel production --last 0",
        "history edit 0 --data /srv/patchline --channel production --label x",
        "history edit 7 --data /srv/patchline --channel production",
        "history edit 7 --data /srv/patchline --channel production --label x --no-label",
        "dial --data /srv/patchline --channel production --reason x",
        "dial --data /srv/patchline --channel production --pause web@1 --expect x",
        "dial --data /srv/patchline --channel production --rollout web",
        "dial --data /srv/patchline --channel production --rollout web=10",
        "dial --data /srv/patchline --channel production --rollout web=200%",
        "dial --data /srv/patchline --channel production --headcount web=10",
        "dial --data /srv/patchline --channel production --headcount web@1=x",
        "dial --data /srv/patchline --channel production --pause web@a/b",
        "audit list --data /srv/patchline --last 0",
        "audit verify",
        "audit verify log.json --head 5E",
        "token new CI --data /srv/patchline --for beta --grant *=viewer",
        "token list --data /srv/patchline --unused 30",
        "history show 0 --data /srv/patchline --channel production",
        "token new CI --data /srv/patchline --grant com.example.storefront",
        "token new CI --data /srv/patchline --grant com.example.storefront=owner",
        "token new CI --data /srv/patchline --grant com.example.storefront=viewer --expires 400d",
        "list --data /srv/patchline --server https://example.com",
        "dial --data /srv/patchline --server https://example.com --channel production",
        "dial --server ftp://example.com --channel production",
        "dial --server https://example.com --channel production --retries 200",
        "publish",
        "publish release1 --data /srv/patchline --retries",
    ]
}
