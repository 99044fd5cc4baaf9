import PatchChoice
import PatchFetch
import PatchFormat
import PatchSync
import PatchCrypto

/// The settings that a store saves: options of `init` and `set`, members of the settings file, and of `PATCH
/// /v1/stores/NAME/settings`.
package enum DeviceSetting: String, Setting {
    case appVersion = "app-version"
    case user
    case data
    case platform
    case compatibility
    case keep
    case reserve
    case answers
    case express
    case entrySignatures = "entry-signatures"
    case mirror
    case pin
    case host
    case ca
    case debug
    case metered
    case allowance
    case limitRate = "limit-rate"
    case consent
    case postponeLimit = "postpone-limit"
    case window
    case windowZone = "window-zone"

    package var form: SettingForm {
        switch self {
        case .appVersion, .user, .platform, .compatibility, .windowZone: .text
        case .data: .table
        case .keep: .count(SelectionMachine.keepRange)
        case .reserve, .allowance: .bytes(0...NetworkUse.most)
        case .limitRate: .bytes(Deadlines.leastRate...NetworkUse.most)
        case .answers, .express, .debug, .metered: .flag
        case .entrySignatures: .choice(["required", "manifest"])
        case .mirror: .list(most: ServerAccess.mirrorsLimit)
        case .pin: .list(most: ServerAccess.pinsLimit)
        case .host: .choice(PagesHost.allCases.map(\.rawValue))
        case .ca: .file
        case .consent: .choice(["automatic", "security", "ask"])
        case .postponeLimit: .time(.zero...UpdatePolicy.longestLimit, bare: nil, canBeOff: false)
        case .window: .list(most: MaintenanceWindows.most)
        }
    }

    package var rule: String {
        switch self {
        case .appVersion: AppVersion.rule
        case .user: PatchFormat.UserID.rule
        case .data: ConditionValue.rule
        case .platform, .compatibility: Platform.rule
        case .keep: "must be from 0 to 10"
        case .reserve, .allowance: "must be from 0B to 1TB, such as 20kB"
        case .limitRate: "must be from 1kB to 1TB, or 0B for no limit"
        case .answers, .express, .debug, .metered: "must be true or false"
        case .entrySignatures: EntrySignatures.rule
        case .mirror: ServerURL.rule
        case .pin: PublicKeyPin.rule
        case .host: PagesHost.rule
        case .ca: "must be a file with certificates in PEM"
        case .consent: Consent.rule
        case .postponeLimit: "must be a length of time of at most 365d, such as 7d, or 0"
        case .window: MaintenanceWindows.Window.rule
        case .windowZone: WindowZone.rule
        }
    }

    /// The path of the member in a request; nil if the local API must not set it.
    package var member: String? {
        switch self {
        case .appVersion: "appVersion"
        case .user: "user"
        case .data: "data"
        case .platform: "platform.name"
        case .compatibility: "platform.compatibility"
        case .keep: "keep"
        case .reserve: "reserve"
        case .answers: "answers"
        case .express: "express"
        case .entrySignatures: "entrySignatures"
        case .mirror: "mirrors"
        case .pin: "pins"
        case .host: "host"
        case .ca: "ca"
        // Programs with access to the socket must not be able to run their own scripts in the app.
        case .debug: nil
        case .metered: "network.metered"
        case .allowance: "network.allowance"
        case .limitRate: "network.limitRate"
        case .consent: "policy.consent"
        case .postponeLimit: "policy.postponeLimit"
        case .window: "policy.windows"
        case .windowZone: "policy.windowZone"
        }
    }

    package var about: SettingHelp {
        switch self {
        case .appVersion:
            SettingHelp("The version of the app's native part, for rules such as '>=2.1 <3'.", "version")
        case .user: SettingHelp("The device's user, for rules that name users. Never sent (see --answers).", "id")
        case .data: SettingHelp("A value for conditions, such as region=eu. Repeatable.", "key=value")
        case .platform: SettingHelp("Platform of the app's native part, such as ios.", "name")
        case .compatibility: SettingHelp("Hash that a bundle must list for this platform to be accepted.", "hash")
        case .keep: SettingHelp("Number of earlier confirmed selections to keep on disk, 0 to 10.", "count")
        case .reserve:
            SettingHelp(
                "Free disk space that downloads must leave, such as 64MB (default: 1 % of the disk, from 16 MB to 256 MB).",
                "bytes"
            )
        case .answers:
            SettingHelp("Ask the server for the version chosen for this user, identified by a hash (default: no).")
        case .express:
            SettingHelp("First ask the server for all metadata in one answer, which some servers lack (default: yes).")
        case .entrySignatures:
            SettingHelp(
                "Signatures to check for a bundle's files: also those of each entry (required, the default), or only that of "
                    + "the list entry, which covers the manifest's digests (manifest).",
                "required|manifest"
            )
        case .mirror: SettingHelp("Another URL of the same tree. Repeatable.", "url")
        case .pin: SettingHelp("A key that the servers may have, sha256/BASE64. Repeatable.", "key")
        case .host:
            SettingHelp(
                "Host name of pages: own (NAME.localhost, the default), whose cookies reach no other port of this machine; "
                    + "localhost, for code that looks for that name; or 127.0.0.1, for web views that cannot resolve "
                    + "NAME.localhost. With the last two, every port of this machine gets the app's cookies. A change loses the "
                    + "pages' storage.",
                "own|localhost|127.0.0.1"
            )
        case .ca: SettingHelp("Authorities to trust for TLS, in place of the system's (PEM; copied).", "file")
        case .debug:
            SettingHelp("Allow app developers to run their own scripts: `patchsync eval` and `console` (default: no).")
        case .metered:
            SettingHelp(
                "This network has a cost: download mandatory versions, and others only within the allowance (default: no)."
            )
        case .allowance:
            SettingHelp(
                "Maximum bytes of non-mandatory downloads in one sync while metered, such as 20kB (default: 0B).",
                "bytes"
            )
        case .limitRate: SettingHelp("Maximum bytes a second in each sync, such as 500kB; 0B for no limit.", "bytes")
        case .consent:
            SettingHelp(
                "Versions that install without approval: all (automatic, the default), those that close a security hole "
                    + "(security), or none (ask).",
                "automatic|security|ask"
            )
        case .postponeLimit:
            SettingHelp(
                "Maximum total delay of `patchsync postpone`, such as 12h or 3d; 0 for none (default: 7d).",
                "time"
            )
        case .window:
            SettingHelp(
                "Hours in which new versions start: 'mon-fri 02:00-04:00', or '02:00-04:00' for every day. Repeatable; '' "
                    + "for any time.",
                "hours"
            )
        case .windowZone:
            SettingHelp(
                "Time zone of these hours: UTC, an offset such as +01:00, a name such as Europe/Berlin, or local for the "
                    + "machine's.",
                "zone"
            )
        }
    }
}
