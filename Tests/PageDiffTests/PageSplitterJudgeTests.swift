import FoundationEssentials
import PageDiff
import PatchFormat
import PatchTesting
import Subprocess
import SystemPackage
import Testing

/// Beside the regular expressions of the protocol, in the language that they were written for.
@Suite("A splitter beside another")
struct PageSplitterJudgeTests {
    @Test
    func
        `400 pages of every mark in every order have the tags that regular expressions give them, and data where every client rebuilds them`()
        async throws
    {
        var numbers = SeededGenerator(state: 22)
        let pages = (0..<400).map { _ in Self.page(&numbers) }
        let judged = try await Self.judged(pages)
        #expect(judged.count == pages.count)
        var withData = 0
        for (page, verdict) in zip(pages, judged) {
            let split = SplitPage(page)
            #expect(split.pageTag.hex == verdict.page)
            #expect(split.templateTag.hex == verdict.template, "\(page)")
            // Ours refuses some that the three orders which were tried come to.
            if split.data != nil { #expect(verdict.rebuilt, "\(page)") }
            if let data = split.data { #expect(data.page(of: split.template) == split.page) }
            if split.isMarked, split.data != nil { withData += 1 }
        }
        // The pages are no lot of refused ones.
        #expect(withData > 50)
        #expect(judged.count { $0.blocks > 0 && !$0.rebuilt } > 20)
    }

    struct Verdict: Decodable {
        let page: String
        let template: String
        let blocks: Int
        let rebuilt: Bool
    }

    static func page(_ numbers: inout SeededGenerator) -> String {
        let names = ["a", "b", "data1", "title", "", "auto0", "end", "News_2"]
        let pieces = [
            "text ", "<p>{a}</p>", "{title}", "{", "}", "<b>中文</b>", "\n", "<title>T</title>", "<TITLE>t\n</TITLE>",
            "<title x>", "</title>", "<!-- a comment -->", "<!--", "-->", "<!--sonicdiff", "!important", "\u{2028}",
            "<script>if (a<!b) {c}</script>",
        ]
        return (0..<Int.random(in: 3...25, using: &numbers)).map { _ in
            let name = names.randomElement(using: &numbers) ?? ""
            let hyphen = name.isEmpty && Bool.random(using: &numbers) ? "" : "-"
            let begin = "<!--sonicdiff\(hyphen)\(name)-->"
            let end = "<!--\(Bool.random(using: &numbers) ? "sonicdiff" : "SonicDiff")\(hyphen)\(name)-end-->"
            return switch Int.random(in: 0..<12, using: &numbers) {
            case 0..<3: begin + (pieces.randomElement(using: &numbers) ?? "") + end
            case 3: begin
            case 4: end
            default: pieces.randomElement(using: &numbers) ?? ""
            }
        }.joined()
    }

    static func judged(_ pages: [String]) async throws -> [Verdict] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pages-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (number, page) in pages.enumerated() { try Data(page.utf8).write(to: folder.appending(path: "\(number)")) }
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Judges/page_splitter.mjs")
        let run = try await Subprocess.run(
            .name("node"),
            arguments: [script.path, folder.path, "\(pages.count)"],
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 16)
        )
        try #require(run.terminationStatus == .exited(0), "\(run.standardError)")
        return try run.standardOutput.split(separator: "\n").map {
            try JSONDecoder().decode(Verdict.self, from: Data($0.utf8))
        }
    }
}
