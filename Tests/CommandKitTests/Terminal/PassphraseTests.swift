import PatchFormat
import Glibc
import Synchronization
import CommandKit
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

    @Test func `that a pipe, a FIFO or standard input gives once is known from then on`() async {
        await #expect(processExitsWith: .success) {
            let pipe = Pipe()
            Console(descriptor: pipe.write, isTerminal: false).write("s3cret\nmore\n")
            dup2(pipe.read, STDIN_FILENO)
            for path in ["/dev/fd/\(pipe.read)", "-", "/dev/stdin"] {
                let passphrase = try Passphrase.read(file: path)
                #expect(passphrase.bytes == Array("s3cret".utf8))
            }
            let fifo = makeFIFO("/tmp/patchline-fifo-\(getpid())", holding: "in a fifo\n")
            let first = try Passphrase.read(file: fifo.path)
            // The second reading would wait for another writer for ever.
            close(fifo.ends)
            let second = try Passphrase.read(file: fifo.path)
            removeFile(fifo.path)
            #expect(first.bytes == Array("in a fifo".utf8) && second == first)
        }
    }

    @Test func `in a file is read again when the file is another`() throws {
        let file = try TemporaryFile("before\n")
        #expect(try Passphrase.read(file: file.path).bytes == Array("before".utf8))
        overwrite(file.path, with: "after\n")
        #expect(try Passphrase.read(file: file.path).bytes == Array("after".utf8))
    }

    @Test func `of a new key has at least eight characters, not bytes`() throws {
        let file = try TemporaryFile("grün\u{301}e7\n")
        let source = Passphrase.Source.file(file.path)
        #expect(throws: PassphraseError.tooShort(source, characters: 6)) {
            try Passphrase.read(file: file.path).forNewKey(from: source)
        }
        #expect(Failure(PassphraseError.tooShort(.file("f"), characters: 1)).code == .malformed)
        #expect(
            Failure(PassphraseError.tooShort(.file("-"), characters: 1)).message
                == "the passphrase on standard input has 1 character; that of a new key needs at least 8"
        )
        let long = try TemporaryFile("12345678\n")
        #expect(try Passphrase.read(file: long.path).forNewKey(from: .file(long.path)).bytes.count == 8)
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
                == Failure("cannot read the passphrase from /no/such: No such file or directory", code: .disk)
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

            let passphrase = try Passphrase.prompt("Passphrase for \u{1B}key:")
            #expect(passphrase.bytes == Array("s3cret".utf8))
            #expect(person.seen() == "Passphrase for \\u{1B}key: \r\n")
            #expect(person.echoes)
        }
    }

    @Test func `asks twice when asked to, and takes what was typed twice`() async {
        await #expect(processExitsWith: .success) {
            let person = try PseudoTerminal.controlling()
            person.answer([("New passphrase: ", "s3cret words\n"), ("Once more: ", "s3cret words\n")])

            let passphrase = try Passphrase.promptForNew("New passphrase:")
            #expect(passphrase.bytes == Array("s3cret words".utf8))
            #expect(person.seen() == "New passphrase: \r\nOnce more: \r\n")
        }
    }

    @Test func `asks again after two that differ and one that is too short, three times in all`() async {
        await #expect(processExitsWith: .success) {
            let person = try PseudoTerminal.controlling()
            person.answer([
                ("New: ", "s3cret words\n"), ("Once more: ", "s3cret wrods\n"), ("New: ", "short\n"),
                ("New: ", "s3cret words\n"), ("Once more: ", "s3cret words\n"), ("Two: ", "a\n"), ("Two: ", "b\n"),
                ("Two: ", "c\n"),
            ])
            let passphrase = try Passphrase.promptForNew("New:")
            #expect(passphrase.bytes == Array("s3cret words".utf8))
            #expect(throws: PassphraseError.tooShort(.terminal, characters: 1)) {
                try Passphrase.promptForNew("Two:")
            }
            // Only now: as long as somebody answers, what is shown is theirs to read.
            let shown = person.seen()
            #expect(shown.contains("the two passphrases are not the same; once more\r\n"))
            #expect(shown.contains("has 5 characters; that of a new key needs at least 8; once more\r\n"))
            #expect(person.echoes)
        }
    }

    @Test func `for a key that is there is asked three times`() async {
        await #expect(processExitsWith: .success) {
            let person = try PseudoTerminal.controlling()
            person.answer([("Key: ", "one\n"), ("Key: ", "two\n"), ("Key: ", "three\n")])
            var question = PassphraseQuestion("Key:")
            var typed: [String] = []
            while let answer = try question.next() { typed.append(String(decoding: answer.bytes, as: UTF8.self)) }
            #expect(typed == ["one", "two", "three"])
            let reported = person.seen().split(separator: "\r\n").filter { $0 == "that does not open it; once more" }
            #expect(reported.count == 2)
        }
    }

    @Test func `refuses an empty line, and the end of input`() async {
        await #expect(processExitsWith: .success) {
            let person = try PseudoTerminal.controlling()
            person.answer([("One: ", "\n"), ("Two: ", "\u{4}")])
            #expect(throws: PassphraseError.empty(.terminal)) { try Passphrase.prompt("One:") }
            #expect(throws: PassphraseError.ended) { try Passphrase.prompt("Two:") }
            #expect(person.echoes)
        }
    }

    @Test func `lets a person correct the line`() async {
        await #expect(processExitsWith: .success) {
            let person = try PseudoTerminal.controlling()
            person.answer([("One: ", "s3crat\u{7F}\u{7F}et\n")])
            let passphrase = try Passphrase.prompt("One:")
            #expect(passphrase.bytes == Array("s3cret".utf8))
        }
    }

    @Test func `fails when there is no terminal`() async {
        await #expect(processExitsWith: .success) {
            #expect(setsid() > 0)
            #expect(throws: PassphraseError.noTerminal) { try Passphrase.prompt("One:") }
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

            #expect(throws: PassphraseError.interrupted) { try Passphrase.prompt("One:") }
            #expect(readBytes(answers.read) == [1])
            #expect(person.seen().contains("half") == false)
        }
    }

    @Test func `ends the program on Ctrl-C as usual`() async {
        await #expect(processExitsWith: .signal(SIGINT)) {
            let person = try PseudoTerminal.controlling()
            person.answer([("One: ", "half\u{3}")])
            _ = try Passphrase.prompt("One:")
        }
    }
}

/// Where the program's own SIGINT handler writes 1 when the terminal echoes, else 0.
private let handlerAnswers = Atomic<Int32>(-1)

private func answerWhetherTerminalEchoes() {
    var answer: UInt8 = terminalEchoes(STDIN_FILENO) ? 1 : 0
    _ = unsafe write(handlerAnswers.load(ordering: .sequentiallyConsistent), &answer, 1)
}
