import PatchRuntime
import Testing

@Suite("A script that changes what all scripts share")
struct PollutionTests {
    /// Every built-in that one might think of, replaced by what throws.
    private static let pollution = """
        const bad = () => { throw new Error("polluted") };
        for (const kind of [Array, Map, Set, WeakMap, String, Function, Promise, Object, Number])
            for (const name of Object.getOwnPropertyNames(kind.prototype))
                if (name !== "constructor" && typeof Object.getOwnPropertyDescriptor(kind.prototype, name).value === "function") try { kind.prototype[name] = bad } catch {}
        for (const name of ["apply", "defineProperty", "get", "ownKeys", "construct", "getPrototypeOf"]) Reflect[name] = bad;
        for (const name of ["keys", "values", "create", "freeze", "is", "defineProperty"]) Object[name] = bad;
        JSON.stringify = bad; Array.isArray = bad; Promise.resolve = bad;
        Array.prototype[Symbol.iterator] = bad; String.prototype[Symbol.iterator] = bad;
        Error = TypeError = Map = Set = WeakMap = Proxy = Promise = bad;
        """

    @Test
    func `cannot hurt the language's own helpers`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        let states = shop.run(
            Self.pollution,
            "require('Cart'); defineClass('Cart', ['note'], { price(c) { self.setNote(c); console.log(self.note(), {a: 1}); return self.ORIGprice(c) + 1 } }, { greeting(n) { return self.ORIGgreeting(n) } }); dispatch_async_main(() => console.log('later'))"
        )
        #expect(states == [.installed, .installed])
        #expect(try shop.price(cart, 5) == 11)
        #expect(try shop.greeting("ann") == "hello ann")
        shop.executor.runAll()
        #expect(shop.lines == ["5 {\"a\":1}", "later"])
        shop.host.withdraw("second")
        #expect(try shop.price(cart, 5) == 10)
    }

    @Test
    func `cannot get members into what Swift reads, or out of what it hands over`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run(
            "Object.prototype.extra = 1; Object.defineProperty(Object.prototype, 'name', { set() {} }); Object.defineProperty(Object.prototype, 'get', { value: 5 })",
            "defineClass('Cart', { echo(value) { return { name: value.name, keys: Object.keys(value).length, proto: value.__proto__ } } })"
        )
        let answer = try shop.echo(cart, .dictionary(["name": .string("n"), "__proto__": .number(1)]))
        #expect(answer == .dictionary(["name": .string("n"), "keys": .number(2), "proto": .number(1)]))
    }

    @Test
    func `cannot redefine require and its like`() throws {
        let shop = try SampleShop()
        shop.run(
            "require = defineClass = include = console = () => { throw 1 }; globalThis.require = 5; delete globalThis.defineClass; try { Object.defineProperty(globalThis, 'require', { value: 5 }) } catch {}",
            "var require = 5; console.log(typeof defineClass)",
            "console.log(typeof require('Cart'))"
        )
        #expect(shop.host.report.rows.map(\.state) == [.installed, .installed, .installed])
        #expect(shop.lines == ["function", "function"])
    }

    @Test
    func `leaves no names behind when it is withdrawn`() throws {
        let shop = try SampleShop()
        shop.run("kept = 1; globalThis.also = 2; require('Cart'); defineClass('Mine', {})", "require('Mine')")
        #expect(
            try shop.host.evaluate("[typeof kept, typeof also, typeof Cart]")
                == .array([.string("number"), .string("number"), .string("function")])
        )
        shop.host.withdraw("first")
        #expect(
            try shop.host.evaluate("[typeof kept, typeof also, typeof Cart, typeof Mine]")
                == .array([.string("undefined"), .string("undefined"), .string("undefined"), .string("undefined")])
        )
    }

    @Test
    func `cannot change a class but by defineClass`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run(
            "require('Cart').prototype.total = () => 9; require('Cart').greeting = () => 9",
            "'use strict'; require('Cart').prototype.total = () => 9"
        )
        #expect(shop.host.report.rows.map(\.state) == [.installed, .unusable])
        #expect(try shop.total(cart) == 0)
    }
}
