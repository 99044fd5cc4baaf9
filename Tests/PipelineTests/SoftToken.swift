import FoundationEssentials
import Subprocess
import SystemPackage

/// A SoftHSM token in a world's folder, holding copies of the shop's keys.
struct SoftToken: Sendable {
    static let pin = "4711"
    let module: FilePath
    let pinFile: FilePath
    let environment: [Subprocess.Environment.Key: String?]

    /// - Parameter keys: names of the shop's keys to import.
    init(in world: World, keys: [String]) async throws {
        let places = ["/usr/lib/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so"]
        guard let found = places.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw ToolTrouble.missing("softhsm2 is not installed")
        }
        module = FilePath(found)
        pinFile = world.path("pin")
        environment = ["SOFTHSM2_CONF": world.path("softhsm2.conf").string, "PKCS11_MODULE_PATH": nil]
        let tokens = world.path("tokens").string
        try FileManager.default.createDirectory(atPath: tokens, withIntermediateDirectories: true)
        try write("directories.tokendir = \(tokens)\nlog.level = ERROR\n", to: world.path("softhsm2.conf"))
        try write("\(Self.pin)\n", to: pinFile)
        try await tool(["--init-token", "--free", "--label", "release", "--so-pin", "12345678", "--pin", Self.pin])
        for (index, key) in keys.enumerated() {
            let file = world.shop.keys.appending("\(key).key").string
            let names = ["--token", "release", "--label", key, "--id", "0\(index + 1)", "--pin", Self.pin]
            try await tool(["--import", file] + names)
        }
    }

    private func tool(_ arguments: [String]) async throws {
        try await run(.system("softhsm2-util"), arguments, environment: environment).done()
    }

    func uri(_ key: String) -> String { "pkcs11:token=release;object=\(key)" }
}
