import ArgumentParser
import CommandKit
import DeviceOutput
import PatchDaemon
import PatchFetch
import PatchFormat
import PatchStore
import PatchSync
import SystemPackage

/// The access to the servers, which is saved in the store.
///
/// Mirrors, authorities and pins are each replaced as a whole. An empty value resets them.
struct ServerOptions: ParsableArguments {
    @Option(DeviceSetting.mirror) var mirrors: [String] = []
    @Option(DeviceSetting.ca) var ca: String?
    @Option(DeviceSetting.pin) var pins: [String] = []

    func validate() throws {
        var given = GivenOptions()
        try add(to: &given, authorities: nil)
        _ = try given.settings()
    }

    /// - Parameter authorities: The text of the file that ``ca`` names.
    func add(to given: inout GivenOptions, authorities: String?) throws(ValidationError) {
        try given.take(.option(mirrors), for: .mirror)
        try given.take(.option(pins), for: .pin)
        try given.take(.option(authorities), for: .ca)
    }

    /// Returns the text of the file that ``ca`` names.
    ///
    /// An empty text resets the setting. Nil if the option is not given.
    func authorities() throws(Failure) -> String? {
        guard let ca, !ca.isEmpty else { return ca }
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try DiskFiles().read(FilePath(argument: ca), limit: Limits.certificates)
        } catch { throw Failure("\(error)", hint: "--ca requires certificates in PEM.", code: .disk) }
        guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else {
            throw Failure(.fetch(.tls(.noAuthority)))
        }
        return text
    }
}
