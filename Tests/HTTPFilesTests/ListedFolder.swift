import Foundation
import HTTPCore
import HTTPFiles
import NIOHTTP1
import SystemPackage

/// A folder's files, and a list of names for each folder in it, as GCDWebServer's own handler shows them.
struct ListedFolder: FileSource {
    private struct Name {
        let text: String
        let isFolder: Bool
    }

    private let files: FolderFiles

    init(root: FilePath) {
        files = FolderFiles(root: root)
    }

    func decide(_ request: FileRequest) -> FileDecision { .later(.whole, answer) }

    private func answer(_ request: FileRequest) -> FileAnswer {
        if let found = try? files.lookUp(request.path) { return .file(ServedFile(found, sendsModified: true)) }
        guard let names = names(at: request.path) else { return .notFound }
        return .bytes(ServedBytes(bytes: Array(Self.page(names).utf8), contentType: "text/html; charset=utf-8"))
    }

    /// Without dot-files, as people order names: case aside, numbers by their value; nil where there is no folder.
    private func names(at path: RequestPath) -> [Name]? {
        let folder = files.root.string + path.text
        guard !path.segments.contains(where: { $0.hasPrefix(".") }),
            let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
        else { return nil }
        return names.filter { !$0.hasPrefix(".") }
            .sorted { $0.compare($1, options: [.caseInsensitive, .numeric]) == .orderedAscending }
            .map { name in
                let facts = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
                let isFolder = facts?[.type] as? FileAttributeType == .typeDirectory
                return Name(text: name, isFolder: isFolder)
            }
    }

    private static func page(_ names: [Name]) -> String {
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
