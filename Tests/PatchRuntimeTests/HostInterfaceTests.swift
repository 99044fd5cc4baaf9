import PatchFormat
import PatchLanguage
import Testing

@testable import PatchRuntime

@Suite("The interface of a host")
struct HostInterfaceTests {
    @Test
    func `says what scripts may call and patch, and can be read back`() throws {
        let shop = try SampleShop()
        let interface = try HostInterface(parsing: Array(shop.host.interface.utf8))
        let cart = try #require(interface["Cart"])
        #expect(
            cart.methods.map(\.name) == [
                "total", "add", "price", "check", "echo", "twice", "load", "limit", "setLimit",
            ]
        )
        #expect(
            cart.methods[1]
                == .init(
                    name: "add",
                    arguments: ["a whole number", "a string or null"],
                    returns: "anything",
                    waits: false
                )
        )
        #expect(cart.methods[6] == .init(name: "load", arguments: ["a string"], returns: "a string", waits: true))
        #expect(cart.methods[4].arguments == ["any value"])
        #expect(cart.statics.map(\.name) == ["greeting"])
        #expect(cart.constructor == ["a whole number"])
        #expect(cart.parent == nil)
    }

    @Test(arguments: [
        ("{", "is not JSON (byte 1)"), (#"{"format":"other"}"#, "format is not patchline-host-v1"),
        (#"{"format":"patchline-host-v1"}"#, "types is not a list"),
        (#"{"format":"patchline-host-v1","types":[{"name":5}]}"#, "types[0].name is not text"),
        (
            #"{"format":"patchline-host-v1","types":[{"name":"A","methods":[{"name":"m","arguments":[],"returns":"x"}],"statics":[]}]}"#,
            "types[0].methods[0].waits is not true or false"
        ),
    ])
    func `that is none is named by its field`(_ text: String, _ message: String) throws {
        let error = try #require(throws: HostInterfaceError.self) { try HostInterface(parsing: Array(text.utf8)) }
        #expect(error.description.hasPrefix(message))
    }

    private let interface = HostInterface(types: [
        .init(
            name: "Base",
            parent: nil,
            constructor: nil,
            methods: [.init(name: "close", arguments: [], returns: "", waits: false)],
            statics: []
        ),
        .init(
            name: "Cart",
            parent: "Base",
            constructor: nil,
            methods: [.init(name: "total", arguments: [], returns: "", waits: false)],
            statics: [.init(name: "make", arguments: [], returns: "", waits: false)]
        ),
    ])

    private func unknown(_ script: String) -> [String] {
        ScriptNames(script).unknown(to: [interface]).map(\.description)
    }

    @Test
    func `knows the names that a script takes from it`() {
        #expect(
            unknown(
                """
                require('Cart, Base');
                defineClass('Cart', ['note'], {
                  total: function () { return self.ORIGtotal() / 2 /* total: { wrong() } */ },
                  close() { if (/wrong[/(]/.test("wrong()")) return `wrong() { ${ {wrong() {}} } }` },
                }, { async make() { return defineClass("Mine", { a() {} }) } });
                require("Mine");
                """
            ) == ["line 5: no host exposes 'Mine': it is a new class"]
        )
    }

    @Test
    func `finds those that it does not know, with their lines`() {
        #expect(
            unknown(
                "require('Basket')\ndefineClass('Cart : Base', {\n  totl() { return self.ORIGtotl() },\n}, {\n  close() {}\n})"
            ) == [
                "line 1: no host exposes 'Basket'", "line 3: Cart of the host has no 'totl': it is a new method",
                "line 3: Cart of the host has no 'totl', so ORIGtotl is undefined",
                "line 5: Cart of the host has no 'close': it is a new method",
            ]
        )
    }

    @Test(arguments: [
        "", "defineClass(", "defineClass('A', {", "require('a", "`${", "/*", "'\\", "defineClass('A', { b: {", "}}}])",
        "/", "a /= b",
    ])
    func `is asked nothing by what is no script`(_ text: String) {
        _ = unknown(text)
    }
}
