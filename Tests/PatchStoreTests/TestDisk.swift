import Foundation
import PatchStore
import PatchTesting
import SystemPackage
import Testing

/// Both disks, for what both must do alike.
enum TestDisk: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case real = "the real disk"
    case fake = "the disk in memory"

    var testDescription: String { rawValue }

    func open() throws -> TestFolder {
        switch self {
        case .real: try TestFolder(files: DiskFiles())
        case .fake: try TestFolder(files: FaultyFiles())
        }
    }
}

/// An empty folder on one of the disks.
struct TestFolder: Sendable {
    /// Removed when the tests are over: a store does not keep the folder alive that it lies in.
    private static let all: FilePath = {
        atexit { try? DiskFiles().removeTree(TestFolder.all) }
        return FilePath("/tmp/patchstore-tests-\(UUID().uuidString)")
    }()

    let files: any FileOperations
    let path: FilePath

    init(files: any FileOperations) throws {
        self.files = files
        path = Self.all.appending(UUID().uuidString)
        try files.makeDirectory(path)
    }

    func callAsFunction(_ name: String) -> FilePath {
        path.appending(FilePath(name).components)
    }

    func makeSymbolicLink(_ name: String, to target: FilePath) throws {
        if let fake = files as? FaultyFiles {
            try fake.makeSymbolicLink(self(name), to: target)
        } else {
            try FileManager.default.createSymbolicLink(
                atPath: self(name).string,
                withDestinationPath: target.string
            )
        }
    }

    /// Writes over a file in place, as another program would.
    func overwrite(_ path: FilePath, with bytes: [UInt8]) throws {
        if let fake = files as? FaultyFiles {
            try fake.overwrite(path, with: bytes)
        } else {
            let handle = try #require(FileHandle(forWritingAtPath: path.string))
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: Data(bytes))
            try handle.close()
        }
    }

    /// Every file and directory below, as paths from here.
    func tree() throws -> [String] {
        try names(below: path, prefix: "")
    }

    private func names(below directory: FilePath, prefix: String) throws -> [String] {
        var names: [String] = []
        for name in try files.list(directory) {
            names.append(prefix + name)
            if try files.status(of: directory.appending(name))?.kind == .directory {
                names += try self.names(below: directory.appending(name), prefix: "\(prefix)\(name)/")
            }
        }
        return names
    }
}
