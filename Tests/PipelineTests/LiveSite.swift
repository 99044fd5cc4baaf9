import SystemPackage
import Testing

/// A site in node whose pages change in a block (Judges/site.mjs), behind `patchsrv pages`.
enum LiveSite {
    /// - Parameter body: gets the URL of `patchsrv pages`, and that of the site behind it.
    static func served(
        _ options: [String] = [],
        _ body: @escaping @Sendable (_ url: String, _ site: String) async throws -> Void
    ) async throws {
        _ = try await running(.system("node"), [Tool.script("site.mjs")]) { site in
            let address = try await site.address()
            let arguments = ["pages", "--upstream", address, "--port", "0"] + options
            let (_, outcome) = try await running(.patchsrv, arguments) { server in
                try await body(try await server.address(), address)
            }
            #expect(outcome.code == 0, "\(outcome)")
        }
    }
}
