import PatchRuntime
import Testing

@Suite("A patched method")
struct PatchedMethodTests {
    @Test
    func `replaces the host's own until its patch is withdrawn`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        #expect(try shop.total(cart) == 0)
        #expect(shop.run("defineClass('Cart', { total() { return 41 + 1 } })") == [.installed])
        #expect(try shop.total(cart) == 42)
        #expect(shop.host.withdraw("first"))
        #expect(try shop.total(cart) == 0)
        #expect(!shop.host.withdraw("first"))
    }

    @Test
    func `calls the original as ORIG`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        try shop.add(cart, 3, nil)
        shop.run(
            "defineClass('Cart', { total() { return self.ORIGtotal() * 10 }, price(cents) { return self.ORIGprice(cents + 1) } })"
        )
        #expect(try shop.total(cart) == 30)
        #expect(try shop.price(cart, 4) == 10)
    }

    @Test
    func `of two patches is the later's, whose original is the earlier's`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run(
            "defineClass('Cart', { price(cents) { return self.ORIGprice(cents) + 1 } })",
            "defineClass('Cart', { price(cents) { return self.ORIGprice(cents) * 100 } })"
        )
        #expect(try shop.price(cart, 5) == 1100)
        shop.host.withdraw("first")
        #expect(try shop.price(cart, 5) == 1000)
    }

    @Test
    func `lies by the place of its patch in the list, whenever that came`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        let one = PatchScript(
            id: "one",
            version: "1",
            "defineClass('Cart', { price(c) { return self.ORIGprice(c) + 1 } })"
        )
        let two = PatchScript(
            id: "two",
            version: "1",
            "defineClass('Cart', { price(c) { return self.ORIGprice(c) * 100 } })"
        )
        shop.host.run([two])
        shop.host.run([one, two])
        #expect(try shop.price(cart, 5) == 1100)
        shop.host.run([two, one])
        #expect(try shop.price(cart, 5) == 1001)
    }

    @Test
    func `may be static`() throws {
        let shop = try SampleShop()
        shop.run("defineClass('Cart', {}, { greeting(name) { return self.ORIGgreeting(name.toUpperCase()) + '!' } })")
        #expect(try shop.greeting("ann") == "hello ANN!")
    }

    @Test
    func `may be one that waits, and then gives a promise`() async throws {
        let (shop, cart) = (try SampleShop(), Cart())
        #expect(try await shop.load(cart, "1") == "cart 1")
        shop.run(
            "defineClass('Cart', { async load(id) { const it = await self.ORIGload(id + '0'); return it + '!' } })"
        )
        #expect(try await shop.load(cart, "1") == "cart 10!")
        shop.run("defineClass('Cart', { load(id) { return self.ORIGload(id) } })")
        await #expect(throws: CartError.empty) { try await shop.load(cart, "none") }
    }

    @Test
    func `is what other methods of scripts call, too`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run(
            "defineClass('Cart', { price(cents) { return 7 } })",
            "defineClass('Cart', { total() { return self.price(1) + this.price(2) } })"
        )
        #expect(try shop.total(cart) == 14)
    }

    @Test
    func `finds properties the way JSPatch has them`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run(
            "defineClass('Cart', ['note'], { total() { self.setLimit(self.limit() + 1); self.setNote(self.limit()); return self.note() } })"
        )
        #expect(try shop.total(cart) == 21)
        #expect(try shop.total(cart) == 22)
        #expect(try shop.limit.value(of: cart) == 22)
        shop.run("defineClass('Cart', { limit() { return 5 } })")
        #expect(try shop.limit.value(of: cart) == 5)
    }

    @Test
    func `throws what the original throws, unless it catches it`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run("defineClass('Cart', { check() { self.ORIGcheck() } })")
        #expect(throws: CartError.empty) { try shop.check(cart) }
        shop.run("defineClass('Cart', { check() { try { self.ORIGcheck() } catch (e) { console.log(e.message) } } })")
        try shop.check(cart)
        #expect(shop.lines == ["empty"])
        #expect(shop.failures.isEmpty)
    }

    @Test
    func `throws what it threw itself as its patch's failure, with its place`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run("defineClass('Cart', {\n  total() {\n    return nothing.at\n  }\n})")
        let failure = try #require(throws: PatchFailure.self) { try shop.total(cart) }
        #expect(failure.kind == .thrown)
        #expect(failure.description == "first 1: ReferenceError: Can't find variable: nothing (first.js:3:19)")
        #expect(shop.failures == [failure])
        #expect(shop.host.report["first"]?.state == .installed)
    }

    @Test
    func `throws where it returns another type`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run("defineClass('Cart', { total() { return 'many' } })")
        let failure = try #require(throws: PatchFailure.self) { try shop.total(cart) }
        #expect(failure.kind == .wrongResult)
        #expect(failure.message == "its result for total is a string and should be a whole number")
    }
}
