import PatchFormat
import CommandKit
import SystemPackage

/// The program with the script engine, which patchsync does not contain.
enum EngineProgram {
    static let name = "patchscript"

    static func path() throws(Failure) -> FilePath {
        guard let program = SiblingProgram.path(of: name) else { throw .noPatchScript }
        return program
    }

    /// Replaces this process with the engine's program.
    static func become(_ arguments: [String]) throws(Failure) {
        let program = try path()
        throw Failure(
            "\(program) cannot be run: \(SiblingProgram.become(program, arguments))",
            code: .disk
        )
    }
}

extension Failure {
    static let noPatchScript = Failure(
        "patchscript is neither beside patchsync nor in PATH",
        hint: "it has the engine that scripts run in, and is a package of its own: apt-get install ./patchscript_*.deb",
        code: .disk
    )
}
