import PatchFormat
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

@Suite("The cuts of a pack")
struct PackCutterTests {
    /// Rows of these sizes, each of its own byte.
    private func cuts(_ sizes: [Int], wanted: [Int], pieces: Int) -> (rows: [Int: [UInt8]], isDone: Bool) {
        let assets = sizes.enumerated().map { row, size in
            let real = Fingerprint(of: [UInt8(row)])
            return Asset(
                path: DeviceSample.path(row),
                url: "/\(row)",
                type: .asset,
                cacheable: false,
                sourceMap: nil,
                fingerprint: Fingerprint(size: size, md5: real.md5, sha1: real.sha1, sha256: real.sha256)
            )
        }
        let pack = WholePack(
            bundle: 0,
            manifest: SHA256Digest(of: []),
            layout: FullPack(assets),
            wanted: wanted.map { .init(row: $0, position: 100 + $0) }
        )
        var cutter = PackCutter(pack)
        var rest = sizes.enumerated().flatMap { [UInt8](repeating: UInt8($0), count: $1) }[...]
        var (rows, whole) = ([Int: [UInt8]](), Set<Int>())
        while !rest.isEmpty {
            for cut in cutter.cut(Array(rest.prefix(pieces))) {
                #expect(!whole.contains(cut.position), "once, and in order")
                rows[cut.position, default: []] += cut.bytes
                if cut.isLast { whole.insert(cut.position) }
            }
            rest = rest.dropFirst(pieces)
        }
        #expect(whole.count == rows.count || !cutter.isDone)
        return (rows, cutter.isDone)
    }

    @Test func `are the bytes of the rows that are wanted, however the pieces fall`() {
        let sizes = [3, 0, 5, 1, 0, 0, 7, 2, 0]
        for wanted in [Array(0..<9), [2], [0, 8], [1, 4, 5], [3, 6, 7], []] {
            let expected = Dictionary(
                uniqueKeysWithValues: wanted.map { (100 + $0, [UInt8](repeating: UInt8($0), count: sizes[$0])) }
            )
            for pieces in 1...20 {
                let (rows, isDone) = cuts(sizes, wanted: wanted, pieces: pieces)
                #expect(rows == expected && isDone, "\(wanted) in pieces of \(pieces)")
            }
        }
    }
}

private enum DeviceSample {
    static func path(_ row: Int) -> AssetPath {
        guard let path = try? AssetPath("\(row)") else { preconditionFailure("\(row) is a path") }
        return path
    }
}
