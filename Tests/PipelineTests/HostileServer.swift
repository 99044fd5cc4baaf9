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
}

extension World {
    func withServer(
        of site: FilePath,
        _ body: @escaping @Sendable (HostileServer) async throws -> Void
    ) async throws {
        let control = path("control-\(site.lastComponent?.string ?? "")")
        _ = try await running(.python, [Tool.script("hostile.py"), site.appending("tree").string, control.string]) {
            program in
            try await body(HostileServer(url: try await program.address(), program: program, control: control))
        }
    }
}
