import CommandKit
import FoundationEssentials
import Linux
import PatchCrypto
import PatchFormat
import PatchRuntime
import PatchStore
import SystemPackage

/// A running script patch of a device's store, as `patchsync status --json` describes it.
struct StoredScript: Equatable {
    let id: String
    let version: String
    let order: Int
    let sha256: String
    /// Nil if the file is missing or altered.
    let file: FilePath?
    let isAltered: Bool

    /// Returns the running scripts for programs, in the order in which they run.
    static func running(in status: JSON) throws(FormatError) -> [StoredScript] {
        let name = "patchsync status"
        var scripts: [StoredScript] = []
        for row in try Fields(status, of: name).array("patches", limit: 2 * Limits.patchesInList) {
            let fields = try Fields(row, of: name, at: "patches")
            guard try fields.string("kind") == "script", try !fields.bool("pending"),
                try fields.optionalString("runsIn") != "page"
            else { continue }
            // An older patchsync gives no order. It must not look like a store without scripts.
            scripts.append(
                StoredScript(
                    id: try fields.string("patchId"),
                    version: try fields.string("version"),
                    order: try fields.integer("order", in: 1...Limits.patchesInList),
                    sha256: try fields.string("sha256"),
                    file: try fields.optionalString("file").map { FilePath($0) },
                    isAltered: try fields.string("state") == "FileNotMatch"
                )
            )
        }
        return scripts.sorted { $0.order < $1.order }
    }

    /// The script with its bytes, if they are the signed ones.
    var patch: PatchScript {
        var content: PatchScript.Content = isAltered ? .altered : .missing
        if let file {
            let bytes = try? DiskFiles().read(file, limit: Limits.testScript)
            content = bytes.map { SHA256Digest(of: $0).hex == sha256 ? .bytes($0) : .altered } ?? .missing
        }
        return PatchScript(id: id, version: version, content: content)
    }
}

/// The status of a store, from `patchsync`.
struct StoreStatus {
    private static let name = "patchsync"
    private static let (timeout, limit) = (600, 64_000_000)

    let document: [UInt8]
    /// `done`, or the code of a failure that the program reported on standard error.
    let code: ResultCode

    init(of store: String) throws(Failure) {
        guard let program = SiblingProgram.path(of: Self.name) else { throw .noPatchSync }
        do throws(ChildProcessError) {
            let outcome = try ChildProcess.run(
                // In one word, because the name of a folder may begin with a dash.
                [program.string, "status", "--json", "--store=\(store)"],
                environment: ProcessInfo.processInfo.environment.map { "\($0)=\($1)" },
                timeout: Self.timeout,
                limit: Self.limit
            )
            document = outcome.output
            code = ResultCode(rawValue: Int32(clamping: outcome.status)) ?? .failed
        } catch { throw .unread(error) }
    }

    func scripts() throws(Failure) -> [StoredScript] {
        do throws(FormatError) {
            return try StoredScript.running(in: try JSON.document(document, named: Self.name, limit: Self.limit))
        } catch { throw Failure("\(error)", code: .malformed) }
    }
}

extension Failure {
    static func unread(_ error: ChildProcessError) -> Failure { Failure("the store was not read: \(error)") }

    static let noPatchSync = Failure(
        "patchsync is neither beside patchscript nor in PATH",
        hint: "it reads the store, and is a package of its own: apt-get install ./patchsync_*.deb",
        code: .disk
    )
}
