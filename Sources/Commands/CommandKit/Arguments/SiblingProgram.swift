import Glibc
package import SystemPackage

/// A program of this product that another one runs.
package enum SiblingProgram {
    /// Beside the program that runs, or else in PATH; nil where it is in neither.
    package static func path(of name: String) -> FilePath? {
        let inPath = (ProcessEnvironment.environment("PATH") ?? "").split(separator: ":").map { FilePath(String($0)) }
        let folders = [ProcessEnvironment.programFolder].compactMap(\.self) + inPath
        return folders.map { $0.appending(name) }.first { path in
            unsafe path.withPlatformString { unsafe access($0, X_OK) } == 0
        }
    }

    /// Becomes `program`, with these arguments; returns only where the system does not let it, with the system's reason.
    package static func become(_ program: FilePath, _ arguments: [String]) -> String {
        var words = unsafe ([program.string] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        unsafe execv(program.string, &words)
        return unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
    }
}
