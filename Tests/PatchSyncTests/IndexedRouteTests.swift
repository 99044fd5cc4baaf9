import PatchFormat
import PatchCrypto
import Testing

@testable import PatchSync

@Suite("The choice among packs of an index")
struct IndexedRouteTests {
    private func digest(_ name: String) -> SHA256Digest { SHA256Digest(of: Array(name.utf8)) }

    private func pack(_ base: String, _ size: Int, signatures: Int? = 256) -> PackIndex.Pack {
        PackIndex.Pack(base: digest(base), size: size, signatures: signatures)
    }

    private func row(
        _ base: String,
        _ size: Int,
        manifest: Int = 10_000,
        hasColumn: Bool = true,
        from: [PackIndex.Pack] = []
    ) -> PackIndex.Row {
        let column = PackIndex.Column(sha256: digest("\(base) column"), size: 4_000)
        return PackIndex.Row(pack(base, size), manifest: manifest, column: hasColumn ? column : nil, from: from)
    }

    private func base(_ name: String, isTried: Bool = true, hasColumn: Bool = true) -> IndexedPacks.Base {
        IndexedPacks.Base(manifest: digest(name), isTried: isTried, hasColumn: hasColumn)
    }

    private func route(
        _ rows: [PackIndex.Row],
        from here: [IndexedPacks.Base],
        column: Int? = nil,
        whole: Int? = 100_000,
        contents: Int = 100_000
    ) -> BundleRoute {
        let target = IndexedPacks.Target(manifest: 10_000, column: column, contents: contents, most: contents)
        return IndexedPacks(PackIndex(whole: whole, from: rows), from: here, to: target).cheapest
    }

    @Test func `is a chain of two where no pack leads from what is here`() {
        let middle = row("b", 500, from: [pack("a", 700)])
        #expect(route([middle], from: [base("a")]) == .chain(pack("a", 700), through: middle))
        #expect(route([middle], from: [base("x")]) == .documents)
        #expect(route([], from: [base("a")]) == .documents)
    }

    @Test func `is the pack from another version that is here, unless nobody had it`() {
        let middle = row("b", 500, from: [pack("a", 700)])
        let direct = row("c", 600)
        let listed = BundleRoute.listed(direct.pack)
        #expect(route([middle, direct], from: [base("a"), base("c", isTried: false)]) == listed)
        #expect(route([direct], from: [base("c")]) == .documents)
        // A request counts as 3,000 bytes.
        let large = row("c", 4_201)
        let chain = BundleRoute.chain(pack("a", 700), through: middle)
        #expect(route([middle, large], from: [base("a"), base("c", isTried: false)]) == chain)
    }

    @Test func `is the chain with the fewest bytes, the first of equals`() {
        let rows = [
            row("b", 900, from: [pack("a", 700), pack("z", 1)]), row("c", 500, from: [pack("a", 700)]),
            row("d", 500, from: [pack("a", 700)]),
        ]
        #expect(route(rows, from: [base("a")]) == .chain(pack("a", 700), through: rows[1]))
    }

    @Test func `is none of them where all packs together weigh what comes without`() {
        // Of the manifest 27 %, the whole, and one request more.
        let limit = 2_700 + 20_000 + 3_000
        for (size, isTaken) in [(limit - 701, true), (limit - 700, false)] {
            let middle = row("b", size, from: [pack("a", 700)])
            let expected = isTaken ? BundleRoute.chain(pack("a", 700), through: middle) : .documents
            #expect(route([middle], from: [base("a")], whole: 20_000) == expected)
            #expect(route([middle], from: [base("a")], whole: nil, contents: 20_000) == expected)
            // More than what is here makes likely is not believed.
            #expect(route([middle], from: [base("a")], whole: 1 << 50, contents: 20_000) == expected)
        }
    }

    @Test func `counts the signatures that come beside, and the column where they do not`() {
        let column = 8_000
        let with = row("b", 500, from: [pack("a", 700)])
        let without = row("c", 400, hasColumn: false, from: [pack("a", 700)])
        let bare = row("d", 400, from: [pack("a", 700, signatures: nil)])
        let chain = BundleRoute.chain(pack("a", 700), through: with)
        #expect(route([without, bare, with], from: [base("a")], column: column) == chain)
        #expect(
            route([without, bare, with], from: [base("a")]) == .chain(pack("a", 700), through: without),
            "no signatures are asked for"
        )
        #expect(
            route([with, without], from: [base("a", hasColumn: false)], column: column)
                == .chain(pack("a", 700), through: without)
        )
    }

    @Test func `passes over a version that is here, and one whose manifest nobody has or that is too large`() {
        let inner = [pack("a", 700)]
        #expect(route([row("b", 500, from: inner)], from: [base("a"), base("b")]) == .documents)
        #expect(route([row("b", 500, manifest: 0, from: inner)], from: [base("a")]) == .documents)
        for (manifest, isTaken) in [(85_536, true), (85_537, false)] {
            let middle = row("b", 500, manifest: manifest, from: inner)
            let expected = isTaken ? BundleRoute.chain(inner[0], through: middle) : .documents
            #expect(route([middle], from: [base("a")]) == expected)
        }
    }
}
