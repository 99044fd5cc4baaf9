import FoundationEssentials
import PatchFormat
import PatchServer
import PatchStore
import SystemPackage
import Testing

@Suite("A backup's files")
struct BackedUpFileTests {
    /// A backup's folder, gone after the test.
    private final class Backup {
        let path = FilePath(FileManager.default.temporaryDirectory.appending(path: "backup-\(UUID())").path)

        init() throws {
            try write("records", "records.sqlite")
            try write("labels", "apps/a/labels.json")
            try write("draft", "drafts/a/1/role.json")
            try write("signed", "tree/a/metadata/1.root.json")
        }

        deinit { try? FileManager.default.removeItem(atPath: path.string) }

        func write(_ text: String, _ name: String) throws {
            let file = path.appending(name)
            try FileManager.default.createDirectory(
                atPath: file.removingLastComponent().string,
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: URL(filePath: file.string))
        }

        func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path.appending(name).string) }

        func link(_ name: String) throws {
            try remove(name)
            try FileManager.default.createSymbolicLink(
                atPath: path.appending(name).string,
                withDestinationPath: "/dev/null"
            )
        }
    }

    @Test func `are all that no signature covers, and stay as they were described`() throws {
        let backup = try Backup()
        let described = try BackedUpFile.all(in: backup.path, files: DiskFiles())
        #expect(described.map(\.path) == ["apps/a/labels.json", "drafts/a/1/role.json", "records.sqlite"])
        #expect(described.map(\.size) == [6, 5, 7])
        let header = BackupHeader(
            made: UTCTime(seconds: 1_800_000_000),
            apps: [],
            files: described,
            audit: BackupHeader.AuditHead(number: 12, hash: described[0].sha256)
        )
        #expect(try BackupHeader(header.json.fileBytes) == header)
        #expect(try BackedUpFile.fault(in: backup.path, header.files, files: DiskFiles()) == nil)
        let older = BackupHeader(made: UTCTime(seconds: 1_800_000_000), apps: [])
        #expect(try BackupHeader(older.json.fileBytes) == older)
        #expect(try BackedUpFile.fault(in: backup.path, older.files, files: DiskFiles()) == nil)
    }

    private typealias Damage = (
        words: String, isFoundWithoutDigests: Bool, damage: @Sendable (Backup) throws -> Void
    )

    private static let damages: [Damage] = [
        ("records.sqlite has 0 bytes, not 7", false, { try $0.write("", "records.sqlite") }),
        ("records.sqlite is not the file that was backed up", false, { try $0.write("RECORDS", "records.sqlite") }),
        ("records.sqlite is missing", true, { try $0.remove("records.sqlite") }),
        ("records.sqlite is a link, not a file", true, { try $0.link("records.sqlite") }),
        ("apps/a/labels.json is missing", false, { try $0.remove("apps/a/labels.json") }),
        ("apps/a/labels.json is a link, not a file", true, { try $0.link("apps/a/labels.json") }),
        ("apps/a/more.json was not backed up", false, { try $0.write("x", "apps/a/more.json") }),
        ("drafts/a is a link, not a file", true, { try $0.link("drafts/a") }),
    ]

    @Test(arguments: 0..<8)
    func `are missed and found changed by name`(index: Int) throws {
        let (words, isFoundWithoutDigests, damage) = Self.damages[index]
        let backup = try Backup()
        let described = try BackedUpFile.all(in: backup.path, files: DiskFiles())
        try damage(backup)
        let fault = try BackedUpFile.fault(in: backup.path, described, files: DiskFiles())
        #expect(fault?.description == words)
        let older = try BackedUpFile.fault(in: backup.path, nil, files: DiskFiles())
        #expect(older?.description == (isFoundWithoutDigests ? words : nil))
    }
}
