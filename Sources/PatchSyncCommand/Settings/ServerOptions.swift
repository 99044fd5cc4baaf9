import ArgumentParser
import CommandSupport
import DeviceOutput
import PatchFetch
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

    /// Whether anything is said.
    var isGiven: Bool { !mirrors.isEmpty || ca != nil || !pins.isEmpty }

    func validate() throws {
        for mirror in mirrors where !mirror.isEmpty && ServerURL(mirror) == nil {
            throw ValidationError("--mirror \(ServerURL.rule)")
        }
        for pin in pins where !pin.isEmpty && PublicKeyPin(pin) == nil {
            throw ValidationError("--pin \(PublicKeyPin.rule)")
        }
        guard mirrors.count <= ServerAccess.mirrorsLimit, pins.count <= ServerAccess.pinsLimit else {
            throw ValidationError("at most \(ServerAccess.mirrorsLimit) mirrors and \(ServerAccess.pinsLimit) pins")
        }
    }

    /// What was set before, changed where an option stands: mirrors, authorities and pins are each replaced as a whole, and
    /// forgotten for an empty value.
    func changed(_ before: ServerAccess = ServerAccess()) throws(Failure) -> ServerAccess {
        var access = before
        if !mirrors.isEmpty { access.mirrors = mirrors.compactMap { ServerURL($0) } }
        if !pins.isEmpty { access.pins = pins.compactMap { PublicKeyPin($0) } }
        if let ca { access.authorities = ca.isEmpty ? nil : try authorities(in: ca) }
        return access
    }

    private func authorities(in file: String) throws(Failure) -> String {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try DiskFiles().read(FilePath(argument: file), limit: Limits.certificates)
        } catch { throw Failure("\(error)", hint: "--ca wants certificates in PEM.", exitCode: .disk) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Failure(.fetch(.tls(.noAuthority))) }
        return text
    }
}
