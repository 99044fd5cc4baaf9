import Foundation
import SystemPackage
import CommandKit
import Testing

enum Written {
    /// What is written to a console.
    static func lines(_ body: (Console) throws -> Void) throws -> [String] {
        let path = FilePath("\(FileManager.default.temporaryDirectory.path)/patchline-transcript-\(UUID())")
        let file = try FileDescriptor.open(
            path,
            .readWrite,
            options: [.create, .truncate],
            permissions: .ownerReadWrite
        )
        defer {
            try? FileManager.default.removeItem(atPath: path.string)
            try? file.close()
        }
        try body(Console(descriptor: file.rawValue, isTerminal: false))
        let text = try #require(FileManager.default.contents(atPath: path.string))
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
