import Glibc
import Synchronization
import Terminal
import Testing

@Suite("A passphrase")
struct PassphraseTests {
    @Test(arguments: [
        ("one line", "s3cret words\n", "s3cret words"),
        ("no line feed", "s3cret", "s3cret"),
        ("a line end of Windows", "s3cret\r\n", "s3cret"),
        ("more lines", "s3cret\nnot this\n", "s3cret"),
        ("blanks around it", "  s3cret \n", "  s3cret "),
        ("the longest", String(repeating: "x", count: 4096) + "\n", String(repeating: "x", count: 4096)),
    ])
    func `is the first line of a file`(_ name: String, content: String, passphrase: String) throws {
        let file = try TemporaryFile(content)
        #expect(try Passphrase.read(file: file.path).bytes == Array(passphrase.utf8))
    }

    @Test func `is refused from a file when it is empty, too long or not there`() throws {
        let empty = try TemporaryFile("\nsecond line\n")
        #expect(throws: PassphraseError.empty(.file(empty.path))) { try Passphrase.read(file: empty.path) }

        let long = try TemporaryFile(String(repeating: "x", count: 4097))
        #expect(throws: PassphraseError.tooLong(.file(long.path))) { try Passphrase.read(file: long.path) }

        #expect(throws: PassphraseError.unreadable(file: "/no/such", SystemError(ENOENT))) {
            try Passphrase.read(file: "/no/such")
        }
        #expect(throws: PassphraseError.unreadable(file: "/", SystemError(EISDIR))) { try Passphrase.read(file: "/") }
    }

    @Test func `is read from a pipe that is written bit by bit`() async throws {
        let pipe = Pipe()
        for piece in ["s3", "cr", "et\n"] { Console(descriptor: pipe.write, isTerminal: false).write(piece) }
        #expect(try Passphrase.read(file: "/dev/fd/\(pipe.read)").bytes == Array("s3cret".utf8))
    }

    @Test func `is the value of an environment variable`() async {
        await #expect(processExitsWith: .success) {
            setEnvironment("PATCHLINE_TEST_PASSPHRASE", "s3cret")
            setEnvironment("PATCHLINE_TEST_EMPTY", "")
            let passphrase = try Passphrase.environment("PATCHLINE_TEST_PASSPHRASE")
            #expect(passphrase.bytes == Array("s3cret".utf8))
            #expect(throws: PassphraseError.empty(.environment("PATCHLINE_TEST_EMPTY"))) {
                try Passphrase.environment("PATCHLINE_TEST_EMPTY")
            }
            #expect(throws: PassphraseError.notSet(variable: "PATCHLINE_TEST_NONE")) {
                try Passphrase.environment("PATCHLINE_TEST_NONE")
            }
        }
    }

    @Test func `never shows what it is`() throws {
        let file = try TemporaryFile("s3cret\n")
        let passphrase = try Passphrase.read(file: file.path)
        var dumped = ""
        dump([passphrase], to: &dumped)
        for text in ["\(passphrase)", String(reflecting: passphrase), String(describing: [passphrase]), dumped] {
            #expect(text.contains("‹passphrase›"))
            #expect(!text.contains("s3cret") && !text.contains("115"))
        }
        #expect(Mirror(reflecting: passphrase).children.isEmpty)
    }

    @Test func `that is missing is told with the file's name`() {
        #expect(
            Failure(PassphraseError.unreadable(file: "/no/such", SystemError(ENOENT)))
                == Failure("cannot read the passphrase from /no/such: No such file or directory", exitCode: .disk)
        )
        #expect(
            Failure(PassphraseError.tooLong(.file("f"))).message == "the passphrase in f is longer than 4096 bytes"
        )
    }
}

/// Each runs in a process of its own, whose controlling terminal is a new pseudo-terminal.
@Suite("A prompt for a passphrase")
struct PromptTests {
    @Test func `shows its text and nothing of what is typed`() async {
        await #expect(processExitsWith: .success) {
            let person = try PseudoTerminal.controlling()
            person.answer([("Passphrase for \\u{1B}key: ", "s3cret\n")])

            let passphrase = try Passphrase.prompt("Passphrase for \u{1B}key:", confirm: false)
            #expect(passphrase.bytes == Array("s3cret".utf8))
            #expect(person.seen() == "Passphrase for \\u{1B}key: \r\n")
            #expect(person.echoes)
        }
    }

    @Test func `asks twice when asked to, and takes what was typed twice`() async {
        await #expect(processExitsWith: .success) {
            let person = try PseudoTerminal.controlling()
            person.answer([("New passphrase: ", "s3cret\n"), ("Once more: ", "s3cret\n")])

            let passphrase = try Passphrase.prompt("New passphrase:", confirm: true)
            #expect(passphrase.bytes == Array("s3cret".utf8))
            #expect(person.seen() == "New passphrase: \r\nOnce more: \r\n")
        }
    }

    @Test func `refuses two that differ`() async {
        await #expect(processExitsWith: .success) {
            let person = try PseudoTerminal.controlling()
            person.answer([("New: ", "s3cret\n"), ("Once more: ", "s3cert\n")])
            #expect(throws: PassphraseError.notTheSameTwice) { try Passphrase.prompt("New:", confirm: true) }
            #expect(person.echoes)
        }
    }

    @Test func `refuses an empty line, and the end of input`() async {
        await #expect(processExitsWith: .success) {
            let person = try PseudoTerminal.controlling()
            person.answer([("One: ", "\n"), ("Two: ", "\u{4}")])
            #expect(throws: PassphraseError.empty(.terminal)) { try Passphrase.prompt("One:", confirm: false) }
            #expect(throws: PassphraseError.ended) { try Passphrase.prompt("Two:", confirm: false) }
            #expect(person.echoes)
        }
    }

    @Test func `lets a person correct the line`() async {
        await #expect(processExitsWith: .success) {
            let person = try PseudoTerminal.controlling()
            person.answer([("One: ", "s3crat\u{7F}\u{7F}et\n")])
            let passphrase = try Passphrase.prompt("One:", confirm: false)
            #expect(passphrase.bytes == Array("s3cret".utf8))
        }
    }

    @Test func `fails when there is no terminal`() async {
        await #expect(processExitsWith: .success) {
            #expect(setsid() > 0)
            #expect(throws: PassphraseError.noTerminal) { try Passphrase.prompt("One:", confirm: false) }
        }
    }

    @Test func `turns echo on again before Ctrl-C reaches the program`() async {
        await #expect(processExitsWith: .success) {
            let person = try PseudoTerminal.controlling()
            dup2(person.slave, STDIN_FILENO)
            let answers = Pipe()
            handlerAnswers.store(answers.write, ordering: .sequentiallyConsistent)
            _ = signal(SIGINT) { _ in answerWhetherTerminalEchoes() }
            person.answer([("One: ", "half\u{3}")])

            #expect(throws: PassphraseError.interrupted) { try Passphrase.prompt("One:", confirm: false) }
            #expect(readBytes(answers.read) == [1])
            #expect(person.seen().contains("half") == false)
        }
    }

    @Test func `ends the program on Ctrl-C as usual`() async {
        await #expect(processExitsWith: .signal(SIGINT)) {
            let person = try PseudoTerminal.controlling()
            person.answer([("One: ", "half\u{3}")])
            _ = try Passphrase.prompt("One:", confirm: false)
        }
    }
}

/// Where the program's own SIGINT handler writes 1 when the terminal echoes, else 0.
private let handlerAnswers = Atomic<Int32>(-1)

private func answerWhetherTerminalEchoes() {
    var answer: UInt8 = terminalEchoes(STDIN_FILENO) ? 1 : 0
    _ = unsafe write(handlerAnswers.load(ordering: .sequentiallyConsistent), &answer, 1)
}
