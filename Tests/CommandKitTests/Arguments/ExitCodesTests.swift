import PatchFormat
import CommandKit
import FoundationEssentials
import Testing

@Suite("Exit codes")
struct ExitCodesTests {
    @Test func `stand in a help in their order, in its own words or the usual ones`() {
        let section = exitCodes([.refused: "no", .done: "yes"], usual: .disk, .interrupted)
        #expect(
            section == """


                EXIT CODES
                  0    yes
                  3    no
                  6    a file could not be read or written
                  64   the command line was not understood
                  130  SIGINT or SIGTERM stopped it in good order
                """
        )
    }

    @Test func `stand on their page with what they mean`() throws {
        let page =
            #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
            + "/Sources/Device/Patchline/Patchline.docc/CommandLines.md"
        let bytes = try #require(FileManager.default.contents(atPath: page))
        let text = String(decoding: bytes, as: UTF8.self)
        for code in ResultCode.allCases {
            #expect(text.contains("| \(code.rawValue) | `\(code)` | \(code.meaning) |"), "\(code)")
        }
    }
}
