import HTTPCore
import HTTPFiles
import NIOHTTP1

/// A call to the folder's API, parsed from the head of a request.
enum UploaderCall: Equatable, Sendable {
    case list(ItemPath)
    case download(ItemPath)
    /// The body contains the paths.
    case change(FolderChange.Kind)
    /// - answersJSON: Whether the client accepts JSON. Otherwise a browser may display the answer.
    case upload(MultipartBoundary, answersJSON: Bool)

    /// - Parameter prefix: The names before those of the calls.
    init(_ request: FileRequest, below prefix: [String]) throws(UploaderError) {
        let names = request.path.segments
        guard names.count == prefix.count + 1, names.starts(with: prefix), let name = names.last,
            !request.path.hasTrailingSlash
        else { throw .noSuchCall }
        switch name {
        case "list": self = .list(try Self.path(of: request))
        case "download": self = .download(try Self.path(of: request))
        case "upload":
            try Self.check(request, posts: "multipart/form-data")
            let type = request.headers.first(name: "Content-Type") ?? ""
            guard let boundary = MultipartBoundary(contentType: type) else { throw .multipart(.noBoundary) }
            let accepted = request.headers["Accept"].joined(separator: ",").lowercased()
            self = .upload(boundary, answersJSON: accepted.contains("application/json"))
        default:
            guard let kind = FolderChange.Kind(rawValue: name) else { throw .noSuchCall }
            try Self.check(request, posts: "application/x-www-form-urlencoded")
            self = .change(kind)
        }
    }

    private static func path(of request: FileRequest) throws(UploaderError) -> ItemPath {
        guard request.method == .GET || request.method == .HEAD else { throw .wrongMethod(allow: "GET, HEAD") }
        let fields: FormFields
        do throws(FormFault) { fields = try FormFields((request.query ?? "").utf8) } catch { throw .form(error) }
        return try fields.path("path")
    }

    private static func check(_ request: FileRequest, posts type: String) throws(UploaderError) {
        guard request.method == .POST else { throw .wrongMethod(allow: "POST") }
        guard request.headers.mediaType == type else { throw .wrongType(wanted: type) }
    }
}
