import PatchRuntime
import Terminal

/// A host to try patches on: a cart whose total is wrong, as a shop may have it.
final class SampleHost: Sendable {
    /// A line of a cart, in whole cents.
    struct Line: Sendable {
        let price: Int
        let count: Int
    }

    final class CartController: PatchExposed {
        let lines = [Line(price: 333, count: 3), Line(price: 1_000, count: 1)]
    }

    let host: PatchHost
    let cart = CartController()

    /// The bug: the discount of ten per cent is rounded for each piece, where it should be for each line.
    let total = PatchMethod("total") { (cart: CartController) in
        cart.lines.reduce(0) { $0 + ($1.price - ($1.price + 5) / 10) * $1.count }
    }
    let count = PatchMethod("count") { (cart: CartController) in cart.lines.count }
    let price = PatchMethod("price") { (cart: CartController, line: Int) throws in
        guard cart.lines.indices.contains(line) else { throw NoSuchLine(line: line) }
        return cart.lines[line].price
    }
    let pieces = PatchMethod("pieces") { (cart: CartController, line: Int) throws in
        guard cart.lines.indices.contains(line) else { throw NoSuchLine(line: line) }
        return cart.lines[line].count
    }

    struct NoSuchLine: Error, CustomStringConvertible {
        let line: Int
        var description: String { "there is no line \(line)" }
    }

    init() throws(PatchCallError) {
        var settings = PatchHost.Settings()
        settings.log = { line in Console.standardOutput.line(printable("\(line.patch ?? "?"): \(line.text)")) }
        host = PatchHost(settings)
        try host.expose("CartController", CartController.self) {
            total
            count
            price
            pieces
            PatchConstructor { CartController() }
        }
    }
}
