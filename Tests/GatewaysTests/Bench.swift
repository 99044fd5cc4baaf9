import FoundationEssentials
import Gateways
import PatchFormat
import Subprocess
import SystemPackage

/// A folder of its own, gone at the end, and the programs that judge what is written here.
struct Bench: ~Copyable {
    /// A program that did not end well, or is not there: the test fails, it is never skipped.
    struct Failed: Error {
        let command: String
        let output: String
    }

    let folder = FileManager.default.temporaryDirectory.appending(path: "gateways-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        try Data(bytes).write(to: folder.appending(path: name))
    }

    func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }

    /// What a line of shell prints in ``folder``.
    @discardableResult
    func run(_ command: String) async throws -> String {
        let result = try await Subprocess.run(
            .name("sh"),
            arguments: ["-ec", command],
            workingDirectory: FilePath(folder.path),
            output: .string(limit: 1 << 20),
            error: .combinedWithOutput
        )
        let output = result.standardOutput
        guard result.terminationStatus == .exited(0) else { throw Failed(command: command, output: output) }
        return output
    }
}

extension ZipArchive.File {
    init(_ path: String, _ text: String) throws {
        self.init(try AssetPath(path), Array(text.utf8))
    }
}

extension ZipArchive.Bounds {
    static let tests = ZipArchive.Bounds(archive: 100_000, contents: 200_000, entries: 20)
}
