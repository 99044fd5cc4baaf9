import APIProxy
import PatchFetch
import PatchFormat

/// The settings with which a process serves a store: options of `serve`, and members of the settings file.
package enum StoreSetting: String, Setting {
    case store
    case server
    case root
    case channel
    case serve
    case syncEvery = "sync-every"
    case noSync = "no-sync"
    case parametersEvery = "parameters-every"
    case deadline
    case stallTimeout = "stall-timeout"
    case retries
    case port
    case bundle
    case appBuild = "app-build"
    case startupTimeout = "startup-timeout"
    case startupTimer = "startup-timer"
    case urlFile = "url-file"
    case printURL = "print-url"
    case www
    case localFiles = "local-files"
    case uploads
    case open
    case origin
    case header
    case charset
    case type
    case dialect
    case proxy
    case proxies
    case proxyCA = "proxy-ca"
    case proxyTimeout = "proxy-timeout"

    /// The largest number of origins, fields or types.
    static let most = 100

    package var form: SettingForm {
        switch self {
        case .store, .root, .urlFile, .www, .localFiles, .uploads, .proxies, .proxyCA: .path
        case .server, .channel, .bundle, .appBuild, .charset: .text
        case .serve, .noSync, .printURL, .open: .flag
        case .syncEvery: .time(.seconds(1)...Self.year, bare: .seconds, canBeOff: true)
        case .parametersEvery: .time(.zero...Self.year, bare: .seconds, canBeOff: true)
        case .deadline: .time(.seconds(1)...Self.year, bare: .seconds, canBeOff: false)
        case .stallTimeout: .time(.milliseconds(1)...Self.hour, bare: .seconds, canBeOff: false)
        case .retries: .count(0...1_000)
        case .port: .count(0...65_535)
        case .startupTimeout: .time(.milliseconds(1)...Self.hour, bare: .milliseconds, canBeOff: false)
        case .startupTimer: .choice(["page", "launch"])
        case .origin, .header, .type: .list(most: Self.most)
        case .proxy: .list(most: ProxyRules.maxRules)
        case .dialect: .choice(["rfc9110", "gcdwebserver"])
        case .proxyTimeout: .time(.seconds(1)...Self.hour, bare: .seconds, canBeOff: false)
        }
    }

    private static let hour = Duration.seconds(3_600)
    private static let year = Duration.seconds(31_536_000)

    package var rule: String {
        switch self {
        case .store, .root, .urlFile, .www, .localFiles, .uploads, .proxies, .proxyCA: "must be a path from / on"
        case .server: ServerURL.rule
        case .channel: ChannelName.rule
        case .bundle: PatchID.rule
        case .appBuild: AppBuild.rule
        case .serve, .noSync, .printURL, .open: "must be true or false"
        case .syncEvery: "must be a length of time such as 15m or 1h, or off"
        case .parametersEvery: "must be a length of time such as 30m, or off"
        case .deadline: "must be a length of time from 1s to 365d, such as 6h"
        case .stallTimeout: "must be a length of time from 1ms to 1h, such as 30s"
        case .retries: "must be from 0 to 1000"
        case .port: "must be from 0 to 65535"
        case .startupTimeout: "must be a length of time from 1ms to 1h, such as 20s"
        case .startupTimer: "must be page or launch"
        case .origin: "must be http:// or https://, a host and at most a port"
        case .header: "must be 'Name: value'"
        case .charset: "must be a name, as utf-8"
        case .type: "must be EXT=TYPE/SUBTYPE"
        case .dialect: "must be rfc9110 or gcdwebserver"
        case .proxy: "must be PATTERN=URL, as in '/api/.*=https://api.example.com'"
        case .proxyTimeout: "must be a length of time from 1s to 1h, such as 60s"
        }
    }
}
