import ArgumentParser
import CommandKit
import DeviceOutput
import PatchDaemon
import PatchFetch
import PatchFormat
import PatchStore
import PatchSync
import SystemPackage

/// How the servers are reached: kept in the store.
///
/// Mirrors, authorities and pins are each replaced as a whole, and forgotten for an empty value.
struct ServerOptions: ParsableArguments {
    @Option(DeviceSetting.mirror) var mirrors: [String] = []
    @Option(DeviceSetting.ca) var ca: String?
    @Option(DeviceSetting.pin) var pins: [String] = []

    func validate() throws {
        var given = GivenOptions()
        try add(to: &given, authorities: nil)
        _ = try given.settings()
    }

    /// - Parameter authorities: the text of the file that ``ca`` names.
    func add(to given: inout GivenOptions, authorities: String?) throws(ValidationError) {
        try given.take(.option(mirrors), for: .mirror)
        try given.take(.option(pins), for: .pin)
        try given.take(.option(authorities), for: .ca)
    }

    /// The text of the file that ``ca`` names; empty to forget what was set, nil without the option.
    func authorities() throws(Failure) -> String? {
        guard let ca, !ca.isEmpty else { return ca }
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try DiskFiles().read(FilePath(argument: ca), limit: Limits.certificates)
        } catch { throw Failure("\(error)", hint: "--ca wants certificates in PEM.", code: .disk) }
        guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else {
            throw Failure(.fetch(.tls(.noAuthority)))
        }
        return text
    }
}
