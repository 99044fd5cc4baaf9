import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchTesting
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
    private func transfers(_ sizes: [Int], missing: [Int]? = nil, begun: [Int] = [], packs: Bool = true) -> [String] {
        let requests = MissingObjects([task(sizes, missing: missing ?? Array(sizes.indices))])
        let parts = Set(begun.map { fingerprint($0, sizes[$0]).sha256 })
        var queue = TransferQueue(requests, begun: parts)
        var transfers: [String] = []
        while let next = queue.next(packs: packs) { transfers.append(next.words) }
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

    private let small = Array(repeating: 100, count: 20)

    @Test func `is a run where neighbours are missing`() {
        #expect(transfers(small) == ["0..<20"])
    }

    @Test func `is single objects where no server has packs`() {
        #expect(transfers(small, packs: false) == (0..<20).map(String.init))
    }

    @Test func `breaks a run at what is here`() {
        let missing = Array(0..<9) + Array(10..<20)
        #expect(transfers(small, missing: missing) == ["0..<9", "9..<19"])
    }

    @Test func `asks for fewer than eight neighbours one by one`() {
        let missing = Array(0..<7) + Array(8..<16)
        #expect(transfers(small, missing: missing) == (0..<7).map(String.init) + ["7..<15"])
    }

    @Test func `breaks a run at an object that came in part, and at one without bytes`() {
        #expect(transfers(small, begun: [9]) == ["0..<9", "9", "10..<20"])
        var sizes = small
        sizes[8] = 0
        #expect(transfers(sizes) == ["0..<8", "8", "9..<20"])
    }

    @Test func `bounds a run by a thousand objects`() {
        #expect(transfers(Array(repeating: 10, count: 2_500)) == ["0..<1000", "1000..<2000", "2000..<2500"])
    }

    @Test func `bounds a run by eight mebibytes, and leaves what is larger to itself`() {
        #expect(transfers(Array(repeating: 1 << 20, count: 20)) == ["0..<8", "8..<16", "16", "17", "18", "19"])
        let sizes = Array(repeating: 10, count: 8) + [9 << 20] + Array(repeating: 10, count: 8)
        #expect(transfers(sizes) == ["0..<8", "8", "9..<17"])
    }

    @Test func `asks for the first that did not come by itself, then for the others`() {
        var queue = TransferQueue(MissingObjects([task(small, missing: Array(0..<20))]), begun: [])
        #expect(queue.next(packs: true) == .run(0..<20))
        queue.putBack(5..<20)
        #expect(queue.next(packs: true) == .object(5))
        #expect(queue.next(packs: true) == .run(6..<20))
        queue.putBack(19..<20)
        #expect(queue.next(packs: true) == .object(19))
        #expect(queue.next(packs: true) == nil)
    }

    @Test func `says where a run stands in the pack of the whole bundle`() {
        let sizes = (0..<20).map { 10 + $0 }
        let requests = MissingObjects([task(sizes, missing: Array(4..<20))])
        let run = requests.run(2..<10)
        // Rows 6 to 13.
        #expect(run.bytes == sizes[..<6].reduce(0, +)..<sizes[..<14].reduce(0, +))
        #expect(run.requests.map(\.expected.sha256) == (6..<14).map { fingerprint($0, 0).sha256 })
        #expect(run.path == URLLayout.fullPack(of: installed("web 1").fingerprint.sha256))
    }
}

extension TransferQueue.Transfer {
    fileprivate var words: String {
        switch self {
        case .object(let position): "\(position)"
        case .run(let positions): "\(positions)"
        }
    }
}
