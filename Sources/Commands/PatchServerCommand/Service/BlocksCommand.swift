import ArgumentParser
import CommandKit
import PageDiff
import PatchFormat
import PatchStore
import SystemPackage

/// `patchsrv blocks`: shows the blocks of a page, as used for sending only its changes.
struct BlocksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blocks",
        abstract: "Show the blocks of a page, and probable mistakes in its marks.",
        discussion: """
            Parses a page (up to 5 MB) as patchsrv pages does. Prints its template tag,
            its SHA-1, and the blocks between <!--sonicdiff-NAME--> and
            <!--sonicdiff-NAME-end--> with their bytes, comments included. Pages with the
            same template tag differ only in their title and blocks: clients that have one
            of them download only these of another.

            Warnings, each with its line, name faults that are ignored when a page is
            sent: a start without an end, an end without a start, a block within another,
            an empty block, a duplicate name, and a comment that resembles a mark. A nonce
            or a form token outside of every block is a warning too, because it makes each
            answer's template different. At most \(PageLimits.warnings) are printed, and the
            exit code is still 0.

            EXAMPLES
              patchsrv blocks page.html
              curl -s https://example.com/cart | patchsrv blocks -
              patchsrv blocks page.html --json
            """
                + exitCodes([.done: "shown; there may be warnings"], usual: .disk)
    )

    @Argument(help: ArgumentHelp("The page, or - for standard input.", valueName: "file"))
    var file: String

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await reporting(json: json) {
            let page = SplitPage(try bytes())
            let console = Console.standardOutput
            if json { return console.line(Self.json(page).pretty()) }
            Self.write(page, to: console, warnings: .standardError)
        }
    }

    private func bytes() throws -> [UInt8] {
        let limit = PageLimits.page
        guard file == "-" else {
            return try DiskFiles().read(FilePath(argument: file).followingLinks, limit: limit)
        }
        let name = FilePath(SecretInput.name(of: file))
        do throws(SystemError) { return try StandardInput.bytes(limit: limit) } catch {
            let reason = Errno(rawValue: error.code)
            throw reason == .fileTooLarge ? FileError.tooLarge(name, limit: limit) : FileError(reason, .read, name)
        }
    }

    static func json(_ page: SplitPage) -> JSON {
        .fields([
            ("templateTag", .text(page.templateTag.hex)), ("sha1", .text(page.pageTag.hex)),
            ("sentWhole", .bool(isSentWhole(page))),
            ("blocks", .array(page.marks.blocks.map(\.json))), ("doubts", .array(page.warnings.map(\.json))),
        ])
    }

    private static func isSentWhole(_ page: SplitPage) -> Bool { !page.isMarked || page.data == nil }

    static func write(_ page: SplitPage, to console: Console, warnings: Console) {
        console.line("template tag: \(page.templateTag.hex)")
        console.line("SHA-1: \(page.pageTag.hex)")
        if page.isMarked {
            var table = Table(["block", Table.Column("bytes", .right)])
            for block in page.marks.blocks { table.add(["\(block.name)", "\(Words.grouped(block.range.count))"]) }
            table.write(to: console)
            if isSentWhole(page) { console.line("the page is sent whole each time") }
        } else {
            console.line("no blocks: the page is sent whole")
        }
        for warning in page.warnings { warnings.line(printable("warning: line \(warning.line): \(warning)")) }
    }
}

extension PageMarks.Block {
    fileprivate var json: JSON { .fields([("name", .text(name)), ("bytes", .integer(range.count))]) }
}

extension PageWarning {
    fileprivate var json: JSON { .fields([("line", .integer(line)), ("what", .text(description))]) }
}
