import PatchRuntime

/// What is in a cart, and what it costs.
///
/// Amounts are whole cents.
final class CartController: PatchExposed {
    let lines: [CartLine]
    let offers: Offers

    init(lines: [CartLine], offers: Offers = Offers()) {
        (self.lines, self.offers) = (lines, offers)
    }

    /// What scripts may call and patch, and how Swift calls it.
    static let patchableTotal = PatchMethod("total") { (cart: CartController) in cart.sum }

    /// Patched where a script patch replaces it.
    func total() throws -> Int { try Self.patchableTotal(self) }

    /// WRONG ON PURPOSE: the discount is rounded for each piece, and three tumblers come out a cent wrong.
    private var sum: Int {
        var (goods, discount) = (0, 0)
        for line in lines {
            goods += line.price * line.quantity
            if line.kind == offers.discountedKind, line.quantity >= offers.discountedFrom {
                discount += (line.price * offers.percent + 50) / 100 * line.quantity
            }
        }
        return goods - discount + (goods == 0 || goods >= offers.freeFrom ? 0 : offers.shipping)
    }
}

struct CartLine: Sendable {
    let kind: String
    let price: Int
    let quantity: Int
}

struct Offers: Sendable {
    let shipping = 590
    let freeFrom = 6_000
    let discountedKind = "drinking"
    let discountedFrom = 3
    let percent = 10
}

extension PatchHost {
    /// All of the shop that patches may change.
    func exposeShop() throws {
        try expose("CartController", CartController.self) {
            CartController.patchableTotal
            PatchMethod("lines") { (cart: CartController) in
                cart.lines.map { line -> [String: PatchValue] in
                    [
                        "kind": .string(line.kind), "price": .number(Double(line.price)),
                        "quantity": .number(Double(line.quantity)),
                    ]
                }
            }
            PatchMethod("offers") { (cart: CartController) -> [String: PatchValue] in
                [
                    "shipping": .number(Double(cart.offers.shipping)),
                    "freeFrom": .number(Double(cart.offers.freeFrom)),
                    "kind": .string(cart.offers.discountedKind), "from": .number(Double(cart.offers.discountedFrom)),
                    "percent": .number(Double(cart.offers.percent)),
                ]
            }
        }
    }
}
