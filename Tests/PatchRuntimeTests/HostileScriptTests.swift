import PatchRuntime
import Testing

@Suite("A hostile or broken script")
struct HostileScriptTests {
    /// One script that fails between two that do not, and how.
    private func failure(of script: String, _ change: (inout PatchHost.Settings) -> Void = { _ in }) throws
        -> PatchFailure
    {
        try failure(of: Array(script.utf8), change)
    }

    private func failure(of bytes: [UInt8], _ change: (inout PatchHost.Settings) -> Void = { _ in }) throws
        -> PatchFailure
    {
        let (shop, cart) = (try SampleShop(change), Cart())
        let report = shop.host.run([
            PatchScript(
                id: "before",
                version: "1",
                "defineClass('Cart', { price(c) { return self.ORIGprice(c) + 1 } })"
            ),
            PatchScript(id: "bad", version: "2", content: .bytes(bytes)),
            PatchScript(
                id: "after",
                version: "1",
                "defineClass('Cart', { price(c) { return self.ORIGprice(c) * 100 } })"
            ),
        ])
        #expect(report.rows.map(\.state) == [.installed, .unusable, .installed])
        #expect(try shop.price(cart, 5) == 1100)
        #expect(try shop.total(cart) == 0)
        let failure = try #require(report["bad"]?.failure)
        #expect(shop.failures == [failure])
        return failure
    }

    @Test
    func `that is not UTF-8 is not evaluated`() throws {
        let failure = try failure(of: [0x76, 0xff, 0xfe])
        #expect(failure.kind == .notUTF8)
        #expect(failure.description == "bad 2: it is not UTF-8 (bad.js)")
    }

    @Test
    func `in UTF-16 is not UTF-8`() throws {
        #expect(try failure(of: [0xff, 0xfe, 0x31, 0x00]).kind == .notUTF8)
    }

    @Test
    func `with a byte-order mark is a script like others`() throws {
        let shop = try SampleShop()
        #expect(shop.run("\u{feff}defineClass('Cart', { total() { return 9 } })") == [.installed])
        #expect(try shop.total(Cart()) == 9)
    }

    @Test
    func `that is empty does nothing, and is installed`() throws {
        #expect(try SampleShop().run("", "\n// nothing\n") == [.installed, .installed])
    }

    @Test
    func `of 50 MB is not evaluated`() throws {
        let failure = try failure(of: [UInt8](repeating: UInt8(ascii: " "), count: 50_000_000))
        #expect(failure.kind == .tooLarge)
        #expect(failure.message == "it has 50000000 bytes; the limit is 16000000")
    }

    @Test
    func `that does not parse is named by its line`() throws {
        let failure = try failure(of: "var a = 1\nvar b = = 2\n")
        #expect(failure.kind == .syntax)
        #expect(failure.line == 2)
        #expect(failure.message == "SyntaxError: Unexpected token '='")
    }

    @Test(arguments: [
        "}) ; (function () {", "return 5", "'use strict'; with (a) {}", "defineClass('Cart', { total() { return 1 }",
        "import x from 'y'",
    ])
    func `that is no program is none`(_ text: String) throws {
        #expect(try failure(of: text).kind == .syntax)
    }

    @Test(arguments: [
        "for (;;) {}", "for (;;) { try { for (;;) {} } catch (e) {} finally { } }",
        "while (true) { try { throw 1 } catch (e) { continue } }",
    ])
    func `that never ends is stopped, also where it catches everything`(_ loop: String) throws {
        let failure = try failure(of: "defineClass('Cart', { total() { return 1 } })\n" + loop) {
            $0.timeLimit = .milliseconds(60)
        }
        #expect(failure.kind == .timeLimit)
        #expect(failure.description == "bad 2: it exceeded its time limit (bad.js)")
    }

    @Test
    func `that loops in a patched method is withdrawn, and the original holds`() throws {
        let (shop, cart) = (try SampleShop { $0.timeLimit = .milliseconds(60) }, Cart())
        shop.run(
            "defineClass('Cart', { price(c) { return self.ORIGprice(c) + 1 } })",
            "defineClass('Cart', { price(c) { try { for (;;) {} } catch (e) {} return self.ORIGprice(c) } })"
        )
        let failure = try #require(throws: PatchFailure.self) { try shop.price(cart, 1) }
        #expect(failure.kind == .timeLimit)
        #expect(failure.patch == "second")
        #expect(shop.host.report.rows.map(\.state) == [.installed, .unusable])
        #expect(try shop.price(cart, 1) == 3)
        #expect(shop.failures == [failure])
    }

    @Test
    func `that calls itself for ever runs out of stack, and no more`() throws {
        let failure = try failure(of: "(function f() { f() })()")
        #expect(failure.kind == .thrown)
        #expect(failure.message == "RangeError: Maximum call stack size exceeded.")
    }

    @Test
    func `that calls itself through the host for ever runs out of stack, and no more`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run("defineClass('Cart', { twice(f) { return this.ORIGtwice(() => this.twice(f)) } })")
        #expect(throws: PatchFailure.self) { try shop.twice(cart, PatchFunction { _ in .null }) }
        #expect(try shop.total(cart) == 0)
    }

    @Test
    func `that takes all memory is stopped`() throws {
        let failure = try failure(of: "const all = []; for (;;) all.push(new Array(1000).fill(all.length))") {
            $0.memoryLimit = 64_000_000
            $0.timeLimit = .seconds(30)
        }
        #expect(failure.kind == .memoryLimit)
        #expect(failure.message == "it exceeded its memory limit")
    }

    @Test(arguments: [
        ("throw 5", "it throws 5, which is not an error"),
        ("throw { code: 5 }", "it throws {\"code\":5}, which is not an error"),
        ("throw null", "it throws null, which is not an error"),
        ("throw undefined", "it throws undefined, which is not an error"),
        ("throw Symbol('s')", "it throws a symbol, which is not an error"),
        ("const o = {}; o.o = o; throw o", "it throws an object, which is not an error"),
        ("throw { toString() { throw 1 }, toJSON() { throw 2 } }", "it throws an object, which is not an error"),
    ])
    func `that throws what is no error is told in words`(_ script: String, _ message: String) throws {
        #expect(try failure(of: script).message == message)
    }

    @Test
    func `that throws an error which lies is told all the same`() throws {
        let failure = try failure(
            of:
                "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { throw 1 } }); Object.defineProperty(e, 'stack', { value: {} }); throw e"
        )
        #expect(failure.message == "it throws an error without a text")
    }
}
