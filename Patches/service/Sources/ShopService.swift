import Hummingbird
import NIOConcurrencyHelpers
import PatchRuntime
import Patchline
import PatchlinePages
import PatchlineScripts

/// The sample shop's prices as a service of Swift's own: `GET /total?product=field-tumbler&quantity=3`, and `GET /offers`, a page.
///
/// usage: shop-service STORE [PORT]
///
/// Whoever syncs the store (`patchsync sync`) patches it while it runs.
@main
enum ShopService {
    private static let products = [
        "morning-mug": ("drinking", 2_450), "field-tumbler": ("drinking", 1_995), "supper-bowl": ("eating", 3_250),
    ]

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard (2...3).contains(arguments.count), let port = Int(arguments.count > 2 ? arguments[2] : "0") else {
            print("usage: shop-service STORE [PORT]")
            return
        }
        var settings = ScriptedApp.Settings()
        settings.app.servesPages = false
        settings.app.syncs = false
        settings.host.log = { line in say("\(line.patch ?? "a patch"): \(line.text)") }
        let shop = try await ScriptedApp(
            store: arguments[1],
            settings: settings,
            exposing: { host in try host.exposeShop() }
        ) { event in
            switch event {
            case .ran(let report):
                let rows = report.rows.map { "\($0.id) \($0.version) \($0.state.rawValue)" }
                say("patches: \(rows.joined(separator: ", "))")
            case .failed(let failure, let isTakenBack): say("\(failure)\(isTakenBack ? "; taken back" : "")")
            case .app(let event): say("\(event)")
            }
        }
        try await shop.start()
        let router = Router()
        router.add(middleware: PageDifferences())
        let visits = NIOLockedValueBox(0)
        router.get("offers") { _, _ in
            OffersPage.response(
                visit: visits.withLockedValue {
                    $0 += 1
                    return $0
                }
            )
        }
        router.get("total") { request, _ -> String in
            guard let name = request.uri.queryParameters["product"], let product = products[String(name)],
                let quantity = request.uri.queryParameters["quantity"].flatMap({ Int($0) }), (0...99).contains(quantity)
            else { throw HTTPError(.badRequest, message: "product and quantity are wanted") }
            let line = CartLine(kind: product.0, price: product.1, quantity: quantity)
            return "\(try CartController(lines: [line]).total())\n"
        }
        let service = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in say("listening on port \(channel.localAddress?.port ?? port)") }
        )
        try await service.runService()
        await shop.stop()
    }
}
