package import HTTPFiles
import NIOHTTP1
import PatchFormat
import PatchStore

extension UploaderError {
    package var answer: FileAnswer {
        var headers: HTTPHeaders = [:]
        if case .wrongMethod(let allow) = self { headers.add(name: "Allow", value: allow) }
        return .bytes(
            ServedBytes(
                status: status,
                bytes: JSON.fields([("error", .text(words))]).fileBytes,
                contentType: "application/json",
                headers: headers
            )
        )
    }

    private var status: HTTPResponseStatus {
        switch self {
        case .noSuchCall, .notFound: .notFound
        case .wrongMethod: .methodNotAllowed
        case .missing, .doubled, .form, .multipart, .notFolder, .isFolder, .intoItself, .cutOff: .badRequest
        case .wrongType: .unsupportedMediaType
        case .badPath(.hidden), .isRoot: .forbidden
        case .badPath: .badRequest
        case .taken: .conflict
        case .tooLarge: .payloadTooLarge
        case .disk(.noSpace): .insufficientStorage
        case .tooManyEntries, .disk: .internalServerError
        }
    }

    /// The text for the client.
    ///
    /// It omits the folder's path on the disk, which is private.
    private var words: String {
        switch self {
        case .noSuchCall: "the calls are list, download, upload, move, create and delete"
        case .wrongMethod(let allow): "only \(allow)"
        case .missing(let field): "\(field) is missing"
        case .doubled(let field): "there is more than one \(field)"
        case .form(let fault): fault.words
        case .wrongType(let wanted): "the body must be \(wanted)"
        case .multipart(let fault): fault.words
        case .badPath(let fault): fault.words
        case .isRoot: "the folder itself cannot be changed"
        case .notFound(let path): "\"\(path.text)\" does not exist"
        case .notFolder(let path): "\"\(path.text)\" is not a folder"
        case .isFolder(let path): "\"\(path.text)\" is a folder"
        case .intoItself(let path): "\"\(path.text)\" cannot be moved into itself"
        case .taken(let name): "too many items have the name \"\(name.text)\""
        case .tooManyEntries(let path, let limit):
            "\"\(path.text)\" has more than \(limit) entries, so it is not listed"
        case .tooLarge(let limit): "the file is larger than \(limit) bytes"
        case .cutOff: "the upload is incomplete"
        case .disk(.noSpace): "the disk is full"
        case .disk: "the disk failed"
        }
    }
}

extension FormFault {
    fileprivate var words: String {
        switch self {
        case .badEscape: "a % in the form is not followed by two hexadecimal digits"
        case .notUTF8: "the form is not UTF-8"
        case .tooManyFields: "the form has too many fields"
        }
    }
}

extension MultipartFault {
    fileprivate var words: String {
        switch self {
        case .noBoundary: "the body's Content-Type has no boundary"
        case .noDelimiter: "the form does not begin with its boundary"
        case .badDelimiter: "a boundary is followed by other text on its line"
        case .longHead: "the fields of a part are too long"
        case .badHead: "a part of the form has no valid Content-Disposition"
        case .tooManyParts: "the form has too many parts"
        case .longField: "a field of the form is too long"
        case .notUTF8: "the form is not UTF-8"
        }
    }
}

extension ItemFault {
    fileprivate var words: String {
        switch self {
        case .dots: "a path may not have the names . and .."
        case .hidden(let name): "the name \"\(name)\" is not allowed"
        case .controlCharacter: "a name may not have control characters"
        case .backslash: "a name may not have a backslash"
        case .notOneName: "a file must have one name"
        case .longName: "a name is longer than \(ItemName.limit) bytes"
        case .longPath: "a path is longer than \(ItemPath.limit) bytes"
        }
    }
}
