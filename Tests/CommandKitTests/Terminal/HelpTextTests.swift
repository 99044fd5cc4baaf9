import CommandKit
import Testing

@Suite("Help on a terminal")
struct HelpTextTests {
    private func lines(_ text: String, _ columns: Int) -> [String] {
        HelpText(text).lines(columns: columns)
    }

    @Test func `has paragraphs filled, wherever their source breaks`() {
        let text = """
            OVERVIEW: Serves.

            One two three four
            five six seven eight nine ten

            EXAMPLES
            """
        #expect(
            lines(text, 24) == [
                "OVERVIEW: Serves.", "", "One two three four five", "six seven eight nine ten", "", "EXAMPLES",
            ]
        )
    }

    @Test func `ends no paragraph with one word alone`() {
        #expect(lines("one two three four five six", 23) == ["one two three four", "five six"])
        #expect(lines("one extraordinarily", 10) == ["one", "extraordinarily"])
    }

    @Test func `hangs a row below its own column`() {
        #expect(
            lines("  4   a file is malformed, or is none", 24) == [
                "  4   a file is", "      malformed, or", "      is none",
            ]
        )
        let option = "OPTIONS:\n  --data <dir>            The server's folder, which init made."
        #expect(
            lines(option, 44) == [
                "OPTIONS:", "  --data <dir>            The server's", "                          folder, which",
                "                          init made.",
            ]
        )
        // The parser leaves one blank behind a label that just fits.
        let tight = "OPTIONS:\n  --a-label-of-width <yz> The text of it goes on."
        #expect(lines(tight, 40)[2].hasPrefix(String(repeating: " ", count: 26)))
    }

    @Test func `breaks a command so that it can be pasted`() {
        let text = "  patchsrv serve --data /srv/patchline \\\n    --host 0.0.0.0 --port 443"
        #expect(
            lines(text, 44) == ["  patchsrv serve --data /srv/patchline \\", "      --host 0.0.0.0 --port 443"]
        )
        #expect(lines(text, 80) == ["  patchsrv serve --data /srv/patchline --host 0.0.0.0 --port 443"])
        let said = "  patchsrv status --data /srv/patchline         (every day, from cron)"
        #expect(lines(said, 80) == [said])
        #expect(lines(said, 50) == ["  patchsrv status --data /srv/patchline", "      (every day, from cron)"])
    }
}
