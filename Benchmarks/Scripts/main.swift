// What script patches cost: a call, an installation; beside the engine itself, through its C API.
//
// usage: scripts calls | install COUNT
import CJavaScriptCore
import Glibc
import PatchRuntime

final class Cart: PatchExposed {
    let none = PatchMethod("none") { (_: Cart) in 1 }
    let three = PatchMethod("three") { (_: Cart, a: Int, b: Int, c: Int) in a + b + c }
    let large = PatchMethod("large") { (_: Cart, value: [String: PatchValue]) in value.count }
}

func host(exposing cart: Cart) throws -> PatchHost {
    let host = PatchHost()
    try host.expose("Cart", Cart.self) {
        cart.none
        cart.three
        cart.large
        PatchStaticMethod("empty") { 1 }
    }
    return host
}

/// The best of five rounds, in nanoseconds a call.
func best(_ count: Int, _ call: () throws -> Void) rethrows -> Double {
    var least = Double.infinity
    for _ in 0..<5 {
        let time = try ContinuousClock().measure { for _ in 0..<count { try call() } }
        least = min(least, time / .nanoseconds(1) / Double(count))
    }
    return least
}

/// What this process has in memory, pages of the engine's library among it.
func residentKilobytes() -> Int {
    guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
    defer { unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard unsafe fgets(&line, 256, file) != nil else { return 0 }
    let fields = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(
        separator: " "
    )
    return (Int(fields.dropFirst().first ?? "") ?? 0) * 4
}

func row(_ name: String, _ nanoseconds: Double) {
    print("| \(name) | \(Int(nanoseconds.rounded())) ns |")
}

func calls() throws {
    let cart = Cart()
    let host = try host(exposing: cart)
    let dictionary = Dictionary(uniqueKeysWithValues: (0..<100).map { ("key\($0)", PatchValue.number(Double($0))) })
    row("not patched, no argument", try best(100_000) { _ = try cart.none(cart) })
    row("not patched, 3 arguments", try best(100_000) { _ = try cart.three(cart, 1, 2, 3) })
    let script = """
        defineClass('Cart', {
          none() { return 2 }, three(a, b, c) { return a + b + c + 1 }, large(value) { return 7 }
        });
        """
    let report = host.run([PatchScript(id: "fix", version: "1", script)])
    let answer = try cart.none(cart)
    precondition(report.rows.allSatisfy { $0.failure == nil } && answer == 2)
    row("patched, no argument", try best(20_000) { _ = try cart.none(cart) })
    row("patched, 3 arguments", try best(20_000) { _ = try cart.three(cart, 1, 2, 3) })
    row("patched, a dictionary of 100 keys", try best(2_000) { _ = try cart.large(cart, dictionary) })
    let loop = "require('Cart'); for (let i = 0; i < 100000; i += 1) Cart.empty()"
    row("from a script to a host's method", try best(1) { _ = try host.evaluate(loop) } / 100_000)
    bare(limited: false)
    bare(limited: true)
}

/// A function of the engine called through its C API.
func bare(limited: Bool) {
    let group = unsafe JSContextGroupCreate()
    if limited { unsafe JSContextGroupSetExecutionTimeLimit(group!, 1, { _, _ in true }, nil) }
    let context = unsafe JSGlobalContextCreateInGroup(group, nil)
    let text = unsafe JSStringCreateWithUTF8CString("(function () { return 2 })")
    let function = unsafe JSValueToObject(context, JSEvaluateScript(context, text, nil, nil, 1, nil), nil)
    let nanoseconds = best(20_000) { _ = unsafe JSObjectCallAsFunction(context, function, nil, 0, nil, nil) }
    row("the engine itself, no argument" + (limited ? ", with a limit of time" : ""), nanoseconds)
    unsafe JSStringRelease(text)
    unsafe JSGlobalContextRelease(context)
    unsafe JSContextGroupRelease(group)
}

/// From nothing to `count` patches that are ready, once: a process starts cold.
func install(_ count: Int) throws {
    let scripts = (0..<count).map { number in
        PatchScript(
            id: "patch\(number)",
            version: "1",
            "defineClass('Cart', { three(a, b, c) { return self.ORIGthree(a, b, c) + \(number) } });"
        )
    }
    let before = residentKilobytes()
    var made: PatchHost?
    let time = try ContinuousClock().measure {
        made = try host(exposing: Cart())
        precondition(made?.run(scripts).rows.count == count)
    }
    let memory = Double(residentKilobytes() - before) / 1_000
    withExtendedLifetime(made) {}
    print(
        "| a host with \(count) patches | \(Double(Int(time / .microseconds(100))) / 10) ms, \(Int(memory.rounded())) MB |"
    )
}

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "calls": try calls()
case "install": try install(Int(arguments.last ?? "") ?? 1)
default: print("usage: scripts calls | install COUNT")
}
