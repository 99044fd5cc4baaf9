import ArgumentParser
import CommandSupport
import PatchFormat
import PatchStore
import PatchSync
import SystemPackage
import Terminal

/// How the servers are reached: kept in the store.
struct ServerOptions: ParsableArguments {
    @Option(
        name: .customLong("mirror"),
        help: ArgumentHelp("Another place with the same tree; may stand several times.", valueName: "url")
    )
    var mirrors: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Trust these authorities for TLS, and not the system's (PEM; copied).", valueName: "file")
    )
    var ca: String?

    @Option(
        name: .customLong("pin"),
        help: ArgumentHelp("A key that the servers may have, sha256/BASE64; may stand several times.", valueName: "key")
    )
    var pins: [String] = []

    func validate() throws {
        for mirror in mirrors where ServerURL(mirror) == nil { throw ValidationError("--mirror \(ServerURL.rule)") }
        for pin in pins where PublicKeyPin(pin) == nil { throw ValidationError("--pin \(PublicKeyPin.rule)") }
        guard mirrors.count <= ServerAccess.mirrorsLimit, pins.count <= ServerAccess.pinsLimit else {
            throw ValidationError("at most \(ServerAccess.mirrorsLimit) mirrors and \(ServerAccess.pinsLimit) pins")
        }
    }

    var access: ServerAccess {
        get throws(Failure) {
            var access = ServerAccess()
            access.mirrors = mirrors.compactMap { ServerURL($0) }
            access.pins = pins.compactMap { PublicKeyPin($0) }
            guard let ca else { return access }
            do throws(FileError) {
                let bytes = try DiskFiles().read(FilePath(argument: ca), limit: Limits.certificates)
                access.authorities = String(validating: bytes, as: UTF8.self)
            } catch { throw Failure("\(error)", hint: "--ca wants certificates in PEM.", exitCode: .disk) }
            guard access.authorities != nil else { throw Failure(.fetch(.tls(.noAuthority))) }
            return access
        }
    }
}
