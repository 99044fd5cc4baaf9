package import FoundationEssentials
import Glibc

/// A folder of its own, gone at the end, and the programs that judge what Patchline wrote.
package final class Bench {
    /// A command that did not end well, or is not there: the test fails, it is never skipped.
    package struct Failed: Error {
        let command: String
        let status: Int
        let output: String
    }

    package let folder = FileManager.default.temporaryDirectory.appending(path: "patchline-\(UUID().uuidString)")

    package init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Whether the folder stays until the process ends.
    private var isKept = false

    /// For what all tests share.
    package func keep() {
        isKept = true
    }

    deinit {
        guard !isKept else { return }
        try? FileManager.default.removeItem(at: folder)
    }

    package func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        try Data(bytes).write(to: folder.appending(path: name))
    }

    package func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }

    /// What a line of shell prints in ``folder``.
    @discardableResult
    package func run(_ command: String) throws -> String {
        let status = unsafe system("cd '\(folder.path)' && { set -e; \(command) ; } >output 2>&1 </dev/null")
        let output = String(decoding: try read("output"), as: UTF8.self)
        guard status == 0 else { throw Failed(command: command, status: Int(status), output: output) }
        return output
    }
}
