import Subprocess
import SystemPackage
import Testing

@Suite("The demo")
struct DemoTests {
    @Test func `runs to its end, and the judge finds nothing wrong after any step`() async throws {
        let judge = try "\(Tool.script("after_step.sh")) \(Tool.judgesPython) \(Tool.checkTree)"
        _ = try await Workshop.ready()
        let demo = try await run(
            .system("bash"),
            [Tool.repository.appending("Patches/demo.sh").string, Tool.binaries.string],
            environment: ["AFTER_STEP": judge, "KEEP": nil, "TMPDIR": Workshop.folder.string],
            deadline: patience * 2
        )
        #expect(demo.code == 0, "\(demo)")
        #expect(
            demo.output.contains(
                "Eleven steps: signed, published, synced, served, healed, updated, refused, rolled back, withdrawn, patched in a program, kept live."
            )
        )
        let judgements = demo.output.split(separator: "\n").filter { $0.contains("judge of step") }
        #expect(judgements.allSatisfy { $0.hasSuffix("; 0 findings") }, "\(judgements)")
        let steps = Set(judgements.compactMap { $0.firstMatch(of: #/judge of step (\d+):/#)?.1 })
        #expect(steps == ["2", "3", "4", "5", "6", "7", "8", "9", "10", "11"], "\(judgements)")
        let left = try await run(
            .system("bash"),
            ["-c", "ls -d \(Workshop.folder)/patchline-demo.* 2>/dev/null | wc -l"]
        )
        #expect(left.output == "0\n", "it leaves its folder behind")
    }
}
