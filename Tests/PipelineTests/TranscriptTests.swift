import Foundation
import PatchFormat
import Subprocess
import SystemPackage
import Testing

/// Shell sessions in `Transcripts`, age's way: each command, what it printed, and the code with which it ended.
///
/// A command is a line that begins with `$ `; below it stands what it printed, on standard error behind `2| `, and in brackets
/// its code unless that is 0. Times, hashes, ports and places are written as words, for they differ from run to run.
@Suite("What people see of the programs, session by session")
struct ProcessTranscriptTests {
    @Test(arguments: ["ceremonies", "releases", "server", "device"])
    func `stands in its transcript`(_ name: String) async throws {
        try await World.with { world in
            try await world.fixtures()
            try await world.checkSession(name)
        }
    }

    /// `$URL` is a server's for its operators; `team` its folder, and two of three who have keys in `TeamKeys` sign there.
    @Test func `stands in its transcript, of people who sign together`() async throws {
        try await World.with { world in
            try await world.fixtures()
            let (keys, site) = (world.path("TeamKeys"), world.path("team"))
            try await world.makeTeamKeys(keys)
            try await world.makeSite(site, keys: keys)
            let token = try await world.token(for: site, role: "admin")
            let secret = try read(token).trimmingCharacters(in: .whitespacesAndNewlines)
            try await serving(site) { _, url in
                try await world.checkSession("team", ["URL": url, "PATCHLINE_TOKEN": secret])
            }
        }
    }

    @Test func `is what a server says of its API and of its metrics`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1).string
            let arguments = ["serve", "--data", site, "--port", "0", "--operators-port", "0"]
            _ = try await running(.patchsrv, arguments) { server in
                let operators = try await server.operators()
                let numbers = try await run(.system("curl"), ["-sS", "\(operators)/metrics"]).done().output
                let helps = numbers.split(separator: "\n").filter { $0.hasPrefix("# HELP ") }.joined(separator: "\n")
                try Transcripts.check("PipelineTests/Transcripts/metrics", helps + "\n")
                let api = "\(operators)/api/v1/openapi.json"
                let document = try await run(.system("curl"), ["-sS", api]).done().output
                let lines = try JSON(parsing: Array(document.utf8)).lines()
                try Transcripts.check("PipelineTests/Transcripts/openapi", lines.joined(separator: "\n") + "\n")
            }
        }
    }
}

extension JSON {
    private var line: String { String(decoding: fileBytes, as: UTF8.self) }

    /// Sorted, and so that a diff shows what changed: what fits into 160 bytes is a line.
    ///
    /// Anything else has a line for each member, where neighbours with the same value share one, and a lone member opens no line.
    fileprivate func lines(indent: String = "", name: String = "", end: String = "") -> [String] {
        let whole = indent + name + line + end
        guard whole.utf8.count > 160 else { return [whole] }
        let rows: [(name: String, value: JSON)]
        let (open, close): (String, String)
        switch self {
        case .array(let values) where !values.isEmpty: (rows, open, close) = (values.map { ("", $0) }, "[", "]")
        case .object(let object) where !object.members.isEmpty: (rows, open, close) = (Self.rows(of: object), "{", "}")
        case .null, .bool, .integer, .string, .array, .object: return [whole]
        }
        if rows.count == 1, !rows[0].name.isEmpty {
            return rows[0].value.lines(indent: indent, name: name + open + rows[0].name, end: close + end)
        }
        let inner = rows.enumerated().flatMap { place, row in
            row.value.lines(indent: indent + "  ", name: row.name, end: place < rows.count - 1 ? "," : "")
        }
        return [indent + name + open] + inner + [indent + close + end]
    }

    /// Members by key, each behind its name and a colon.
    private static func rows(of object: JSONObject) -> [(name: String, value: JSON)] {
        var rows: [(names: [String], value: JSON)] = []
        for member in object.members.sorted(by: { $0.key < $1.key }) {
            let name = JSON.string(member.key).line
            if let last = rows.last, last.value.line == member.value.line {
                rows[rows.count - 1].names.append(name)
            } else {
                rows.append(([name], member.value))
            }
        }
        return rows.map { ($0.names.joined(separator: ", ") + ": ", $0.value) }
    }
}

extension World {
    /// What a session finds in its folder.
    fileprivate func fixtures() async throws {
        for (name, original) in [
            ("Keys", shop.keys), ("OtherKeys", shop.otherKeys), ("source1", shop.source(1)),
            ("source2", shop.source(2)),
            ("release1", shop.release(1)), ("release2", shop.release(2)), ("release3", shop.release(3)),
        ] {
            try await copy(original, to: path(name))
        }
        _ = try await site(shop.site1)
        _ = try await settledDevice(server: "http://127.0.0.1:9")
    }

    /// Runs the commands of a session, and compares what they print with what stands below them.
    fileprivate func checkSession(_ name: String, _ environment: [Environment.Key: String?] = [:]) async throws {
        let kept = try Transcripts.text("PipelineTests/Transcripts/\(name)")
        var lines: [String] = []
        for line in kept.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.isEmpty || line.hasPrefix("#") {
                lines.append(line)
            } else if line.hasPrefix("$ ") {
                lines += [line] + (try await session(String(line.dropFirst(2)), environment))
            }
        }
        try Transcripts.check("PipelineTests/Transcripts/\(name)", lines.joined(separator: "\n"))
    }

    /// What a command of a session printed, and its code.
    private func session(_ command: String, _ more: [Environment.Key: String?]) async throws -> [String] {
        let programs = Tool.binaries.string
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let outcome = try await run(
            .system("bash"),
            ["-c", command],
            environment: [
                "PATH": "\(programs):\(path)", "COLUMNS": "200", "USER": "ada", "SOURCE_DATE_EPOCH": nil,
                "PATCHLINE_ALLOW_TESTING_KEYS": nil,
            ].merging(more) { $1 },
            in: folder
        )
        func lines(_ text: String) -> [String] {
            guard !text.isEmpty else { return [] }
            let text = text.hasSuffix("\n") ? String(text.dropLast()) : text
            return text.split(separator: "\n", omittingEmptySubsequences: false)
                // How far work has come depends on how fast it is.
                .filter { !$0.contains(#/: \d+ %, .+ of .+$/#) }.map { steady($0) }
        }
        // What could be taken for the session's own lines says where it comes from.
        let output = lines(outcome.output).map { line in
            line.isEmpty || line.hasPrefix("#") || line.hasPrefix("$ ") ? "1| \(line)" : line
        }
        return output + lines(outcome.errors).map { "2| \($0)" }
            + (outcome.code == 0 ? [] : ["[\(outcome.code.map { "\($0)" } ?? "killed")]"])
    }

    /// A line without what differs from run to run.
    private func steady(_ line: Substring) -> String {
        var text = String(line).replacing(folder.string, with: "WORK").replacing(Workshop.folder.string, with: "SHOP")
        text = text.replacing(#/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/#, with: "TIME")
        text = text.replacing(#/failed (\d{4}-\d\d-\d\d )?\d\d:\d\d UTC/#, with: "failed TIME")
        text = text.replacing(#/\b[0-9a-f]{8,64}\b/#.wordBoundaryKind(.simple), with: "HEX")
        text = text.replacing(#/\bprocess \d+/#, with: "process PID")
        text = text.replacing(#/\bnumber [\d,]+ of 10,000/#, with: "number N of 10,000")
        text = text.replacing(#/127\.0\.0\.1:\d{4,5}/#, with: "127.0.0.1:PORT")
        text = text.replacing(#/\d+\.\d kB|done, \d+ B/#) { $0.0.hasPrefix("done") ? "done, SIZE" : "SIZE" }
        text = text.replacing(#/\bin \d+(\.\d+)? m?s\b/#, with: "in TIME")
        text = text.replacing(#/\b[a-z][a-z0-9_-]* at the server/#, with: "USER at the server")
        // Keys are named in the order of their ids.
        text = text.replacing(#/(may still sign: |signatures? by )(.+)$/#) { match in
            match.1 + match.2.split(separator: ", ").sorted().joined(separator: ", ")
        }
        text = text.replacing(#/\/\S+\/patchsign-[A-Za-z0-9]{6}\//#, with: "TEMP/")
        text = text.replacing(#/(sent \d+ parts?), [\d,]+ bytes \([\d,]+ bytes/#) { "\($0.1), SIZE (SIZE" }
        // Columns are as wide as what stood in them.
        return text.replacing(#/(\S)  +/#) { "\($0.1)  " }
    }
}
