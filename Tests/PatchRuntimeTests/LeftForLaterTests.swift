import PatchRuntime
import Testing

@Suite("What a patch leaves for later")
struct LeftForLaterTests {
    @Test
    func `runs on the host's executor, on the queue and after the time that it asks for`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run(
            """
            defineClass('Cart', { total() {
              dispatch_after(1.5, () => console.log('after', self.price(1)));
              dispatch_async_main(() => console.log('main'));
              dispatch_async_global_queue(function () { console.log('global', this.price(2)) });
              dispatch_sync_main(() => console.log('sync'));
              console.log('end'); return 0
            } })
            """
        )
        _ = try shop.total(cart)
        #expect(shop.lines == ["sync", "end"])
        #expect(shop.executor.waiting == ["main 1.5 seconds", "main 0.0 seconds", "global 0.0 seconds"])
        shop.executor.runAll()
        #expect(shop.lines == ["sync", "end", "after 2", "main", "global 4"])
        #expect(shop.log.map(\.patch) == Array(repeating: "first", count: 5))
    }

    @Test
    func `comes to nothing once the patch is withdrawn`() throws {
        let shop = try SampleShop()
        shop.run("dispatch_after(1, () => console.log('ran'))")
        shop.host.withdraw("first")
        shop.executor.runAll()
        #expect(shop.lines == [])
        #expect(shop.failures == [])
    }

    @Test
    func `that throws is that patch's failure, and nobody else's`() throws {
        let shop = try SampleShop()
        shop.run("dispatch_after(1, () => { throw new Error('late') })", "dispatch_after(1, () => console.log('ran'))")
        shop.executor.runAll()
        #expect(shop.failures.map(\.description) == ["first 1: Error: late (first.js:1:42)"])
        #expect(shop.host.report["first"]?.failure?.message == "Error: late")
        #expect(shop.lines == ["ran"])
    }

    @Test
    func `that never ends is stopped and withdrawn`() throws {
        let (shop, cart) = (try SampleShop { $0.timeLimit = .milliseconds(60) }, Cart())
        shop.run("defineClass('Cart', { total() { return 5 } }); dispatch_after(1, () => { for (;;) {} })")
        #expect(try shop.total(cart) == 5)
        shop.executor.runAll()
        #expect(try shop.total(cart) == 0)
        #expect(shop.failures.map(\.kind) == [.timeLimit])
        #expect(shop.host.report["first"]?.state == .unusable)
    }

    @Test(arguments: [
        ("dispatch_after(-1, () => {})", "a patch can wait for 0 to 1e9 seconds, not for -1.0"),
        ("dispatch_after('x', () => {})", "a patch can wait for 0 to 1e9 seconds, not for nan"),
        ("dispatch_async_main(5)", "dispatch_async_main expects a function"),
        (
            "for (let i = 0; i < 10001; i += 1) dispatch_async_main(() => {})",
            "patches have already scheduled 10000 calls"
        ),
    ])
    func `is refused where it makes no sense`(_ script: String, _ message: String) throws {
        let shop = try SampleShop()
        #expect(shop.run(script) == [.unusable])
        #expect(shop.failures.map(\.message) == ["TypeError: " + message])
    }

    @Test
    func `as a function that the host keeps is refused after the withdrawal`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        let kept = Locked<PatchFunction?>(nil)
        let keep = PatchFunction { values in
            if case .function(let function) = values[0] { kept.withLock { $0 = function } }
            return .null
        }
        shop.run(
            "defineClass('Cart', { echo(keep) { keep(block('NSString *', x => x + price)); return null } }); const price = 7"
        )
        _ = try shop.echo(cart, .function(keep))
        let function = try #require(kept.withLock { $0 })
        #expect(try function(1) == .number(8))
        shop.host.withdraw("first")
        let error = try #require(throws: PatchCallError.self) { try function(1) }
        #expect(error.description == "the patch first is withdrawn, and its functions with it")
    }

    @Test
    func `as a function outlives no host`() throws {
        let kept = Locked<PatchFunction?>(nil)
        let method = try {
            let (shop, cart) = (try SampleShop(), Cart())
            shop.run("defineClass('Cart', { echo(v) { return () => 5 }, total() { return 3 } })")
            if case .function(let function) = try shop.echo(cart, .null) { kept.withLock { $0 = function } }
            return shop.total
        }()
        let function = try #require(kept.withLock { $0 })
        #expect(throws: PatchCallError.noHost) { try function() }
        #expect(try method(Cart()) == 0)
    }

    @Test
    func `as a promise is ended by the withdrawal`() async throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run(
            "defineClass('Cart', { load() { dispatch_async_main(() => console.log('waits')); return new Promise(() => {}) } })"
        )
        let answer = Task { try await shop.load(cart, "1") }
        while shop.executor.waiting.isEmpty { await Task.yield() }
        shop.host.withdraw("first")
        await #expect(throws: PatchCallError.withdrawn(patch: "first")) { try await answer.value }
    }

    @Test
    func `as a promise that is refused is told as the patch's failure`() async throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run(
            """
            defineClass('Cart', { async load() { throw new TypeError('no') } });
            dispatch_async_main(() => { Promise.reject(new Error('unheard')) });
            """
        )
        shop.executor.runAll()
        let failure = try await #require(throws: PatchFailure.self) { try await shop.load(cart, "1") }
        #expect(failure.description == "first 1: TypeError: no (first.js:1:57)")
        #expect(shop.failures.map(\.message) == ["Error: unheard", "TypeError: no"])
    }

    @Test
    func `defines no class behind an await`() async throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run("defineClass('Cart', { async load(id) { await self.ORIGload(id); defineClass('Cart', {}) } })")
        let failure = try await #require(throws: PatchFailure.self) { try await shop.load(cart, "1") }
        #expect(failure.message == "Error: defineClass works only while a patch runs, not after an await")
        #expect(shop.failures == [failure])
    }
}
