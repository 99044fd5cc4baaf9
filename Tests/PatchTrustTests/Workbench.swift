import FoundationEssentials
import Glibc

/// A folder of its own, gone at the end, and the tools that judge what Patchline wrote.
final class Workbench {
    /// A command that did not end well, or is not there: the test fails, it is never skipped.
    struct Failed: Error {
        let command: String
        let status: Int
        let output: String
    }

    let folder = FileManager.default.temporaryDirectory.appending(path: "patchtrust-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Whether the folder stays until the process ends.
    private var isKept = false

    /// For what all tests share.
    func keep() {
        isKept = true
    }

    deinit {
        guard !isKept else { return }
        try? FileManager.default.removeItem(at: folder)
    }

    func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        try Data(bytes).write(to: folder.appending(path: name))
    }

    func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }

    /// What `command` prints; it runs in ``folder``.
    @discardableResult
    func run(_ command: String) throws -> String {
        let status = unsafe system("cd '\(folder.path)' && { \(command) ; } >output 2>&1 </dev/null")
        let output = String(decoding: try read("output"), as: UTF8.self)
        guard status == 0 else { throw Failed(command: command, status: Int(status), output: output) }
        return output
    }
}
