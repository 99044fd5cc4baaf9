import PatchFormat
import Glibc
import CommandKit
import Testing

@Suite("A console")
struct ConsoleTests {
    @Test(
        arguments: [
            ("a terminal", true, [:], true),
            ("a pipe", false, [:], false),
            ("a dumb terminal", true, ["TERM": "dumb"], false),
            ("a named terminal", true, ["TERM": "xterm-256color"], true),
            ("NO_COLOR", true, ["NO_COLOR": "1"], false),
            ("NO_COLOR, empty", true, ["NO_COLOR": ""], true),
            ("CLICOLOR_FORCE into a pipe", false, ["CLICOLOR_FORCE": "1"], true),
            ("FORCE_COLOR into a pipe", false, ["FORCE_COLOR": "1"], true),
            ("FORCE_COLOR, zero", false, ["FORCE_COLOR": "0"], false),
            ("FORCE_COLOR on a dumb terminal", true, ["FORCE_COLOR": "1", "TERM": "dumb"], true),
            ("NO_COLOR against FORCE_COLOR", true, ["FORCE_COLOR": "1", "NO_COLOR": "1"], false),
        ] as [(String, Bool, [String: String], Bool)]
    )
    func `allows colours where they are wanted`(
        _ name: String,
        isTerminal: Bool,
        environment: [String: String],
        allowed: Bool
    ) {
        #expect(Console.allowsColor(isTerminal: isTerminal, environment: { environment[$0] }) == allowed)
    }

    @Test func `behind a pipe is no terminal and has 80 columns`() {
        let pipe = Pipe()
        let console = Console(descriptor: pipe.write)
        #expect(!console.isTerminal)
        #expect(console.width == environment("COLUMNS").flatMap(Int.init) ?? 80)
    }

    @Test func `behind a terminal has its width`() throws {
        let terminal = try PseudoTerminal(columns: 132)
        let console = Console(descriptor: terminal.slave)
        #expect(console.isTerminal)
        #expect(console.width == 132)
    }

    @Test func `writes all of a text that is larger than the pipe, though writes are short`() async {
        let pipe = Pipe()
        pipe.makeWriteEndNonBlocking()
        let text = String(repeating: "0123456789abcdef\n", count: 20_000)

        async let received = pipe.readOnAnotherThread(count: text.utf8.count)
        Console(descriptor: pipe.write, isTerminal: false).write(text)
        close(pipe)
        #expect(await received == Array(text.utf8))
    }

    @Test func `ends its program as SIGPIPE does when the reader has gone`() async {
        await #expect(processExitsWith: .signal(SIGPIPE)) {
            ignoreBrokenPipes()
            let pipe = Pipe()
            close(pipe.read)
            Console(descriptor: pipe.write, isTerminal: false).line("nobody reads this")
        }
    }

    @Test func `ends its program with the code for disks when standard output takes nothing`() async {
        let result = await #expect(
            processExitsWith: .exitCode(ResultCode.disk.rawValue),
            observing: [\.standardErrorContent]
        ) {
            redirect(STDOUT_FILENO, to: "/dev/full")
            Console.standardOutput.line("lost")
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("error: cannot write the output: No space left on device\n"))
    }

    @Test func `styles words only where colour is allowed`() {
        #expect(plain.styled("late", .red) == "late")
        #expect(colored.styled("late", .red) == "\u{1B}[31mlate\u{1B}[0m")
        #expect(colored.styled("late", .bold, .yellow) == "\u{1B}[1;33mlate\u{1B}[0m")
        #expect(colored.styled("", .bold) == "")
    }
}

@Suite("Text from outside")
struct PrintableTests {
    @Test(arguments: [
        ("plain text", "web 2.0.0", "web 2.0.0"),
        ("letters of any script", "Zażółć 製品 مرحبا", "Zażółć 製品 مرحبا"),
        ("a family joined of four people", "👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"),
        ("an escape sequence that clears the screen", "\u{1B}[2Jweb", "\\u{1B}[2Jweb"),
        ("the same begun by one C1 character", "\u{9B}2J", "\\u{9B}2J"),
        ("a carriage return that hides the start", "evil\rgood", "evil\\rgood"),
        ("a line feed and a tab", "a\nb\tc", "a\\nb\\tc"),
        ("both line ends in one character", "a\r\nb", "a\\r\\nb"),
        ("backspace and delete", "\u{8}\u{7F}", "\\u{8}\\u{7F}"),
        ("an override that writes backwards", "invoice\u{202E}fdp.js", "invoice\\u{202E}fdp.js"),
        ("an invisible mark", "we\u{FEFF}b", "we\\u{FEFF}b"),
        ("a line separator", "a\u{2028}b", "a\\u{2028}b"),
    ])
    func `is written out where it could drive the terminal`(_ name: String, text: String, shown: String) {
        #expect(printable(text) == shown)
    }
}
