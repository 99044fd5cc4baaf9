import HTTPCore
import Linux
package import HTTPFiles
import NIOCore
import NIOHTTP1
import PatchFormat
package import PatchStore
package import SystemPackage

/// The API of GCDWebUploader for a folder: `list`, `download`, `upload`, `move`, `create` and `delete`.
///
/// The server that contains it decides which clients may call it.
package struct Uploader: RequestDelegate {
    package let acceptsBodies = true
    private let folder: ContentFolder
    private let files: any FileOperations
    private let downloads: FolderFiles
    private let prefix: [String]
    private let limits: UploaderLimits
    private let report: @Sendable (String) -> Void

    /// - Parameters:
    ///   - root: An absolute path of an existing folder that is not a link.
    ///   - prefix: The names before those of the calls.
    ///   - report: Called with one line about an error of the disk. The client does not receive the details.
    package init(
        _ root: FilePath,
        files: any FileOperations,
        below prefix: [String],
        limits: UploaderLimits = UploaderLimits(),
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        folder = ContentFolder(root, files: files, limits: limits)
        self.files = files
        downloads = FolderFiles(root: root)
        self.prefix = prefix
        self.limits = limits
        self.report = report
    }

    package func takes(_ request: FileRequest) -> Bool { request.path.segments.starts(with: prefix) }

    /// Removes incomplete uploads of an earlier process.
    package func tidy() async {
        do throws(UploaderError) { try await folder.tidy() } catch { reportDiskError(error) }
    }

    package func decide(_ request: FileRequest) -> FileDecision {
        do throws(UploaderError) {
            switch try UploaderCall(request, below: prefix) {
            case .list(let path):
                return later(.whole) { _ throws(UploaderError) in
                    Self.json(try await folder.listing(of: path).json)
                }
            case .download(let path):
                return later(.whole) { _ throws(UploaderError) in try await download(path) }
            case .change(let kind):
                return later(.whole) { request throws(UploaderError) in
                    try await folder.carryOut(try FolderChange(kind, form: request.body))
                    return Self.json(Self.done)
                }
            case .upload(let boundary, let answersJSON):
                return later(.keptStream) { request throws(UploaderError) in
                    try await receive(request, boundary)
                    return Self.json(Self.done, as: answersJSON ? Self.jsonType : "text/plain; charset=utf-8")
                }
            }
        } catch { return .now(PreparedReply(error.answer)) }
    }

    private func later(
        _ intake: BodyIntake,
        _ work: @escaping @Sendable (FileRequest) async throws(UploaderError) -> FileAnswer
    ) -> FileDecision {
        .later(intake) { request in
            do throws(UploaderError) { return try await work(request) } catch {
                reportDiskError(error)
                return error.answer
            }
        }
    }

    private func reportDiskError(_ error: UploaderError) {
        if case .disk(let error) = error { report("uploads: \(error)") }
    }

    // MARK: Answers

    private static let done = Array("{}".utf8)
    private static let jsonType = "application/json"

    private static func json(_ bytes: [UInt8], as type: String = jsonType) -> FileAnswer {
        .bytes(ServedBytes(bytes: bytes, contentType: type))
    }

    private func download(_ path: ItemPath) async throws(UploaderError) -> FileAnswer {
        try await folder.checkFile(at: path)
        // Looked up again, name by name, so that a link that was created meanwhile is not followed.
        let encoded = path.names.map { "/\(URLLayout.percentEncoded($0.text))" }.joined()
        guard let name = path.names.last, let request = try? RequestPath(parsing: encoded) else {
            throw .notFound(path)
        }
        let found: FolderFiles.Found?
        do throws(FolderFilesError) { found = try downloads.lookUp(request) } catch {
            throw .disk(FileError(error.reason, .read, error.path))
        }
        guard let found else { throw .notFound(path) }
        return .file(
            ServedFile(found, headers: ["Content-Disposition": Self.disposition(name)], sendsModified: true)
        )
    }

    /// Returns a value that makes clients save the file under this name (RFC 6266 §4.3).
    ///
    /// Old clients read only its ASCII part.
    private static func disposition(_ name: ItemName) -> String {
        let plain = String(
            name.text.map { character in
                guard let ascii = character.asciiValue, character != "\"" else { return "_" as Character }
                return Character(Unicode.Scalar(ascii))
            }
        )
        return "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(URLLayout.percentEncoded(name.text))"
    }

    // MARK: Uploads

    private func receive(_ request: FileRequest, _ boundary: MultipartBoundary) async throws(UploaderError) {
        var arrival = Arrival(limits)
        var upload: (path: FilePath, writer: any FileWriter)?
        do throws(UploaderError) {
            try arrival.expect(request.stream?.length ?? request.body.count)
            var body = UploadBody(request)
            var form = MultipartForm(boundary)
            var parts = UploadForm()
            while let piece = try await body.next() {
                try arrival.take(piece.count)
                let events: [MultipartForm.Event]
                do throws(MultipartFault) { events = try form.take(piece) } catch { throw .multipart(error) }
                for event in events {
                    switch try parts.take(event) {
                    case .nothing: continue
                    case .begin: upload = try await begin()
                    case .append(let bytes):
                        try arrival.takeFile(bytes.count)
                        try onDisk { () throws(FileError) in try upload?.writer.append(bytes) }
                    }
                }
            }
            guard form.isOver else { throw .cutOff }
            let place = try parts.place()
            guard let upload else { throw .missing(UploadForm.fileField) }
            try onDisk { () throws(FileError) in try upload.writer.finish() }
            try await folder.keep(upload.path, as: place.name, in: place.folder)
        } catch {
            if let path = upload?.path { try? files.remove(path) }
            throw error
        }
    }

    private func begin() async throws(UploaderError) -> (path: FilePath, writer: any FileWriter) {
        while true {
            let path = try await folder.nextHidden()
            do throws(FileError) { return (path, try files.create(path, permissions: .sharedFile)) } catch {
                // Another process writes uploads into the same folder.
                if case .exists = error { continue }
                throw .disk(error)
            }
        }
    }

    private func onDisk(_ work: () throws(FileError) -> Void) throws(UploaderError) {
        do throws(FileError) { try work() } catch { throw .disk(error) }
    }
}
