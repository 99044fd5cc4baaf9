import PatchRuntime
import Testing

@Suite("The patches of a host")
struct RunTests {
    private func script(_ id: String, _ text: String, version: String = "1") -> PatchScript {
        PatchScript(id: id, version: version, text)
    }

    @Test
    func `have the states of their files, of which no bad one stops another`() throws {
        let shop = try SampleShop()
        let report = shop.host.run([
            PatchScript(id: "gone", version: "1", content: .missing),
            PatchScript(id: "other", version: "1", content: .altered),
            PatchScript(id: "bytes", version: "1", content: .bytes([0xff])),
            script("throws", "throw new Error('no')"), script("good", "console.log('ran')"),
        ])
        #expect(
            report.rows.map(\.state.rawValue) == [
                "FileNotExist", "FileNotMatch", "UnKnownError", "UnKnownError", "Success",
            ]
        )
        #expect(shop.lines == ["ran"])
        #expect(
            shop.failures.map(\.description) == [
                "gone 1: its file is missing (gone.js)", "other 1: its file is not the one that was signed (other.js)",
                "bytes 1: it is not UTF-8 (bytes.js)", "throws 1: Error: no (throws.js:1:16)",
            ]
        )
        #expect(shop.host.report == report)
    }

    @Test
    func `run once, and anew in another version`() throws {
        let shop = try SampleShop()
        shop.host.run([script("a", "console.log('a1')"), script("b", "console.log('b1')")])
        shop.host.run([script("a", "console.log('a1')"), script("b", "console.log('b2')", version: "2")])
        #expect(shop.lines == ["a1", "b1", "b2"])
        shop.host.run([])
        #expect(shop.host.report.rows == [])
        shop.host.run([script("a", "console.log('a1')")])
        #expect(shop.lines == ["a1", "b1", "b2", "a1"])
    }

    @Test
    func `leave nothing where they fail half-way`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run("defineClass('Cart', { total() { return 1 } }, { greeting() { return 'x' } }); half = 1; throw 1")
        #expect(try shop.total(cart) == 0)
        #expect(try shop.greeting("ann") == "hello ann")
        #expect(try shop.host.evaluate("typeof half") == .string("undefined"))
    }

    @Test
    func `are tried again after they failed, not while they run`() throws {
        let shop = try SampleShop()
        shop.run("if (globalThis.ready === undefined) throw 1")
        #expect(try shop.host.evaluate("ready = 1; ready") == .number(1))
        #expect(shop.run("if (globalThis.ready === undefined) throw 1") == [.installed])
    }

    @Test
    func `include their siblings, each once, by id or by file name`() throws {
        let shop = try SampleShop()
        let report = shop.host.run([
            script(
                "main",
                "console.log('main'); include('second.js'); include('third'); include('second.js'); console.log('end')"
            ),
            script("second", "console.log('second'); include('main')"), script("third", "console.log('third')"),
        ])
        #expect(report.rows.map(\.state) == [.installed, .installed, .installed])
        #expect(shop.lines == ["main", "second", "third", "end"])
    }

    @Test
    func `include nothing else, and fail with what they include`() throws {
        let shop = try SampleShop()
        let report = shop.host.run([
            script("outside", "include('../etc/passwd')"), script("main", "include('bad')"),
            script("bad", "throw new Error('no')"),
            script("number", "include(5)"),
        ])
        #expect(
            report.rows.map { $0.failure?.message } == [
                "TypeError: include: no sibling is named '../etc/passwd'",
                "TypeError: include: bad 1: Error: no (bad.js:1:16)",
                "Error: no", "TypeError: include expects the name of a script",
            ]
        )
    }

    @Test
    func `find no file, no network and no process`() throws {
        let shop = try SampleShop()
        shop.run(
            "console.log(['fetch', 'XMLHttpRequest', 'process', 'readFile', 'load', 'WebSocket', 'setTimeout', 'Deno', '$vm', 'print'].filter(n => typeof globalThis[n] !== 'undefined').join())"
        )
        #expect(shop.lines == [""])
    }

    @Test
    func `make classes of their own, over one another and over the host's`() throws {
        let shop = try SampleShop()
        shop.run(
            """
            defineClass('A', ['name'], { init() { self = self.super().init(); self.setName('n'); return self }, method() { return 'A' + self.name() } }, { make() { return 's' } });
            defineClass('B: A', { method() { return self.super().method() + '1' } });
            defineClass('C : B <Some>', { method() { return self.super().method() + '2' } });
            require('Cart, C'); console.log(C.alloc().init().method(), new C().method(), C.make());
            """
        )
        #expect(shop.lines == ["An12 An12 s"])
        #expect(shop.failures == [])
    }

    @Test
    func `require what is there alone`() throws {
        let shop = try SampleShop()
        shop.run(
            "require('Cart, Basket')",
            "defineClass('New: Basket', {})",
            "defineClass(5, {})",
            "defineClass('Cart', { total: 5 })",
            ""
        )
        #expect(
            shop.failures.map(\.message) == [
                "ReferenceError: require: the host exposes no 'Basket'",
                "ReferenceError: New: its parent Basket is not a known class",
                "TypeError: defineClass expects the name of a class first",
                "TypeError: defineClass: Cart.total is not a function",
            ]
        )
        // Where the script says it, not where the language throws it.
        #expect(shop.failures.map(\.column) == [8, 12, 12, 12])
        #expect(shop.failures.map(\.file) == ["first.js", "second.js", "third.js", "fourth.js"])
    }

    @Test
    func `name the column of a mistake that the engine cannot parse`() throws {
        let shop = try SampleShop()
        shop.run("var a = 1;\nvar b = = 2;")
        #expect(shop.failures.map(\.description) == ["first 1: SyntaxError: Unexpected token '=' (first.js:2:9)"])
    }

    @Test
    func `leave nothing where a promise of theirs is refused as they begin`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run("defineClass('Cart', { total() { return 1 } }); Promise.reject(new Error('no'))")
        #expect(shop.host.report["first"]?.state == .unusable)
        #expect(shop.failures.map(\.message) == ["Error: no"])
        #expect(try shop.total(cart) == 0)
    }

    @Test
    func `tell their console in levels and in words`() throws {
        let shop = try SampleShop()
        shop.run(
            "console.log('a', 1, null, undefined, {b: [1]}); console.warn(new TypeError('t')); console.error(() => 1); console.info(); console.debug('d'.repeat(9000)); const o = {}; o.o = o; console.log(o)"
        )
        #expect(shop.log.map(\.level) == [.log, .warn, .error, .info, .debug, .log])
        let starts: [String] = shop.lines.map { line in String(line.prefix(30)) }
        let long = String(repeating: "d", count: 30)
        #expect(starts == ["a 1 null undefined {\"b\":[1]}", "TypeError: t", "() => 1", "", long, "[object]"])
        #expect(shop.lines[4].count == 4000)
    }

    @Test
    func `may be called from many threads, one at a time`() async throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run(
            "let calls = 0; defineClass('Cart', { add(n, s) { self.ORIGadd(n, s); calls += 1 }, total() { return calls } })"
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<200 { try shop.add(cart, 1, nil) } } }
            try await group.waitForAll()
        }
        #expect(try shop.total(cart) == 1600)
        #expect(cart.sum == 1600)
    }

    @Test
    func `are of one host: its methods are bound to no other`() throws {
        let shop = try SampleShop()
        let other = PatchHost()
        let error = try #require(throws: PatchCallError.self) { try other.expose("Cart", Cart.self) { shop.total } }
        #expect(error.description == "total is exposed by another host")
        #expect(throws: PatchCallError.nameTaken("Cart")) { try shop.host.expose("Cart", ManualExecutor.self) {} }
        #expect(throws: PatchCallError.noParent("Basket")) {
            try other.expose("Other", ManualExecutor.self, parent: "Basket") {}
        }
        #expect(PatchCallError.nameTaken("Cart").description == "Cart is exposed already")
        #expect(PatchCallError.noParent("Basket").description == "Basket is not exposed, so it cannot be a parent")
        #expect(PatchCallError.noHost.description == "the host of this function no longer exists")
    }
}
