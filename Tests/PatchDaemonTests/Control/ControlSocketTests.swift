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
                defer { withExtendedLifetime(socket) {} }
                #expect(mode(path) & 0o7777 == 0o660 && mode(path) & S_IFMT == S_IFSOCK)
                #expect(mode(path.removingLastComponent()) & 0o7777 == 0o750)
                #expect(made(path) == .answered(path), "somebody listens there")
                close(socket.descriptor)
            }
            #expect(mode(path) == 0)
            #expect(try DiskFiles().list(path.removingLastComponent()) == ["control.sock.lock"])
        }
    }

    @Test func `is made behind a link of its folder, and a later link does not move it`() throws {
        try inFolder { root in
            let (real, link) = (root.appending("data"), root.appending("run"))
            try DiskFiles().makeDirectory(real)
            try #require(unsafe symlink("data", link.string) == 0)
            let socket = try ControlSocket(link.appending("control.sock"))
            defer { close(socket.descriptor) }
            #expect(socket.path == real.appending("control.sock") && mode(socket.path) & S_IFMT == S_IFSOCK)
            #expect(made(real.appending("control.sock")) == .answered(real.appending("control.sock")))
            try #require(unsafe unlink(link.string) == 0)
            #expect(socket.exists)
        }
    }

    @Test func `is taken over where nobody answers, and left where another has it by then`() throws {
        try inFolder { root in
            let path = root.appending("control.sock")
            var first: ControlSocket? = try ControlSocket(path)
            if let first { close(first.descriptor) }
            // As a killed process leaves it.
            let second = try ControlSocket(path)
            #expect(first?.exists == false)
            first = nil
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
            #expect(made(long) == .pathTooLong(long, limit: 107))
            #expect(made(file.appending("control.sock")) == .file(.notDirectory(.makeDirectory, file)))
        }
    }

    /// systemd-tmpfiles looks names up there, and removes a socket that has another one as dead.
    @Test func `has the name in the kernel's table that it has in its folder`() throws {
        try inFolder { root in
            let path = root.appending("control.sock")
            let socket = try ControlSocket(path)
            let table = try run(["cat", "/proc/net/unix"])
            #expect(table.split(separator: "\n").contains { $0.hasSuffix(" \(path)") })
            close(socket.descriptor)
        }
    }

    @Test func `is made beside a lock on its folder, and waits for none on its own lock file`() throws {
        try inFolder { root in
            let path = root.appending("control.sock")
            let lock = FilePath("\(path).lock")
            // As every user may who reads the folder.
            let folder = unsafe open(root.string, O_RDONLY | O_DIRECTORY)
            defer { close(folder) }
            try #require(flock(folder, LOCK_EX | LOCK_NB) == 0)
            #expect(made(path) == nil)
            #expect(mode(lock) & 0o7777 == 0o600)
            let file = unsafe open(lock.string, O_RDWR)
            try #require(flock(file, LOCK_EX | LOCK_NB) == 0)
            #expect(made(path) == .locked(lock))
            #expect(mode(path) == 0, "nothing was made")
            close(file)
            #expect(made(path) == nil)
            // What has the lock file's name and is no file of this user's keeps the socket away, and is not followed.
            try DiskFiles().remove(lock)
            try #require(unsafe symlink("\(root)/elsewhere", lock.string) == 0)
            #expect(made(path) == .cannotListen(lock, .tooManySymbolicLinkLevels))
            #expect(mode(root.appending("elsewhere")) == 0)
        }
    }

    @Test func `tells a failure once, and waits silently for the moment in which another process makes it`() {
        var tries = SocketTries()
        let locked = ControlError.locked("/run/s.lock")
        for _ in 1...SocketTries.silentTries {
            #expect(tries.failed(locked) == SocketTries.Next(pause: .milliseconds(200), isReported: false))
        }
        #expect(tries.failed(locked) == SocketTries.Next(pause: .seconds(60), isReported: true))
        #expect(tries.failed(locked).isReported == false)
        #expect(tries.failed(.answered("/run/s")).isReported)
        var other = SocketTries()
        let pauses = (1...7).map { _ in other.failed(.answered("/run/s")).pause }
        #expect(pauses == [2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
    }

    private func run(_ words: [String]) throws -> String {
        let pipe = unsafe popen(words.joined(separator: " "), "r")
        defer { unsafe pclose(pipe) }
        var (text, piece) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
        while true {
            let count = unsafe fread(&piece, 1, piece.count, pipe)
            if count == 0 { return String(decoding: text, as: UTF8.self) }
            text += piece.prefix(count)
        }
    }
}
