import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

/// What is asked for next, as a table.
@Suite("The queue of a download")
struct TransferQueueTests {
    /// - Parameters:
    ///   - sizes: of the assets of a bundle, in bytes.
    ///   - missing: the rows that have to come; nil for all.
    ///   - begun: the rows of which something is here.
    ///   - facts: what an earlier request for the pack showed.
    private func transfers(
        _ sizes: [Int],
        missing: [Int]? = nil,
        begun: [Int] = [],
        packs: Bool = true,
        knowing facts: PackFacts? = nil
    ) -> [String] {
        let requests = MissingObjects([task(sizes, missing: missing ?? Array(sizes.indices))])
        let parts = Set(begun.map { fingerprint($0, sizes[$0]).sha256 })
        var queue = TransferQueue(requests, begun: parts)
        var transfers: [String] = []
        while let next = queue.next(packs: { _ in packs }, knowing: { _ in facts }) { transfers.append(next.words) }
        return transfers
    }

    private func fingerprint(_ row: Int, _ size: Int) -> Fingerprint {
        let real = Fingerprint(of: Array("\(row)".utf8))
        return Fingerprint(size: size, md5: real.md5, sha1: real.sha1, sha256: real.sha256)
    }

    private func task(_ sizes: [Int], missing: [Int]) -> PatchDownload {
        let assets = sizes.enumerated().map { row, size in
            Asset(
                path: name(row),
                url: "/\(row)",
                type: .asset,
                cacheable: false,
                sourceMap: nil,
                fingerprint: fingerprint(row, size)
            )
        }
        let manifest = AssetManifest(
            app: DeviceTesting.name("com.example.storefront"),
            patchID: DeviceTesting.name("web"),
            version: DeviceTesting.name("1"),
            commit: nil,
            created: UTCTime(seconds: 0),
            compatibility: [:],
            index: name(0),
            routes: nil,
            assets: assets
        )
        return PatchDownload(
            wanted: SyncPlan.Wanted(patch: installed("web 1"), current: nil),
            content: .bundle(manifest, missing: missing.map { Int32($0) })
        )
    }

    private func name(_ row: Int) -> AssetPath {
        guard let path = try? AssetPath("\(row)") else { preconditionFailure("\(row) is a path") }
        return path
    }

    /// Transfers of these rows, one by one.
    private func single(_ rows: Range<Int>) -> [String] { rows.map { "\($0)" } }

    private let small = Array(repeating: 100, count: 20)

    @Test func `is the whole pack where all is missing`() {
        #expect(transfers(small) == ["pack of 0: 0..<20"])
    }

    @Test func `is single objects where no server has packs`() {
        #expect(transfers(small, packs: false) == single(0..<20))
    }

    @Test func `is the pack too where some is here, and few objects one by one`() {
        let missing = Array(0..<9) + Array(12..<20)
        #expect(transfers(small, missing: missing) == ["pack of 0: 0..<17"])
        #expect(transfers(small, missing: Array(0..<7)) == single(0..<7))
    }

    @Test func `leaves what came in part to itself, and what is begun counts for no pack`() {
        #expect(transfers(small, begun: [9]) == ["pack of 0: \((0..<20).filter { $0 != 9 })", "9"])
        #expect(transfers(small, begun: Array(3..<16)) == single(0..<3) + single(16..<20) + single(3..<16))
    }

    @Test func `takes an object without bytes from the pack`() {
        var sizes = small
        sizes[8] = 0
        #expect(transfers(sizes) == ["pack of 0: 0..<20"])
        #expect(transfers(Array(repeating: 0, count: 20)) == single(0..<20))
    }

    @Test func `is the parts of the plain pack that are missing where the whole one would come again`() {
        let sizes = [1_000_000] + small + [1_000_000] + small
        let plain = PackFacts(coding: nil, length: nil, validator: nil)
        let missing = Array(1...20) + Array(22...41)
        let parts = ["pack of 0: 0..<20, bytes 1000000..<1002000", "pack of 0: 20..<40, bytes 2002000..<2004000"]
        #expect(transfers(sizes, missing: missing, knowing: plain) == parts)
        // Also where nothing is known: all of it would be 500 kB.
        #expect(transfers(sizes, missing: missing) == parts)
    }

    @Test func `of a part that holds one object is that object`() {
        let sizes = [1_000_000] + small + [1_000_000, 100]
        #expect(
            transfers(sizes, missing: Array(1...20) + [22])
                == ["pack of 0: 0..<20, bytes 1000000..<1002000", "20"]
        )
    }

    @Test func `judges each patch by itself, and a script has no pack`() {
        let first = task(small, missing: Array(0..<20))
        let second = task(small + [1, 2, 3, 4, 5], missing: Array(15..<25))
        let script = PatchDownload(
            wanted: SyncPlan.Wanted(patch: installed("fix 1"), current: nil),
            content: .script(isMissing: true)
        )
        // What the first one lacks too comes once.
        var queue = TransferQueue(MissingObjects([first, script, second]), begun: [])
        var transfers: [String] = []
        while let next = queue.next(packs: { _ in true }) { transfers.append(next.words) }
        #expect(transfers == ["pack of 0: 0..<20"] + single(20..<26))
    }

    @Test func `asks by itself for what was wrong, and for the others as it is chosen then`() {
        let requests = MissingObjects([task(small, missing: Array(0..<20))])
        var queue = TransferQueue(requests, begun: [])
        let all = Array(0..<20)
        #expect(queue.next(packs: { _ in true }) == .pack(bundle: 0, positions: all, range: nil))
        queue.requeue(Array(5..<20), of: 0, alone: [5, 11])
        #expect(queue.next(packs: { _ in true }) == .object(5))
        #expect(queue.next(packs: { _ in true }) == .object(11))
        let rest = (6..<20).filter { $0 != 11 }
        #expect(queue.next(packs: { _ in true }) == .pack(bundle: 0, positions: rest, range: nil))
        queue.requeue(Array(17..<20), of: 0, alone: [])
        #expect((17..<20).map { _ in queue.next(packs: { _ in true }) } == (17..<20).map { .object($0) })
        #expect(queue.next(packs: { _ in true }) == nil)
    }

    @Test func `says which rows of the whole bundle's pack are wanted`() {
        let sizes = (0..<20).map { 10 + $0 }
        let requests = MissingObjects([task(sizes, missing: Array(4..<20))])
        let pack = requests.pack(of: 0, for: [9, 2, 3], range: nil)
        #expect(pack.wanted == [.init(row: 6, position: 2), .init(row: 7, position: 3), .init(row: 13, position: 9)])
        #expect(pack.size == sizes.reduce(0, +))
        #expect(pack.path == URLLayout.fullPack(of: installed("web 1").fingerprint.sha256))
    }
}

extension TransferQueue.Transfer {
    fileprivate var words: String {
        switch self {
        case .object(let position): "\(position)"
        case .pack(let bundle, let positions, let range):
            (positions == Array(positions[0]..<positions[0] + positions.count)
                ? "pack of \(bundle): \(positions[0]..<positions[0] + positions.count)"
                : "pack of \(bundle): \(positions)") + (range.map { ", bytes \($0)" } ?? "")
        }
    }
}
