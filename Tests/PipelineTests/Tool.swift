import FoundationEssentials
import Subprocess
import SystemPackage

/// A program that these tests run: one of ours, or one that judges ours.
///
/// One that is missing fails its test.
enum Tool: Sendable {
    case patchsign, patchsrv, patchsync, patchscript
    /// `Examples/Shop`, which `.ci/example` links.
    case sample
    /// A Python that has `tuf` and `securesystemslib[crypto]`.
    case python
    /// A system's own: `openssl`, `curl`, `bash`.
    case system(String)

    var executable: Executable {
        get throws(ToolTrouble) {
            switch self {
            case .patchsign: .path(try Self.ours("patchsign"))
            case .patchsrv: .path(try Self.ours("patchsrv"))
            case .patchsync: .path(try Self.ours("patchsync"))
            case .patchscript: .path(try Self.ours("patchscript"))
            case .sample: .path(try Self.ours("Shop"))
            case .python: .path(try Self.judgesPython)
            case .system(let name): .path(try Self.find(name))
            }
        }
    }

    /// Where the three binaries are: `PATCHLINE_BIN`, else beside the running test bundle.
    static var binaries: FilePath {
        if let folder = ProcessInfo.processInfo.environment["PATCHLINE_BIN"] { return FilePath(folder) }
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return FilePath(link ?? "/proc/self/exe").removingLastComponent()
    }

    static var judgesPython: FilePath {
        get throws(ToolTrouble) {
            guard let path = ProcessInfo.processInfo.environment["PATCHLINE_JUDGES_PYTHON"] else {
                throw .missing("PATCHLINE_JUDGES_PYTHON is not set: a Python with tuf and securesystemslib[crypto]")
            }
            return try present(FilePath(path))
        }
    }

    /// The second implementation of the formats.
    static var checkTree: FilePath {
        get throws(ToolTrouble) {
            if let path = ProcessInfo.processInfo.environment["PATCHLINE_CHECK_TREE"] {
                return try present(FilePath(path))
            }
            return try present(repository.removingLastComponent().appending("shared/judges/check_tree.py"))
        }
    }

    static var repository: FilePath {
        FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
    }

    /// A script of ours beside the tests.
    static func script(_ name: String) -> String {
        FilePath(#filePath).removingLastComponent().appending("Judges").appending(name).string
    }

    private static func ours(_ name: String) throws(ToolTrouble) -> FilePath {
        try present(binaries.appending(name))
    }

    private static func find(_ name: String) throws(ToolTrouble) -> FilePath {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        for folder in folders {
            let path = FilePath(String(folder)).appending(name)
            if FileManager.default.isExecutableFile(atPath: path.string) { return path }
        }
        throw .missing("\(name) is not on PATH")
    }

    private static func present(_ path: FilePath) throws(ToolTrouble) -> FilePath {
        guard FileManager.default.fileExists(atPath: path.string) else { throw .missing("\(path) does not exist") }
        return path
    }
}

/// Why a program could not be run to its end.
enum ToolTrouble: Error, CustomStringConvertible {
    case missing(String)
    case late(String)
    /// What was waited for did not come.
    case never(String, seen: String)
    case failed(String)

    var description: String {
        switch self {
        case .missing(let what): "a judge or tool is missing, and nothing is skipped: \(what)"
        case .late(let command): "still running at its deadline: \(command)"
        case .never(let what, let seen): "waited in vain for \(what); seen:\n\(seen)"
        case .failed(let what): what
        }
    }
}
