import Gateways
import PatchCompression
import PatchFormat
import Testing

@Suite("A hostile zip archive")
struct HostileArchiveTests {
    /// What is wrong with it, and the error.
    enum Case: String, CaseIterable, Sendable {
        case encrypted, streamed, otherFlags, bzip2, symbolicLink, device
        case absolute, parent, backslash, control, notUTF8, unmarkedUTF8, doubled
        case otherName, otherSize, otherChecksum, otherMethod, storedSizes, checksum
        case longerThanAnnounced, shorterThanAnnounced, damaged, cutStream, bytesInStream
        case announcedBomb, folderWithContent, zip64Extra, unicodePath
        case byteBehind, comment, commentThatLies, before, beforeWithOffsets, gap, overlapping, outside
        case zip64, split, otherCount, moreThanListed, nothing

        // One line a case: what is done, and what comes of it.
        func forge(_ it: inout ForgedArchive) {
            switch self {
            case .encrypted: it.set(.flags, of: 0, to: 1)
            case .streamed: it.set(.flags, of: 0, to: 8)
            case .otherFlags: it.set(.flags, of: 0, to: 1 << 13)
            case .bzip2: it.set(.method, of: 1, to: 12)
            case .symbolicLink: it.set(0o120_777 << 16, at: it.listed(0) + 38, size: 4)
            case .device: it.set(0o060_644 << 16, at: it.listed(0) + 38, size: 4)
            case .absolute: it.rename(0, to: Array("/.js".utf8))
            case .parent: it.rename(0, to: Array("../a".utf8))
            case .backslash: it.rename(0, to: Array("a\\js".utf8))
            case .control: it.rename(0, to: Array("\u{1B}.js".utf8))
            case .notUTF8: it.rename(0, to: [0xC3, 0x28, 0x6A, 0x73])
            case .unmarkedUTF8: it.rename(0, to: Array("ü.j".utf8))
            case .doubled: it.rename(1, to: Array("a.js".utf8))
            case .otherName: it.set(0x62, at: it.local(0) + 30, size: 1)
            case .otherSize: it.set(7, at: it.local(0) + 22, size: 4)
            case .otherChecksum: it.set(7, at: it.local(0) + 14, size: 4)
            case .otherMethod: it.set(8, at: it.local(0) + 8, size: 2)
            case .storedSizes: it.set(.size, of: 0, to: 7)
            case .checksum: it.set(.checksum, of: 0, to: 7)
            case .longerThanAnnounced: it.set(.size, of: 1, to: 699)
            case .shorterThanAnnounced: it.set(.size, of: 1, to: 701)
            case .damaged: it.set(0xFF, at: it.local(1) + 34, size: 1)
            case .cutStream, .bytesInStream: resize(&it, by: self == .cutStream ? -1 : 1)
            case .announcedBomb: it.set(.size, of: 1, to: 0xFFFF_FFFE)
            case .folderWithContent:
                it.rename(0, to: Array("dir/".utf8))
                it.set(0, at: it.listed(0) + 38, size: 4)
            case .zip64Extra: addExtra(&it, id: 1)
            case .unicodePath: addExtra(&it, id: 0x7075)
            case .byteBehind: it.insert([0], at: it.bytes.count)
            case .comment:
                it.set(3, at: it.end + 20, size: 2)
                it.insert(Array("abc".utf8), at: it.bytes.count)
            case .commentThatLies: it.set(3, at: it.end + 20, size: 2)
            case .before: it.insert([0, 0, 0, 0], at: 0)
            case .beforeWithOffsets: shift(&it, at: 0, from: 0)
            case .gap: shift(&it, at: it.local(1), from: 1)
            case .overlapping: overlap(&it)
            case .outside: it.set(it.bytes.count, at: it.listed(1) + 42, size: 4)
            case .zip64: it.set(0xFFFF, at: it.end + 10, size: 2)
            case .split: it.set(1, at: it.end + 4, size: 2)
            case .otherCount: setCount(&it, to: 3)
            case .moreThanListed: setCount(&it, to: 1)
            case .nothing: it = ForgedArchive(bytes: [])
            }
        }

        var error: ZipError {
            switch self {
            case .encrypted: .entry("a.js", .encrypted)
            case .streamed: .entry("a.js", .streamed)
            case .otherFlags: .entry("a.js", .flags(1 << 13))
            case .bzip2: .entry("b.js", .method(12))
            case .symbolicLink: .entry("a.js", .symbolicLink)
            case .device: .entry("a.js", .special)
            case .absolute: .entry("1", .name(.absolute))
            case .parent: .entry("1", .name(.dotSegment))
            case .backslash: .entry("1", .name(.backslash))
            case .control: .entry("1", .name(.control))
            case .notUTF8, .unmarkedUTF8: .entry("1", .nameNotUTF8)
            case .doubled: .entry("a.js", .doubled)
            case .otherName: .entry("a.js", .contradicts("name"))
            case .otherSize: .entry("a.js", .contradicts("size"))
            case .otherChecksum: .entry("a.js", .contradicts("checksum"))
            case .otherMethod: .entry("a.js", .contradicts("method"))
            case .storedSizes: .entry("a.js", .length(6, expected: 7))
            case .checksum: .entry("a.js", .checksum)
            case .longerThanAnnounced: .entry("b.js", .compression(.tooLong(.deflate, limit: 699)))
            case .shorterThanAnnounced: .entry("b.js", .length(700, expected: 701))
            case .damaged: .entry("b.js", .compression(.damaged(.deflate, reason: "invalid block type")))
            case .cutStream: .entry("b.js", .compression(.incomplete(.deflate)))
            case .bytesInStream: .entry("b.js", .compression(.damaged(.deflate, reason: "bytes follow its end")))
            case .announcedBomb: .tooLong(limit: 200_000)
            case .folderWithContent: .entry("dir", .folderWithContent)
            case .zip64Extra: .entry("b.js", .extra(1))
            case .unicodePath: .entry("b.js", .extra(0x7075))
            case .byteBehind: .bytesBehind(1)
            case .comment: .bytesBehind(3)
            case .commentThatLies: .list("ends before its comment does")
            case .before: .list("does not end where the end record begins")
            case .beforeWithOffsets: .misplaced(at: 4)
            case .gap: .misplaced(at: 44)
            case .overlapping: .misplaced(at: 40)
            case .outside: .entry("b.js", .contradicts("place"))
            case .zip64: .zip64
            case .split: .split
            case .otherCount: .list("is truncated at entry 3")
            case .moreThanListed: .list("holds more than its entries")
            case .nothing: .noEnd
            }
        }

        /// One byte less, or one more, of the second entry's content.
        private func resize(_ it: inout ForgedArchive, by count: Int) {
            it.set(.packedSize, of: 1, to: it.value(.packedSize, of: 1) + count)
            let last = it.listed(0) - 1
            if count < 0 { it.cut(at: last) } else { it.insert([0], at: last + 1) }
            it.set(it.number(at: it.end + 16, size: 4) + count, at: it.end + 16, size: 4)
        }

        /// Four bytes more at a place; offsets of the list, and of entries from one on, know of it.
        private func shift(_ it: inout ForgedArchive, at place: Int, from first: Int) {
            it.insert([0, 0, 0, 0], at: place)
            for entry in first...1 {
                let field = it.listed(entry) + 42
                it.set(it.number(at: field, size: 4) + 4, at: field, size: 4)
            }
            it.set(it.number(at: it.end + 16, size: 4) + 4, at: it.end + 16, size: 4)
        }

        /// The first entry's content holds the second entry.
        private func overlap(_ it: inout ForgedArchive) {
            let size = it.listed(0) - it.local(0) - 34
            it.set(.packedSize, of: 0, to: size)
            it.set(.size, of: 0, to: size)
        }

        private func addExtra(_ it: inout ForgedArchive, id: Int) {
            it.set(4, at: it.listed(1) + 30, size: 2)
            it.insert([UInt8(id & 0xFF), UInt8(id >> 8), 0, 0], at: it.listed(1) + 50)
            it.set(it.number(at: it.end + 12, size: 4) + 4, at: it.end + 12, size: 4)
        }

        private func setCount(_ it: inout ForgedArchive, to count: Int) {
            for field in [8, 10] { it.set(count, at: it.end + field, size: 2) }
        }
    }

    @Test(arguments: Case.allCases)
    func `is refused by the rule that it breaks`(_ wrong: Case) throws {
        var archive = try ForgedArchive()
        _ = try ZipArchive(reading: archive.bytes, within: .tests)
        wrong.forge(&archive)
        #expect(throws: wrong.error) { try ZipArchive(reading: archive.bytes, within: .tests) }
    }

    @Test func `is refused where it is over a bound, before it is unpacked`() throws {
        let bytes = try ForgedArchive().bytes
        func refusal(_ archive: Int, _ contents: Int, _ entries: Int) -> ZipError? {
            do throws(ZipError) {
                _ = try ZipArchive(
                    reading: bytes,
                    within: .init(archive: archive, contents: contents, entries: entries)
                )
                return nil
            } catch { return error }
        }
        #expect(refusal(bytes.count, 706, 2) == nil)
        #expect(refusal(bytes.count - 1, 706, 2) == .tooLarge(limit: bytes.count - 1))
        #expect(refusal(bytes.count, 705, 2) == .tooLong(limit: 705))
        #expect(refusal(bytes.count, 706, 1) == .tooMany(2, limit: 1))
    }

    /// A megabyte of zeros in a thousand bytes, which says that it is a hundred.
    @Test func `gives out no more than it announces`() throws {
        let zeros = [UInt8](repeating: 0, count: 1_000_000)
        var archive = try ForgedArchive(bytes: ZipArchive([.init(try AssetPath("a.js"), zeros)]).bytes())
        archive.set(.size, of: 0, to: 100)
        #expect(throws: ZipError.entry("a.js", .compression(.tooLong(.deflate, limit: 100)))) {
            try ZipArchive(reading: archive.bytes, within: .tests)
        }
    }

    @Test func `that ends early is refused wherever it ends`() throws {
        let bytes = try ForgedArchive().bytes
        for count in 0..<bytes.count {
            #expect(throws: ZipError.noEnd) { try ZipArchive(reading: Array(bytes.prefix(count)), within: .tests) }
        }
    }

    @Test func `with one bit flipped is refused or says what it said`() throws {
        let good = try ForgedArchive()
        let files = try ZipArchive(reading: good.bytes, within: .tests)
        var (taken, wrong) = (0, [Int]())
        for bit in 0..<(8 * good.bytes.count) {
            var bytes = good.bytes
            bytes[bit / 8] ^= 1 << (bit % 8)
            guard let read = try? ZipArchive(reading: bytes, within: .tests) else { continue }
            if read != files { wrong.append(bit) }
            taken += 1
        }
        #expect(wrong == [])
        // Times, versions and permissions, in two records of two entries each.
        #expect(taken < 8 * 64, "\(taken)")
    }
}
