/// Reads an upload's form: the path of a folder, and one file.
///
/// The file may precede the path.
struct UploadForm: Sendable {
    /// The action for an event of the form.
    enum Action: Equatable, Sendable {
        case nothing
        /// The file begins.
        case begin
        case append([UInt8])
    }

    private enum Part {
        case path([UInt8])
        case file
        case other
    }

    static let pathField = "path"
    static let fileField = "files[]"

    private var part = Part.other
    private var folder: ItemPath?
    private var name: ItemName?

    mutating func take(_ event: MultipartForm.Event) throws(UploaderError) -> Action {
        switch event {
        case .part(let head): return try begin(head)
        case .content(let bytes):
            switch part {
            case .file: return .append(bytes)
            case .other: return .nothing
            case .path(let start):
                guard start.count + bytes.count <= ItemPath.limit else { throw .multipart(.longField) }
                part = .path(start + bytes)
                return .nothing
            }
        case .partEnd:
            if case .path(let bytes) = part {
                guard let text = String(validating: bytes, as: UTF8.self) else { throw .multipart(.notUTF8) }
                do throws(ItemFault) { folder = try ItemPath(text) } catch { throw .badPath(error) }
            }
            part = .other
            return .nothing
        }
    }

    private mutating func begin(_ head: PartHead) throws(UploaderError) -> Action {
        switch (head.name, head.file) {
        case (Self.fileField, let file?):
            // A second file would be lost silently.
            guard name == nil else { throw .doubled(Self.fileField) }
            do throws(ItemFault) { name = try ItemName(file) } catch { throw .badPath(error) }
            part = .file
            return .begin
        case (Self.pathField, nil):
            guard folder == nil else { throw .doubled(Self.pathField) }
            part = .path([])
        default: part = .other
        }
        return .nothing
    }

    /// Returns the destination of the file, once the form is complete.
    ///
    /// Without a path, it is the folder itself.
    func place() throws(UploaderError) -> (folder: ItemPath, name: ItemName) {
        guard let name else { throw .missing(Self.fileField) }
        return (folder ?? .root, name)
    }
}
