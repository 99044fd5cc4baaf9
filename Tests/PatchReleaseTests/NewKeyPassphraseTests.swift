import PatchFormat
import PatchRelease
import PatchStore
import PatchTesting
import PatchCrypto
import SystemPackage
import Testing

@Suite("The passphrase of a key in another's place")
struct NewKeyPassphraseTests {
    /// A folder of keys, each under its own passphrase or in the clear.
    private func folder(_ passphrases: [String: String?]) throws -> KeyFolder {
        let files = FaultyFiles()
        try files.makeDirectory("/keys")
        for (name, secret) in passphrases {
            let key = try TestKey.other.key
            let pem = try secret.map { try key.pem(passphrase: $0) } ?? key.unencryptedPEM()
            try files.write(pem, to: FilePath("/keys").appending("\(name).key"))
        }
        return KeyFolder("/keys", files: files)
    }

    @Test func `is the one that opens the old key, whichever was given first`() throws {
        let folder = try folder(["alice": "apple", "online": "server"])
        #expect(try folder.passphrase(replacing: "alice", among: ["server", "apple"]) == "apple")
        #expect(try folder.passphrase(replacing: "online", among: ["apple", "server"]) == "server")
    }

    @Test func `is none that opens other keys alone while the old one is there`() throws {
        let folder = try folder(["alice": "apple", "online": "server"])
        #expect(throws: SigningError.opensNothing("/keys/alice.key")) {
            try folder.passphrase(replacing: "alice", among: ["server", "aple"])
        }
    }

    @Test(arguments: [["bob": "apple"], ["bob": "apple", "alice": nil]])
    func `is one that opens any key where the old one is elsewhere or in the clear`(_ keys: [String: String?]) throws {
        let folder = try folder(keys)
        #expect(try folder.passphrase(replacing: "alice", among: ["aple", "apple"]) == "apple")
        #expect(throws: SigningError.opensNothing("/keys")) {
            try folder.passphrase(replacing: "alice", among: ["aple"])
        }
        #expect(throws: SigningError.opensNothing("/keys")) { try folder.passphrase(replacing: "alice", among: []) }
    }

    @Test(arguments: [["bob": "apple"], ["bob": "apple", "online": nil], ["bob": "apple", "online": "server"]])
    func `is never a holder's for the server's key`(_ keys: [String: String?]) throws {
        let folder = try folder(keys)
        #expect(throws: SigningError.opensNothing("/keys/online.key")) {
            try folder.passphrase(replacing: "online", among: ["apple"])
        }
    }
}
