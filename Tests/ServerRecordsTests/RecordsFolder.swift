import Foundation
import NIOConcurrencyHelpers
import PatchFormat
@testable import ServerRecords
import SystemPackage

/// Records in a folder of their own on the real disk, with a clock that a test turns.
final class RecordsFolder: Sendable {
    let path: FilePath
    private let time = NIOLockedValueBox(UTCTime(seconds: 1_795_000_000))

    init() throws {
        path = FilePath(NSTemporaryDirectory()).appending("records-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path.string)
    }

    var file: FilePath { path.appending("records.sqlite") }
    var now: UTCTime { time.withLockedValue { $0 } }

    func pass(_ duration: Duration) {
        time.withLockedValue { $0 = $0.adding(duration) }
    }

    /// Somebody with the file and SQLite's own command line.
    func tamper(_ sql: String) throws {
        try SQLiteConnection(file.string, patience: 10).execute(sql)
    }

    func store() throws -> SQLiteRecords { try SQLiteRecords(file) }

    func records() throws -> ServerRecords {
        ServerRecords(try store(), now: { [time] in time.withLockedValue { $0 } })
    }
}

extension JSON {
    var text: String { String(decoding: fileBytes, as: UTF8.self) }
}
