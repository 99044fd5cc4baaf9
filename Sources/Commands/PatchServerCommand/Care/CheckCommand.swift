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
        abstract: "Verify the published tree and the server's records, and repair provable faults.",
        discussion: """
            Verifies every role from the root of trust, every reference, all digests and
            signatures of entries and assets, the bytes of every object, the superseded
            releases kept for a rollback, labels, drafts, and unknown names. Each fault is
            named with its file and its rule:
              missing      a file is referred to but does not exist
              altered      the bytes differ from the name or the reference
              malformed    the file cannot be parsed
              untrusted    a role does not verify from the root of trust
              entry        a signature or digest of an entry or asset is not valid
              label        labels.json differs from a published list
              stranger     the name is unknown in a published tree; never served
              record       a server record or a draft cannot be read
              form         a compressed form or a pack has wrong content; devices do without
              audit        an entry of the audit log was altered
              leftover     an unfinished file, from an interrupted or running command; no fault

            With --repair, restores files with the exact digest from other channels, other
            apps, drafts and folders of --from, the first root of trust, and labels that a
            verified list contains. Removes unfinished files. A lost labels.json is
            rebuilt from the tree and the history; releases missing from both are named.
            Signs nothing, and removes only wrong forms and packs from the tree.
            Publishing the current release again also restores its files.

            EXAMPLES
              patchsrv check --data /srv/patchline
              patchsrv check --data /srv/patchline --repair --from /backup/tree --from Releases/production
              patchsrv check --data /srv/patchline --json
            """
                + exitCodes(
                    [
                        .done: "everything is valid or repaired",
                        .refused: "faults remain",
                        .busy: "another process uses the data folder (with --repair)",
                    ],
                    usual: .disk
                )
    )

    @OptionGroup var folder: FolderOptions
    @OptionGroup var apps: AppOptions

    @Flag(help: "Repair provable faults.")
    var repair = false

    @Option(
        name: .customLong("from"),
        help: ArgumentHelp(
            "Folder to take missing files from: an exported tree, a release. Repeatable.",
            valueName: "dir"
        )
    )
    var sources: [String] = []

    @Flag(help: "Print the result as JSON.")
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
