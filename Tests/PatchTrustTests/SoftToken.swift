import FoundationEssentials
import Glibc
import PatchCrypto
import PatchTesting
import Testing

/// SoftHSM with tokens of its own, for this test process alone.
///
/// The module reads SOFTHSM2_CONF and its tokens once, when it is loaded, so all tests share them.
final class SoftToken: Sendable {
    static let pin = "4711"
    static let shared = Result { try SoftToken() }

    let folder: URL
    let module: String

    static func ready() throws -> SoftToken { try shared.get() }

    private init() throws {
        let bench = try Bench()
        bench.keep()
        folder = bench.folder
        atexit {
            guard case .success(let token) = SoftToken.shared else { return }
            try? FileManager.default.removeItem(at: token.folder)
        }
        module = try #require(
            ["/usr/lib/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so", "/usr/lib/pkcs11/libsofthsm2.so"]
                .first { FileManager.default.fileExists(atPath: $0) },
            "softhsm2 is not installed"
        )
        try bench.write(
            Array("directories.tokendir = \(folder.path)/tokens\nobjectstore.backend = file\nlog.level = ERROR\n".utf8),
            to: "softhsm2.conf"
        )
        unsafe setenv("SOFTHSM2_CONF", "\(folder.path)/softhsm2.conf", 1)
        try bench.run("mkdir tokens")
        for label in ["release", "other"] {
            try bench.run("softhsm2-util --init-token --free --label \(label) --so-pin 12345678 --pin \(Self.pin)")
        }
        try bench.write(try TestingKey.production.pem, to: "production.key")
        try bench.run("openssl pkcs8 -topk8 -nocrypt -in production.key -out rsa.pem")
        try bench.run("openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ec.pem")
        try bench.run("openssl pkey -in ec.pem -pubout -out ec.pub")
        try bench.run("softhsm2-util --import rsa.pem --token release --label rsa --id 01 --pin \(Self.pin)")
        try bench.run("softhsm2-util --import ec.pem --token release --label ec --id 02 --pin \(Self.pin)")
        try bench.run("softhsm2-util --import rsa.pem --token other --label rsa --id 01 --pin \(Self.pin)")
    }

    func key(_ label: String) throws -> TokenKey {
        try TokenKey(try TokenURI("pkcs11:token=release;object=\(label)"), module: module, pin: Self.pin)
    }
}
