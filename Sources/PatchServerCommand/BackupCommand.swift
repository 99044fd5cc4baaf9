import ArgumentParser
import CommandSupport
import PatchFormat
import PatchServer
import PatchStore
import ServerRecords
import SystemPackage
import Terminal

/// `patchsrv backup`: a copy of what the server remembers and does not publish.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copies tokens, history, audit log, places and choices to a file, while the server runs.",
        discussion: """
            The copy is the state of one moment. The published tree, the apps' records and drafts are plain files that are
            written once or replaced as a whole: copy tree/, apps/ and drafts/ with any program, the backup first.

            To restore, stop the server and put the copy in the place of records.sqlite, without the -wal and -shm files
            beside it.

            EXAMPLES
              patchsrv backup /backup/records.sqlite --data /srv/patchline

            EXIT CODES
              0   copied
              6   a file could not be read or written
              8   the file is there already
            """
    )

    @Argument(help: ArgumentHelp("The file to make.", valueName: "file"))
    var file: String

    @OptionGroup var folder: FolderOptions

    func run() async throws {
        try await reporting {
            let copy = FilePath(argument: file)
            guard try DiskFiles().status(of: copy) == nil else {
                throw Failure("\(copy) is there already", hint: "name another file", exitCode: .conflict)
            }
            // What was stopped half-way must not look like a backup.
            let half = FilePath(copy.string + ".part")
            for name in [half.string, half.string + "-journal"] { try DiskFiles().removeIfPresent(FilePath(name)) }
            try SQLiteRecords(folder.folder.recordsFile).backUp(to: half)
            try DiskFiles().rename(half, to: copy)
            try DiskFiles().syncDirectory(copy.parent)
            Console.standardOutput.line("copied to \(printable(copy.string))")
        }
    }
}
