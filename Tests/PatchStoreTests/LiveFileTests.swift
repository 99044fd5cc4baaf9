import PatchStore
import SystemPackage
import Testing

@Suite("A live file")
struct LiveFileTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestDisk.real.open()
    }

    private var place: FilePath { folder("serving") }

    private func contents() throws -> [String] {
        try LiveFile.contents(of: place, limit: 100).map { String(decoding: $0, as: UTF8.self) }.sorted()
    }

    @Test func `is read for as long as its owner has it, and gone then`() throws {
        #expect(try contents() == [])
        var one: LiveFile? = try LiveFile(holding: Array("one".utf8), in: place)
        let two = try LiveFile(holding: Array("two".utf8), in: place)
        // Asked twice: who looks must not take it for dead, nor take its lock.
        #expect(try contents() == ["one", "two"])
        #expect(try contents() == ["one", "two"])
        withExtendedLifetime(one) {}
        one = nil
        #expect(try contents() == ["two"])
        #expect(try folder.files.list(place).count == 1)
        withExtendedLifetime(two) {}
    }

    @Test func `counts no more when its process is gone, and is removed by the next who looks`() throws {
        try folder.files.makeDirectory(place, permissions: .privateDirectory)
        try folder.files.write(Array("left behind".utf8), to: place.appending("1-2"), permissions: .privateFile)
        #expect(try contents() == [])
        #expect(try folder.files.list(place) == [])
    }
}
