import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import ReleaseService
import ServerRecords
import SystemPackage

/// `patchsrv check`: verifies all files of a server.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Verifies the whole published tree and the records beside it, and repairs what it can prove.",
        discussion: """
            Every role from the root of trust, every reference, every digest and signature of entries and assets, every
            object's bytes, the superseded releases that one can go back to, the record of labels, drafts, and names that do
            not belong there. It goes on after a fault and names each with its file and its rule:

              missing      something refers to it, and it is not there
              altered      its bytes are not those that its name, or what refers to it, says
              malformed    it cannot be read as what it is
              untrusted    a role that does not verify from the root of trust
              entry        an entry or an asset whose signature or digests do not hold
              label        labels.json does not say what a published list says
              stranger     no file of a published tree has such a name; it is never served
              record       a record of the server, or a draft, cannot be read
              form         a compressed form or a pack that does not give what its name says; devices do without
              audit        an entry of the audit log is not what was written
              leftover     half-written, by what was stopped or is under way; no fault

            --repair puts back what another channel, another app, a draft or a folder of --from has with just this digest, the
            first root of trust, labels that a verified list has, and removes what is half-written. A labels.json that is gone
            it makes again from the tree and the history, and names the releases that neither has. It signs nothing, and removes
            nothing of the tree but forms and packs that are wrong. patchsrv publish of the current release puts its files back as well.

            EXAMPLES
              patchsrv check --data /srv/patchline
              patchsrv check --data /srv/patchline --repair --from /backup/tree --from Releases/production
              patchsrv check --data /srv/patchline --json
            """
                + exitCodes(
                    [
                        .done: "everything is whole, or is so again",
                        .refused: "faults are left",
                        .busy: "another process holds the data folder (with --repair)",
                    ],
                    usual: .disk
                )
    )

    @OptionGroup var folder: FolderOptions
    @OptionGroup var apps: AppOptions

    @Flag(help: "Put right what can be proved.")
    var repair = false

    @Option(
        name: .customLong("from"),
        help: ArgumentHelp(
            "A folder that may hold what is missing: an exported tree, a release; repeatable.",
            valueName: "dir"
        )
    )
    var sources: [String] = []

    @Flag(help: "Print what was found as JSON.")
    var json = false

    func validate() throws {
        guard sources.isEmpty || repair else { throw ValidationError("--from is for --repair") }
    }

    func run() async throws {
        try await reporting(json: json) {
            for source in sources where try DiskFiles().status(of: FilePath(argument: source)) == nil {
                throw Failure("\(source) of --from does not exist", hint: "nothing was repaired", code: .disk)
            }
            var reports: [TreeReport] = []
            for app in try apps.apps(in: folder.folder, damaged: true) {
                guard repair else {
                    let repository = AppRepository(suspecting: app, in: folder.folder, files: DiskFiles())
                    reports.append(try CheckTree(of: repository.showingProgress()).run())
                    continue
                }
                let sources = sources.map { FilePath(argument: $0) }
                reports.append(
                    try await folder.operations().showingProgress(of: app).repair(app, from: sources, by: .here)
                )
            }
            // The log concerns all apps, so a check of one app skips it.
            let log = apps.app == nil ? try await folder.records().auditChain() : nil
            if json {
                let state = JSON.fields([("apps", .array(reports.map(\.json))), ("audit", log?.json)])
                Console.standardOutput.line(state.pretty())
            } else {
                for report in reports { for line in report.lines { Console.standardOutput.line(printable(line)) } }
                for line in log?.lines ?? [] { Console.standardOutput.line(printable(line)) }
            }
            let isWhole = reports.allSatisfy(\.isWhole) && log?.faults.isEmpty ?? true
            if !isWhole { throw ResultCode.refused.asError }
        }
    }
}

extension AuditChain {
    /// The first faults, all of which `patchsrv audit verify --json` prints.
    var lines: [String] {
        faults.prefix(20).map { "✗ audit log: \($0.sentence)" }
            + [
                faults.isEmpty
                    ? "audit log: \(Words.count(count, "entry", "entries")), whole"
                    : "audit log: \(Words.count(faults.count, "fault")); patchsrv audit verify names them"
            ]
    }
}

extension TreeReport {
    var lines: [String] {
        let unreferenced =
            counts.unreferenced > 0 ? "; \(Words.count(counts.unreferenced, "file")) that nothing refers to" : ""
        let forms = counts.forms > 0 ? "\(Words.count(counts.forms, "compressed form")), " : ""
        let packs = counts.packs > 0 ? "\(Words.count(counts.packs, "pack file")), " : ""
        let summary =
            "\(app): \(Words.count(counts.roles, "role")), \(Words.count(counts.targets, "target")), "
            + "\(Words.count(counts.objects, "object")), \(forms)\(packs)\(Words.count(counts.signatures, "signature")), "
            + "\(ByteText(counts.bytes))\(unreferenced)"
        let number = faults.count(where: \.rule.isFault)
        return repaired.map { "✓ repaired \($0.path): \($0.rule.rawValue)" }
            + notes.map { "- \($0)" }
            + faults.map { "\($0.rule.isFault ? "✗" : "-") \($0.path): \($0.rule.rawValue): \($0.detail)" }
            + [summary, "\(app): \(number == 0 ? "whole" : Words.count(number, "fault"))"]
    }

    fileprivate var json: JSON {
        .fields([
            ("app", .text(app.text)), ("whole", .bool(isWhole)), ("faults", .array(faults.map(\.json))),
            ("repaired", .array(repaired.map(\.json))),
            ("notes", notes.isEmpty ? nil : .array(notes.map { .text($0) })), ("roles", .integer(counts.roles)),
            ("targets", .integer(counts.targets)), ("objects", .integer(counts.objects)),
            ("compressedForms", .integer(counts.forms)), ("packFiles", .integer(counts.packs)),
            ("signatures", .integer(counts.signatures)),
            ("bytes", .integer(counts.bytes)),
            ("unreferenced", .integer(counts.unreferenced)),
        ])
    }
}

extension TreeFault {
    fileprivate var json: JSON {
        .fields([("path", .text(path)), ("rule", .text(rule.rawValue)), ("detail", .text(detail))])
    }
}
