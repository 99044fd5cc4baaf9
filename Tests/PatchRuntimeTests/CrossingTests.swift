import PatchRuntime
import Testing

@Suite("A value that crosses")
struct CrossingTests {
    @Test(arguments: [
        PatchValue.null, .boolean(true), .boolean(false), .number(1.5), .number(-0.0), .string(""),
        .string("äß😀\u{0}end"),
        .array([]), .array([.number(1), .array([.null])]), .dictionary([:]),
        .dictionary(["a": .dictionary(["": .string("b")]), "__proto__": .null, "constructor": .boolean(true)]),
        .data([]), .data([0, 255, 7]), .date(PatchDate(millisecondsSince1970: 1_700_000_000_123)),
    ])
    func `comes back as it went`(_ value: PatchValue) throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run("defineClass('Cart', { echo(value) { return self.ORIGecho(value) } })")
        #expect(try shop.echo(cart, value) == value)
    }

    @Test
    func `is what JavaScript calls it`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run(
            "defineClass('Cart', { echo(v) { return [typeof v[0], Array.isArray(v[1]), v[2] instanceof Uint8Array, v[3] instanceof Date, v[3].getTime(), v[4] === null] } })"
        )
        let answer = try shop.echo(
            cart,
            .array([.string("s"), .array([]), .data([1]), .date(PatchDate(millisecondsSince1970: 5)), .null])
        )
        #expect(
            answer
                == .array([
                    .string("string"), .boolean(true), .boolean(true), .boolean(true), .number(5), .boolean(true),
                ])
        )
    }

    @Test
    func `that is undefined is null, and part of an array of bytes is that part`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run("defineClass('Cart', { echo(v) { return [undefined, new Uint8Array([1, 2, 3, 4]).subarray(1, 3)] } })")
        #expect(try shop.echo(cart, .null) == .array([.null, .data([2, 3])]))
    }

    @Test
    func `that is an object of the host is the same one, there and back`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run(
            "let last; defineClass('Cart', { echo(other) { const same = other === last; last = other; return [same, other === self, other.total(), other] } })"
        )
        #expect(
            try shop.echo(cart, .object(cart)) == .array([.boolean(false), .boolean(true), .number(0), .object(cart)])
        )
        #expect(
            try shop.echo(cart, .object(cart)) == .array([.boolean(true), .boolean(true), .number(0), .object(cart)])
        )
    }

    @Test
    func `that is an object of the host is let go of with the script's last use`() throws {
        let shop = try SampleShop()
        shop.run("defineClass('Cart', { total() { return 1 } })")
        weak var gone: Cart?
        func use() throws -> Int {
            let cart = Cart()
            gone = cart
            return try shop.total(cart)
        }
        #expect(try use() == 1)
        // The stack may hold one for a while.
        for _ in 0..<2_000 { _ = try shop.total(Cart()) }
        shop.host.collectGarbage()
        #expect(gone == nil)
    }

    @Test
    func `that is made by a script is of the host's class`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run(
            "require('Cart'); defineClass('Cart', { echo() { return [new Cart(3).total(), Cart.alloc().init(4).total(), Cart.greeting('ann')] } })"
        )
        #expect(try shop.echo(cart, .null) == .array([.number(3), .number(4), .string("hello ann")]))
    }

    @Test
    func `that is a function can be called from the other side`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run(
            "let n = 0; defineClass('Cart', { total() { return self.twice(() => n += 10) }, echo(f) { return f(2, 'x') + 1 } })"
        )
        #expect(throws: CartError.empty) { try shop.twice(cart, PatchFunction { _ in throw CartError.empty }) }
        #expect(try shop.total(cart) == 20)
        let add = PatchFunction { values in .number(Double(values.count)) }
        #expect(try shop.echo(cart, .function(add)) == .number(3))
        shop.run("defineClass('Cart', { echo(f) { return f(Symbol('s')) } })")
        let failure = try #require(throws: PatchFailure.self) { try shop.echo(cart, .function(add)) }
        #expect(
            failure.message
                == "TypeError: a host function: argument 1 is a symbol and should be a value that Swift supports"
        )
    }

    @Test
    func `that is the host's own function comes back as itself`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run("defineClass('Cart', { echo(f) { return f } })")
        guard case .function(let made) = try shop.echo(cart, .function(PatchFunction { _ in .number(7) })) else {
            Issue.record("no function came back")
            return
        }
        #expect(try made() == .number(7))
    }

    @Test(arguments: [
        ("Symbol('s')", "its result for its caller is a symbol and should be a value that Swift supports"),
        ("10n", "its result for its caller is a BigInt and should be a value that Swift supports"),
        (
            "(() => { const a = []; a[0] = a; return a })()",
            "its result for its caller is deeper, or holds itself and should be nested 64 deep at most"
        ),
        (
            "new Array(2000000).fill(1)",
            "its result for its caller is larger and should be of 1000000 values at most"
        ),
    ])
    func `that Swift does not have is refused`(_ text: String, _ message: String) throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run("defineClass('Cart', { echo() { return \(text) } })")
        let failure = try #require(throws: PatchFailure.self) { try shop.echo(cart, .null) }
        #expect(failure.message == message)
        #expect(try shop.total(cart) == 0)
    }

    @Test(arguments: [
        ("self.add()", "TypeError: Cart.add expects 2 arguments but received 0"),
        ("self.add(1, 'a', 2)", "TypeError: Cart.add expects 2 arguments but received 3"),
        ("self.add('one')", "TypeError: Cart.add: argument 1 is a string and should be a whole number"),
        ("self.add(1.5)", "TypeError: Cart.add: argument 1 is 1.5 and should be a whole number"),
        ("self.add(1, 5)", "TypeError: Cart.add: argument 2 is a number and should be a string or null"),
        ("self.add.call({}, 1)", "TypeError: Cart.add must be called on a Cart"),
        ("const f = self.add; f(1)", "TypeError: Cart.add must be called on a Cart"),
        ("require('Cart').greeting(5)", "TypeError: Cart.greeting: argument 1 is a number and should be a string"),
        ("new (require('Cart'))('x')", "TypeError: Cart.init: argument 1 is a string and should be a whole number"),
        ("self.add(Symbol())", "TypeError: Cart.add: argument 1 is a symbol and should be a value that Swift supports"),
    ])
    func `in a wrong number or of a wrong type is the script's error`(_ call: String, _ message: String) throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run("defineClass('Cart', { total() { \(call) } })")
        let failure = try #require(throws: PatchFailure.self) { try shop.total(cart) }
        #expect(failure.message == message)
    }

    @Test
    func `of Swift that JavaScript does not have is refused, not rounded`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run("defineClass('Cart', { price(c) { return c } })")
        #expect(try shop.price(cart, 1 << 53) == 1 << 53)
        let error = try #require(throws: PatchCallError.self) { try shop.price(cart, 1 << 53 + 1) }
        #expect(
            error.description
                == "a value for a script is 9007199254740993 and should be a whole number that JavaScript supports"
        )
    }
}
