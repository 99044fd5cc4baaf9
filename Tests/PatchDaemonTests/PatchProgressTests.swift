import DeviceOutput
import PatchChoice
import Testing

@Suite("What became of a patch")
struct PatchProgressTests {
    private static let broken: [PatchState] = [.fileNotExist, .fileNotMatch, .unknownError]

    /// By the first state of a sync, in the order of `last`; nil is a patch that had one state alone.
    private static let table: [(first: [PatchState?], words: [String])] = [
        (
            [nil, .success, .unInstall],
            [
                "installed", "downloaded, starts at the next launch", "new, not downloaded",
                "another version, not downloaded", "a file is missing", "a file is altered", "unusable",
            ]
        ),
        (
            [.add],
            [
                "new, installed", "new, downloaded, starts at the next launch", "new, not downloaded",
                "another version, not downloaded", "new, a file is missing", "new, a file is altered", "new, unusable",
            ]
        ),
        (
            [.update],
            [
                "another version, installed", "another version, downloaded, starts at the next launch",
                "new, not downloaded", "another version, not downloaded", "another version, a file is missing",
                "another version, a file is altered", "another version, unusable",
            ]
        ),
        (
            broken.map { $0 },
            [
                "repaired, installed", "repaired, downloaded, starts at the next launch", "new, not downloaded",
                "another version, not downloaded", "a file is missing", "a file is altered", "unusable",
            ]
        ),
    ]
    private static let last: [PatchState] = [
        .success, .unInstall, .add, .update, .fileNotExist, .fileNotMatch, .unknownError,
    ]

    @Test func `is said in plain words of every pair of states`() {
        #expect(Set(Self.last) == Set(PatchState.allCases))
        #expect(Self.table.flatMap(\.first).count == PatchState.allCases.count + 1)
        for (firsts, expected) in Self.table {
            for first in firsts {
                let words = Self.last.map { PatchProgress.words(from: first, to: $0, start: .atNextLaunch) }
                #expect(words == expected, "from \(first.map(\.name) ?? "nothing")")
            }
        }
    }

    @Test(arguments: [
        (PatchProgress.Start.unknown, "new, downloaded, waits for its start"),
        (.atNextLaunch, "new, downloaded, starts at the next launch"), (.atOnce, "new, downloaded, starts at once"),
        (.held, "new, downloaded, must not start yet"),
        (.afterTrial, "new, downloaded, waits for the end of the trial"),
    ])
    func `says when a downloaded version starts`(_ start: PatchProgress.Start, _ words: String) {
        #expect(PatchProgress.words(from: .add, to: .unInstall, start: start) == words)
    }

    @Test func `says nothing of a removal`() {
        for first in [nil] + PatchState.allCases.map({ Optional($0) }) {
            for start in PatchProgress.Start.allCases {
                let words = Self.last.map { PatchProgress.words(from: first, to: $0, start: start) }
                #expect(!words.contains { $0.lowercased().contains("uninstall") })
            }
        }
    }
}
