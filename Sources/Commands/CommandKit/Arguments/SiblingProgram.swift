import Glibc
package import SystemPackage

/// Another program of this product that is started by a command.
package enum SiblingProgram {
    /// Returns the path next to the running program or in PATH, or nil if the program is in neither.
    package static func path(of name: String) -> FilePath? {
        let inPath = (ProcessEnvironment.environment("PATH") ?? "").split(separator: ":").map { FilePath(String($0)) }
        let folders = [ProcessEnvironment.programFolder].compactMap(\.self) + inPath
        return folders.map { $0.appending(name) }.first { path in
            unsafe path.withPlatformString { unsafe access($0, X_OK) } == 0
        }
    }

    /// Replaces this process by `program` with these arguments.
    ///
    /// Returns only on failure, with the system's reason.
    package static func become(_ program: FilePath, _ arguments: [String]) -> String {
        var words = unsafe ([program.string] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        unsafe execv(program.string, &words)
        return unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
    }
}
