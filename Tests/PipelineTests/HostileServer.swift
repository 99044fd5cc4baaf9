import PatchTesting
import SystemPackage

/// A server of a published tree that does wrong when it is told to: Judges/hostile.py.
struct HostileServer: Sendable {
    let url: String
    let program: RunningProgram
    fileprivate let control: FilePath

    /// From now on answers to paths with `part` in them are wrong in this way.
    func turn(_ mode: String, for part: String) throws {
        try write("\(mode) \(part)", to: control)
    }

    func beHonest() throws {
        try turn("honest", for: "-")
    }

    /// From now on it answers this to what devices ask beside files.
    func answer(_ text: String) throws {
        try write(text, to: FilePath(control.string + ".answer"))
    }

    var lineCount: Int { get async { await program.lineCount } }

    /// The paths that were asked for, from this line of its output on.
    func requests(from start: Int) async throws -> [String] {
        await program.text.split(separator: "\n").dropFirst(start).map(String.init)
    }

    /// Waits for a request of a path with `part` in it.
    func request(of part: String, from start: Int) async throws -> String {
        try await program.line(with: part, from: start)
    }
}

extension World {
    @discardableResult
    func withServer<Result: Sendable>(
        of site: FilePath,
        _ body: @escaping @Sendable (HostileServer) async throws -> Result
    ) async throws -> Result {
        let control = path("control-\(site.lastComponent?.string ?? "")")
        let arguments = [Tool.script("hostile.py"), site.appending("tree").string, control.string]
        let (result, _) = try await running(.python, arguments, deadline: Sweep.serverDeadline) { program in
            try await body(HostileServer(url: try await program.address(), program: program, control: control))
        }
        return result
    }
}
