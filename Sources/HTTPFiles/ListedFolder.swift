import NIOHTTP1
package import SystemPackage

/// A folder's files, and a list of names for each folder in it, as GCDWebServer shows them.
///
/// Names that begin with a dot do not exist. Folders are no secret here: it is for tools and development, not for apps.
package struct ListedFolder: FileSource {
    private let files: FolderFiles

    package init(root: FilePath) {
        files = FolderFiles(root: root)
    }

    package func answer(_ request: FileRequest) async -> FileAnswer {
        do throws(FolderFilesError) {
            if let found = try files.lookUp(request.path) { return .file(ServedFile(found, sendsModified: true)) }
            guard let names = try files.list(request.path) else { return .notFound }
            let page = Self.page(names)
            return .bytes(ServedBytes(bytes: Array(page.utf8), contentType: "text/html; charset=utf-8"))
        } catch {
            return .refused(.internalServerError, message: "The folder cannot be read.", headers: [:])
        }
    }

    static func page(_ names: [FolderFiles.Name]) -> String {
        let rows = names.map { name in
            let text = name.isFolder ? "\(name.text)/" : name.text
            return "<li><a href=\"\(escaped(text))\">\(shown(text))</a></li>\n"
        }
        return """
            <!DOCTYPE html>
            <html><head><meta charset="utf-8"></head><body>
            <ul>
            \(rows.joined())</ul>
            </body></html>

            """
    }

    /// Percent-encoded, but for letters, digits and `-._~/` (RFC 3986 §2.3).
    private static func escaped(_ name: String) -> String {
        name.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: "/"):
                return String(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                return digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }.joined()
    }

    private static func shown(_ name: String) -> String {
        name.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            default: String(character)
            }
        }.joined()
    }
}
