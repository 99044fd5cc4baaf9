@testable import FolderUploads
import HTTPCore
import HTTPFiles
import NIOHTTP1
import PatchStore
import PatchTesting
import SystemPackage

/// A folder on some disk, and the calls over it.
struct UploadWorld {
    static let boundary = "----form"

    let files: any FileOperations
    let root: FilePath
    let uploader: Uploader

    /// One made of these files, of which those that end in a slash are folders.
    init(
        _ files: any FileOperations = FaultyFiles(),
        at root: FilePath = "/content",
        with names: [String] = [],
        limits: UploaderLimits = UploaderLimits(),
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        self.files = files
        self.root = root
        uploader = Uploader(root, files: files, below: [], limits: limits, report: report)
        for name in [""] + names {
            let path = name.isEmpty ? root : root.appending(name)
            // A disk that is to fail counts what is done to it.
            if try files.status(of: path) != nil { continue }
            if name.isEmpty || name.hasSuffix("/") {
                try files.makeDirectory(path)
            } else {
                try files.makeDirectory(path.removingLastComponent())
                try files.write(Array(name.utf8), to: path)
                try files.syncDirectory(path.removingLastComponent())
            }
        }
    }

    /// An answer as a client sees it.
    struct Answer: Equatable, CustomStringConvertible {
        let status: UInt
        let body: String

        var description: String { "\(status) \(body)" }

        static let done = Answer(status: 200, body: "{}")
        static func refused(_ status: UInt, _ words: String) -> Answer {
            Answer(status: status, body: #"{"error":"\#(words)"}"#)
        }
    }

    func answer(_ request: FileRequest) async -> FileAnswer {
        await uploader.decide(request).answer(to: request)
    }

    func request(
        _ target: String,
        _ body: [UInt8] = [],
        method: HTTPMethod = .GET,
        _ fields: HTTPHeaders = [:]
    ) throws -> FileRequest {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        return FileRequest(
            method: method,
            path: try RequestPath(parsing: parts[0]),
            query: parts.count > 1 ? parts[1] : nil,
            headers: fields,
            body: body
        )
    }

    func get(_ target: String) async throws -> Answer { Answer(await answer(try request(target))) }

    func post(_ call: String, _ form: String) async throws -> Answer {
        let type: HTTPHeaders = ["Content-Type": "application/x-www-form-urlencoded; charset=UTF-8"]
        return Answer(await answer(try request("/\(call)", Array(form.utf8), method: .POST, type)))
    }

    func upload(_ name: String, _ content: String, into path: String? = "/") async throws -> Answer {
        var parts = [Self.file(name, content)]
        if let path { parts.insert(Self.field("path", path), at: 0) }
        return try await upload(parts: parts)
    }

    /// - Parameter end: what closes the form.
    func upload(parts: [String], end: String = "--\(boundary)--\r\n") async throws -> Answer {
        let fields: HTTPHeaders = [
            "Content-Type": "multipart/form-data; boundary=\(Self.boundary)", "Accept": "application/json",
        ]
        let body = Array((parts.joined() + end).utf8)
        return Answer(await answer(try request("/upload", body, method: .POST, fields)))
    }

    static func field(_ name: String, _ value: String) -> String {
        "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
    }

    static func file(_ name: String, _ content: String, field: String = "files[]") -> String {
        "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(field)\"; filename=\"\(name)\"\r\n"
            + "Content-Type: text/plain\r\n\r\n\(content)\r\n"
    }

    /// Everything in the folder by its path, hidden or not: files with their content, folders with a slash.
    ///
    /// A file that is removed while this looks is not in it.
    func tree() throws -> [String: String] { try Self.tree(of: files, root) }

    static func tree(of files: any FileOperations, _ folder: FilePath, _ way: String = "") throws -> [String: String] {
        var found: [String: String] = [:]
        for name in try files.list(folder) {
            let path = folder.appending(name)
            switch try files.status(of: path)?.kind {
            case .directory?:
                found["\(way)\(name)/"] = ""
                found.merge(try tree(of: files, path, "\(way)\(name)/")) { $1 }
            case .file?:
                do {
                    found["\(way)\(name)"] = String(decoding: try files.read(path, limit: 1_000_000), as: UTF8.self)
                } catch let error {
                    guard try files.status(of: path) == nil else { throw error }
                }
            default: found["\(way)\(name)"] = "?"
            }
        }
        return found
    }
}

extension UploadWorld.Answer {
    init(_ answer: FileAnswer) {
        switch answer {
        case .bytes(let bytes):
            self.init(status: bytes.status.code, body: String(decoding: bytes.bytes, as: UTF8.self))
        case .file(let file): self.init(status: 200, body: file.path.string)
        default: self.init(status: 0, body: "\(answer)")
        }
    }
}
