import PatchFormat
import CommandKit
import Testing

@Suite("A failure")
struct FailureTests {
    let expired = Failure("the list expired on 3 May", hint: "run patchsrv resign\nor wait", code: .refused)

    @Test func `is an error line and a line for each hint`() {
        #expect(
            expired.lines(on: plain) == [
                "error: the list expired on 3 May", "hint: run patchsrv resign", "hint: or wait",
            ]
        )
        #expect(Failure("no").lines(on: plain) == ["error: no"])
    }

    @Test func `is coloured on a terminal`() {
        #expect(Failure("no").lines(on: colored) == ["\u{1B}[1;31merror:\u{1B}[0m no"])
    }

    @Test func `does not let a name in it drive the terminal`() {
        let failure = Failure("no patch \u{1B}]0;owned\u{7}\nhint: run rm", hint: "\u{1B}c")
        #expect(
            failure.lines(on: plain) == ["error: no patch \\u{1B}]0;owned\\u{7}\\nhint: run rm", "hint: \\u{1B}c"]
        )
    }

    @Test(arguments: [
        (Failure("no"), #"{"error":{"message":"no","kind":"failed","exitCode":1}}"#),
        (
            Failure("\"a\\b\"\n\u{1B}é😀", hint: "h", code: .refused),
            #"{"error":{"message":"\"a\\b\"\n\u001b\u00e9\ud83d\ude00","hint":"h","kind":"refused","exitCode":3}}"#
        ),
    ])
    func `is one line of JSON in ASCII`(_ failure: Failure, json: String) {
        #expect(failure.json == json)
    }

    @Test func `is written to a console, line feeds and all`() async {
        let pipe = Pipe()
        expired.report(to: Console(descriptor: pipe.write, isTerminal: false))
        close(pipe)
        let text = await pipe.readOnAnotherThread(count: 1000)
        #expect(
            String(decoding: text, as: UTF8.self)
                == "error: the list expired on 3 May\nhint: run patchsrv resign\nhint: or wait\n"
        )
    }

    @Test func `has an exit code that scripts may rely on`() {
        #expect(ResultCode.allCases.map(\.rawValue) == [0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 64, 130, 143])
    }
}

@Suite("Amounts")
struct AmountTests {
    @Test(arguments: [
        (0, "0 B"), (812, "812 B"), (999, "999 B"), (1000, "1.0 kB"), (1449, "1.4 kB"), (1450, "1.5 kB"),
        (99_949, "99.9 kB"), (99_950, "100 kB"), (142_450, "142 kB"), (142_500, "143 kB"), (999_499, "999 kB"),
        (999_500, "1.0 MB"), (1_400_000, "1.4 MB"), (2_000_000_000, "2.0 GB"), (Int.max, "9223 PB"),
    ])
    func `of bytes have three digits and a unit`(_ count: Int, text: String) {
        #expect("\(ByteText(count))" == text)
    }

    @Test(arguments: [
        (Duration.zero, "0 ms"), (.milliseconds(12), "12 ms"), (.milliseconds(999), "999 ms"),
        (.milliseconds(4250), "4.2 s"), (.milliseconds(59_999), "59.9 s"), (.seconds(60), "1 min"),
        (.seconds(72), "1 min 12 s"), (.seconds(7500), "2 h 5 min"), (.seconds(86_400 * 3 + 14_400), "3 d 4 h"),
        (.milliseconds(-5), "0 ms"),
    ])
    func `of time have their two largest units`(_ duration: Duration, text: String) {
        #expect("\(DurationText(duration))" == text)
    }
}
