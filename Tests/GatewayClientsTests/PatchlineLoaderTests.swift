import FoundationEssentials
import Gateways
import HTTPCore
import HTTPFiles
import HTTPTesting
import NIOCore
import PatchCrypto
import Patchline
import Testing

/// Packages by their paths, over HTTP.
private struct PackagesOverHTTP: FileSource {
    let packages: [String: [UInt8]]

    func decide(_ request: FileRequest) -> FileDecision { .later(.whole, answer) }

    private func answer(_ request: FileRequest) async -> FileAnswer {
        guard let bytes = packages[request.path.text] else { return .notFound }
        return .bytes(ServedBytes(bytes: bytes, contentType: "application/zip"))
    }
}

@Suite("JSPatch's loader in an app")
struct PatchlineLoaderTests {
    /// A folder that is gone at the end.
    private struct World: ~Copyable {
        let folder = FileManager.default.temporaryDirectory.appending(path: "jspatch-\(UUID().uuidString)").path
        let publicKey: String

        init() async throws { publicKey = try await LoaderSamples.key.value.publicKey.pem }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        func loader(_ url: String, takesUnnamedPackages: Bool = false) throws -> PatchlineLoader {
            try PatchlineLoader(
                root: url,
                appVersion: "2.1",
                publicKey: publicKey,
                folder: folder,
                takesUnnamedPackages: takesUnnamedPackages
            )
        }
    }

    private static func failure(_ loader: PatchlineLoader, _ version: Int) async -> PatchlineLoader.Failure? {
        do throws(PatchlineLoader.Failure) {
            try await loader.update(to: version)
            return nil
        } catch { return error }
    }

    @Test func `fetches, installs and runs what it is told to, over HTTP`() async throws {
        let world = try await World()
        let served = PackagesOverHTTP(packages: [
            "/apps/2.1/v2.zip": try await LoaderSamples.package(
                ["main.js": "include('cart.js')", "cart.js": "total()"],
                for: LoaderSamples.place(2)
            )
        ])
        try await serving(served) { port in
            let url = "http://127.0.0.1:\(port)"
            let loader = try world.loader("\(url)/apps")
            #expect(try loader.currentVersion == 0)
            #expect(try loader.run() == nil)
            try await loader.update(to: 2)
            #expect(try loader.currentVersion == 2)
            let scripts = try #require(try loader.run())
            #expect(scripts.version == 2 && scripts.main == "include('cart.js')")
            #expect(scripts.include("cart.js") == "total()" && scripts.include("../version") == nil)
        }
    }

    @Test func `fails with JSPatch's codes, and with none where the server fails`() async throws {
        let world = try await World()
        let served = PackagesOverHTTP(packages: [
            "/2.1/v1.zip": Array("no zip".utf8),
            "/2.1/v2.zip": try await LoaderSamples.package(["main.js": "x"], for: LoaderSamples.place(1)),
            "/2.1/v3.zip": try await LoaderSamples.package(["main.js": "x"], for: nil),
        ])
        try await serving(served) { port in
            let url = "http://127.0.0.1:\(port)"
            let loader = try world.loader(url)
            let noZip = try #require(await Self.failure(loader, 1))
            #expect(noZip.domain == "org.jspatch" && noZip.code == -1_001 && noZip.kind == .malformed)
            #expect(noZip.description == "the package is not a zip archive: it has no end record")
            let moved = try #require(await Self.failure(loader, 2))
            #expect(moved.domain == "org.jspatch" && moved.code == -1_002 && moved.kind == .refused)
            let unnamed = try #require(await Self.failure(loader, 3))
            #expect(unnamed.code == -1_002)
            let absent = try #require(await Self.failure(loader, 4))
            #expect(absent.domain == nil && absent.code == nil && absent.kind == .refused)
            #expect(absent.description == "2.1/v4.zip: not found on the server (404)")
            #expect(try loader.currentVersion == 0)
            let lenient = try world.loader(url, takesUnnamedPackages: true)
            try await lenient.update(to: 3)
            let again = try #require(await Self.failure(lenient, 3))
            #expect(again.domain == "org.jspatch" && again.code == -1_003)
            #expect(again.description == "version 3 is not newer than 3, which is installed")
        }
        let gone = try #require(await Self.failure(try world.loader("http://127.0.0.1:1"), 9))
        #expect(gone.domain == nil && gone.kind == .network, "\(gone)")
    }

    @Test func `is not made of what is none`() async throws {
        let world = try await World()
        func message(_ root: String, _ version: String, _ key: String, _ folder: String) -> String? {
            do throws(PatchlineError) {
                _ = try PatchlineLoader(root: root, appVersion: version, publicKey: key, folder: folder)
                return nil
            } catch { return "\(error.code) \(error)" }
        }
        let (url, key) = ("http://localhost", world.publicKey)
        #expect(message(url, "2.1", key, "/a") == nil)
        #expect(message("ftp://a", "2.1", key, "/a")?.hasPrefix("invalid root must be http:// or https://") == true)
        #expect(message(url, "../2", key, "/a")?.hasPrefix("invalid appVersion must be integers") == true)
        #expect(message(url, "2.1", "key", "/a") == "invalid publicKey: is not a PEM public key")
        #expect(message(url, "2.1", key, "a") == "invalid folder must be an absolute path")
        let failure = try #require(await Self.failure(try world.loader(url), 0))
        #expect(failure.kind == .invalid && failure.description == "version must be an integer from 1 to 999999999")
    }
}
