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
            SettingHelp("The version of the app's native part, for rules such as '>=2.1 <3'.", "app-version")
        case .user: SettingHelp("Who uses this device, for rules that name users; never sent (see --answers).", "id")
        case .data: SettingHelp("Something that conditions ask for, such as region=eu; may be repeated.", "key=value")
        case .platform: SettingHelp("What the app's native part is, such as ios.", "name")
        case .compatibility:
            SettingHelp("The hash that bundles must list for this platform, or they are not taken.", "hash")
        case .keep:
            SettingHelp("How many selections confirmed before the present one stay on disk, 0 to 10.", "keep")
        case .reserve:
            SettingHelp(
                "Refuse a download that leaves less than this free on the disk, such as 64MB (default: 1 % of the disk, from 16 MB "
                    + "to 256 MB).",
                "bytes"
            )
        case .answers:
            SettingHelp("Ask the server what it chose for this user, who is then told to it by a hash. Default: no.")
        case .express:
            SettingHelp("Ask the server for all metadata in one answer first, which it may not have. Default: yes.")
        case .entrySignatures:
            SettingHelp(
                "Which signatures stand for a bundle's files: those of each of its entries too, or that of the list entry alone, "
                    + "which covers the manifest's digests. Default: required.",
                "required|manifest"
            )
        case .mirror: SettingHelp("Another place with the same tree; may stand several times.", "url")
        case .pin: SettingHelp("A key that the servers may have, sha256/BASE64; may stand several times.", "key")
        case .host:
            SettingHelp(
                "The name under which pages are served: own, NAME.localhost, whose cookies reach no other port of this machine "
                    + "(default); localhost, for code that looks for that name; or 127.0.0.1, for web views that resolve no such "
                    + "name. With the last two every port of this machine gets the app's cookies. Storage of pages does not move "
                    + "along.",
                "own|localhost|127.0.0.1"
            )
        case .ca: SettingHelp("Trust these authorities for TLS, and not the system's (PEM; copied).", "file")
        case .debug:
            SettingHelp(
                "Let whoever works on the app run scripts of his own: `patchsync eval` and `console`. Default: no."
            )
        case .metered:
            SettingHelp(
                "Bytes cost something here: fetch what is mandatory, and else what fits into the allowance. Default: no."
            )
        case .allowance:
            SettingHelp(
                "While metered, fetch so much of what is not mandatory in one sync, such as 20kB (default: 0B).",
                "bytes"
            )
        case .limitRate:
            SettingHelp(
                "The most that comes a second in each sync, such as 500kB; 0B for as fast as it comes.",
                "bytes"
            )
        case .consent:
            SettingHelp(
                "Which new versions come without asking: automatic (all), security (those that close a security hole), ask "
                    + "(none).",
                "which"
            )
        case .postponeLimit:
            SettingHelp(
                "How long `patchsync postpone` may put off what is new, in a row: 3d, 12h, or 0 for not at all (default: 7d).",
                "time"
            )
        case .window:
            SettingHelp(
                "New versions start in these hours only: 'mon-fri 02:00-04:00', or '02:00-04:00' for every day. Repeat it for several; '' for any time.",
                "hours"
            )
        case .windowZone:
            SettingHelp(
                "The clock of these hours: UTC, an offset such as +01:00, a time zone such as Europe/Berlin, or local for the machine's.",
                "zone"
            )
        }
    }
}
