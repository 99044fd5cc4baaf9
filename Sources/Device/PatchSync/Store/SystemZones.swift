package import PatchChoice
import PatchFormat
import PatchStore
package import SystemPackage

/// The time zones of this machine: the files of the tzdata package and `/etc/localtime`.
package struct SystemZones: Sendable {
    package static let standardFolder: FilePath = "/usr/share/zoneinfo"
    package static let standardLocal: FilePath = "/etc/localtime"

    private let folder: FilePath
    private let localFile: FilePath

    package init(folder: FilePath = standardFolder, local: FilePath = standardLocal) {
        (self.folder, localFile) = (folder, local)
    }

    /// Reads a zone's rules again, because a package update may have changed them.
    ///
    /// An unreadable zone is an error. No other zone replaces it.
    package func rules(of zone: WindowZone) throws(ZoneFault) -> TimeZoneRules {
        if let rules = zone.fixedRules { return rules }
        let path = if case .named(let name) = zone { folder.appending(name.text) } else { localFile }
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try DiskFiles().readOfSystem(path, limit: TimeZoneRules.longestFile)
        } catch {
            guard case .notFound = error else { throw .unreadable(zone, "\(error)") }
            if case .local = zone { throw .noLocalZone(path) }
            let database = (try? DiskFiles().status(of: folder)) ?? nil
            throw database == nil ? .noDatabase(folder) : .unknown(zone, folder)
        }
        do throws(FormatError) { return try TimeZoneRules(tzif: bytes, named: path.string) } catch {
            throw .unreadable(zone, error.description)
        }
    }
}

/// Why a time zone cannot be used on this machine.
package enum ZoneFault: Error, Equatable, Sendable {
    case unknown(WindowZone, FilePath)
    case noDatabase(FilePath)
    case noLocalZone(FilePath)
    case unreadable(WindowZone, String)

    package var hint: String {
        switch self {
        case .unknown: "zones are named as in `timedatectl list-timezones`: Europe/Berlin, America/New_York"
        case .noDatabase: "install the package tzdata, or name an offset such as +01:00"
        case .noLocalZone:
            "set the machine's zone with `timedatectl set-timezone`, or name a zone such as Europe/Berlin"
        case .unreadable: "install the package tzdata again, or name an offset such as +01:00"
        }
    }
}

extension ZoneFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknown(let zone, let folder): "there is no time zone \(zone) in \(folder)"
        case .noDatabase(let folder): "this machine has no time zones: \(folder) does not exist"
        case .noLocalZone(let path): "this machine has no time zone of its own: \(path) does not exist"
        case .unreadable(let zone, let why): "the time zone \(zone) cannot be read: \(why)"
        }
    }
}
