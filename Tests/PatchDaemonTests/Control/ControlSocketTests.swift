import Glibc
import NIOConcurrencyHelpers
import PatchStore
import SystemPackage
import Testing

@testable import PatchDaemon

@Suite("The name of the local socket")
struct ControlSocketTests {
    private func inFolder(_ body: (FilePath) throws -> Void) throws {
        let root = FilePath("/tmp/control-socket-\(UInt64.random(in: 0...UInt64.max))")
        try DiskFiles().makeDirectory(root)
        defer { try? DiskFiles().removeTree(root) }
        try body(root)
    }

    private func mode(_ path: FilePath) -> mode_t {
        var found = stat()
        guard unsafe lstat(path.string, &found) == 0 else { return 0 }
        return found.st_mode
    }

    private func made(_ path: FilePath) -> ControlError? {
        do throws(ControlError) {
            let socket = try ControlSocket(path)
            close(socket.descriptor)
            return nil
        } catch { return error }
    }

    @Test func `is made in a folder that its group may enter, and goes with the process`() throws {
        try inFolder { root in
            let path = root.appending("run/patchline/control.sock")
            do {
                let socket = try ControlSocket(path)
                #expect(mode(path) & 0o7777 == 0o660 && mode(path) & S_IFMT == S_IFSOCK)
                #expect(mode(path.removingLastComponent()) & 0o7777 == 0o750)
                #expect(made(path) == .answered(path), "somebody listens there")
                close(socket.descriptor)
            }
            #expect(mode(path) == 0)
            #expect(try DiskFiles().list(path.removingLastComponent()) == [])
        }
    }

    @Test func `is taken over where nobody answers, and left where another has it by then`() throws {
        try inFolder { root in
            let path = root.appending("control.sock")
            let first = try ControlSocket(path)
            close(first.descriptor)
            // As a killed process leaves it.
            let second = try ControlSocket(path)
            withExtendedLifetime(first) {}
            _ = consume first
            #expect(mode(path) & S_IFMT == S_IFSOCK, "it is the second one's")
            close(second.descriptor)
        }
    }

    @Test func `is no file, folder or link that stands there, and follows none`() throws {
        try inFolder { root in
            let (file, folder, link) = (root.appending("file"), root.appending("folder"), root.appending("link"))
            try DiskFiles().write([1], to: file)
            try DiskFiles().makeDirectory(folder)
            let isLinked = unsafe symlink("\(root.string)/elsewhere.sock", link.string) == 0
            #expect(isLinked)
            for path in [file, folder, link] {
                let before = mode(path)
                #expect(made(path) == .notASocket(path))
                #expect(mode(path) == before)
            }
            #expect(mode(root.appending("elsewhere.sock")) == 0)
            let long = root.appending(String(repeating: "s", count: 100))
            #expect(made(long) == .pathTooLong(long, limit: 103))
            #expect(made(file.appending("control.sock")) == .file(.notDirectory(.makeDirectory, file)))
        }
    }
}
