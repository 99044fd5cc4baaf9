import Foundation
import FolderUploads
import HTTPFiles
import NIOHTTP1
import PatchStore
import SystemPackage
import Testing

/// Requests and answers as they went over the wire, `NNN-METHOD.request` and `NNN-STATUS.response`, sent in order.
///
/// A suite is a folder of pairs beside the folder `payload` that they ask for: `Tests/Vectors/recorded`. Another one, of a
/// checkout of GCDWebServer, is replayed by `Tests/recorded.sh`.
struct RecordedSuite: Sendable, CustomTestStringConvertible {
    enum Mode: String, Sendable {
        /// The folder, by the rules of HTTP.
        case folder
        /// The folder, as GCDWebServer serves it.
        case compatible
        /// A form, as GCDWebServer serves it.
        case form
        /// The calls of GCDWebUploader over the folder, which they change.
        case uploader
    }

    let folder: URL
    let payload: URL
    let mode: Mode

    var testDescription: String { folder.lastPathComponent }

    static let own: [RecordedSuite] = {
        let vectors = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Vectors/recorded")
        return [("http", Mode.folder), ("gcdwebserver", .compatible), ("gcdwebserver-form", .form)].map { name, mode in
            RecordedSuite(
                folder: vectors.appending(path: name),
                payload: vectors.appending(path: "payload"),
                mode: mode
            )
        }
    }()

    /// From the environment: `FOLDER:PAYLOAD:MODE`, separated by spaces.
    static let others: [RecordedSuite] = {
        (ProcessInfo.processInfo.environment["PATCHLINE_RECORDED"] ?? "").split(separator: " ").compactMap { text in
            let parts = text.split(separator: ":").map(String.init)
            guard parts.count == 3, let mode = Mode(rawValue: parts[2]) else { return nil }
            return RecordedSuite(
                folder: URL(fileURLWithPath: parts[0]),
                payload: URL(fileURLWithPath: parts[1]),
                mode: mode
            )
        }
    }()

    struct Pair: Sendable {
        let name: String
        let request: [UInt8]
        let response: [UInt8]
        var isHead: Bool { name.hasSuffix("HEAD") }
    }

    func pairs() throws -> [Pair] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        return try names.filter { $0.hasSuffix(".request") }.map { name in
            let answer = try #require(names.first { $0.hasPrefix(name.prefix(4)) && $0.hasSuffix(".response") })
            return Pair(
                name: String(name.dropLast(8)),
                request: Array(try Data(contentsOf: folder.appending(path: name))),
                response: Array(try Data(contentsOf: folder.appending(path: answer)))
            )
        }
    }
}

/// The two pages of a form: the empty one, and what was entered.
private struct FormSource: FileSource {
    /// What the form's own handler answers to GET.
    let page: [UInt8]
    let acceptsBodies = true

    func decide(_ request: FileRequest) -> FileDecision { .later(.whole, answer) }

    private func answer(_ request: FileRequest) -> FileAnswer {
        var bytes = page
        if request.method == .POST {
            let fields = String(decoding: request.body, as: UTF8.self).split(separator: "&").map(String.init)
            let value = fields.first { $0.hasPrefix("value=") }?.dropFirst(6).replacing("+", with: " ")
            let text = value.flatMap { String($0).removingPercentEncoding } ?? ""
            bytes = Array("<html><body><p>\(text)</p></body></html>".utf8)
        }
        return .bytes(ServedBytes(bytes: bytes, contentType: "text/html; charset=utf-8"))
    }
}

/// Status, fields and body of one answer.
private struct Recorded {
    let status: String
    let fields: [String: String]
    let body: [UInt8]

    init(_ bytes: [UInt8]) throws {
        let end = try #require(bytes.firstRange(of: Array("\r\n\r\n".utf8)))
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n").map(String.init)
        status = try #require(lines.first)
        fields = Dictionary(
            lines.dropFirst().map { line in
                let colon = line.firstIndex(of: ":") ?? line.endIndex
                return (line[..<colon].lowercased(), line[colon...].dropFirst().trimmingPrefix(" ").description)
            },
            uniquingKeysWith: { "\($0), \($1)" }
        )
        body = Array(bytes[end.upperBound...])
    }
}

@Suite("Recorded requests and answers")
struct RecordedPairsTests {
    private static let date = Date(timeIntervalSince1970: 1_388_534_400)

    @Test(arguments: RecordedSuite.own + RecordedSuite.others)
    func `get the answers that were recorded`(suite: RecordedSuite) async throws {
        let pairs = try suite.pairs()
        #expect(!pairs.isEmpty)
        try Self.setDates(of: suite)
        let source: any FileSource =
            switch suite.mode {
            case .folder, .compatible: ListedFolder(root: FilePath(suite.payload.path))
            case .uploader: Uploader(FilePath(suite.payload.path), files: DiskFiles(), below: [])
            case .form: FormSource(page: try Recorded(try #require(pairs.first).response).body)
            }
        let configure: @Sendable (inout FileServerConfiguration) -> Void = { configuration in
            switch suite.mode {
            case .folder: break
            case .compatible, .form: configuration.dialect = .gcdWebServer(name: "GCDWebServer")
            case .uploader: configuration.dialect = .gcdWebServer(name: "GCDWebUploader")
            }
        }
        var same = 0
        for pair in pairs {
            let answer = try await TestServer.running(source, configure: configure) { server in
                try await server.connected { client in
                    try await client.send(bytes: pair.request)
                    try await client.closeOutput()
                    return await client.rest()
                }
            }
            let (found, expected) = (try Recorded(answer), try Recorded(pair.response))
            let isSame = Self.expect(found, toBe: expected, pair)
            same += isSame ? 1 : 0
        }
        print("\(suite.testDescription): \(same) of \(pairs.count) pairs")
    }

    private static func expect(_ found: Recorded, toBe expected: Recorded, _ pair: RecordedSuite.Pair) -> Bool {
        let open: Set = ["date", "etag"]
        let (fields, wanted) = (
            found.fields.filter { !open.contains($0.key) }, expected.fields.filter { !open.contains($0.key) }
        )
        // The client that recorded may have hung up; the length says what would have come.
        let isWhole = expected.fields["content-length"].map { $0 == "\(expected.body.count)" } ?? true
        let hasBody = isWhole || pair.isHead ? found.body == expected.body : found.body.starts(with: expected.body)
        #expect(found.status == expected.status, "\(pair.name)")
        #expect(fields == wanted, "\(pair.name)")
        #expect(Set(found.fields.keys) == Set(expected.fields.keys), "\(pair.name)")
        #expect(hasBody, "\(pair.name): \(found.body.count) bytes, \(expected.body.count) were recorded")
        return found.status == expected.status && fields == wanted && hasBody
    }

    /// A checkout keeps no dates; those of another suite are what they are.
    private static func setDates(of suite: RecordedSuite) throws {
        guard suite.payload.path.contains("Vectors/recorded") else { return }
        for name in try FileManager.default.subpathsOfDirectory(atPath: suite.payload.path) {
            try FileManager.default.setAttributes(
                [.modificationDate: date],
                ofItemAtPath: suite.payload.appending(path: name).path
            )
        }
    }
}
