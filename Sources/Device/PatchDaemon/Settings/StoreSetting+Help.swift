extension StoreSetting {
    package var about: SettingHelp {
        switch self {
        case .store: SettingHelp("The device's folder.", "dir")
        case .server: SettingHelp("Where the published tree is served, without the app.", "url")
        case .root: SettingHelp("The app's root of trust, root.json of `patchsign init`.", "file")
        case .channel: SettingHelp("The channel to follow.", "channel")
        case .serve: SettingHelp("Serve pages; without them versions are only downloaded and applied.")
        case .syncEvery:
            SettingHelp(
                "Look for new versions at the start and then so often, such as 15m; a bare number counts seconds. Without it: "
                    + "when a page asks, and until there is a first version.",
                "time"
            )
        case .noSync: SettingHelp("Never ask a server, not even for a first version.")
        case .parametersEvery:
            SettingHelp(
                "Look for online parameters so often, where syncs come less often; 0 for only with a sync (default: 30m).",
                "time"
            )
        case .deadline:
            SettingHelp("A whole sync, at most; what came until then is kept (default: 6h).", "time")
        case .stallTimeout: SettingHelp("How long a server may send nothing (default: 30s).", "time")
        case .retries:
            SettingHelp("How often more to try when the network is at fault and nothing comes (default: 4).", "count")
        case .port: SettingHelp("Another port than the app's own; 0 takes any free one.", "port")
        case .bundle: SettingHelp("Which bundle to serve, where there are several.", "patch")
        case .appBuild:
            SettingHelp(
                "The build of the app that runs now. Another one than before starts over from what it ships.",
                "build"
            )
        case .startupTimeout:
            SettingHelp(
                "How long a new version has to confirm, such as 20s, which is the default; a bare number counts milliseconds.",
                "time"
            )
        case .startupTimer:
            SettingHelp(
                "From when on that time goes and a launch counts: the first page of the new version that is shown (page, the "
                    + "default), or the launch (launch).",
                "page|launch"
            )
        case .urlFile: SettingHelp("Write the URL into this file, mode 0600, and do not print it.", "file")
        case .printURL: SettingHelp("Print the URL also where the output is a systemd journal.")
        case .www: SettingHelp("The app's own folder, asked after the bundle.", "dir")
        case .localFiles: SettingHelp("A folder served under /local-filesystem/; none without it.", "dir")
        case .uploads:
            SettingHelp(
                "A folder whose files who has the token may list, fetch, add, move and delete, under /__patchline/uploads/; none "
                    + "without it.",
                "dir"
            )
        case .open: SettingHelp("Let every program on this machine in, without the access token.")
        case .origin:
            SettingHelp(
                "Another origin whose pages may ask and read (CORS); may stand several times.",
                "http://host:port"
            )
        case .header:
            SettingHelp(
                "A field of every answer, over the default; 'Name:' drops it. May stand several times.",
                "name: value"
            )
        case .charset: SettingHelp("Name this charset for text; without it the files say it themselves.", "charset")
        case .type: SettingHelp("The type of files with this ending; may stand several times.", "ext=type")
        case .dialect:
            SettingHelp(
                "Whose rules answers follow: HTTP's (rfc9110, the default), or for clients that were made for it GCDWebServer's "
                    + "(gcdwebserver), which keeps no connection open.",
                "name"
            )
        case .proxy:
            SettingHelp(
                "Pass requests for these paths on to a server; may stand several times. Several servers, joined by ',', are asked in this order.",
                "pattern=url"
            )
        case .proxies:
            SettingHelp(
                "A file with more such rules, in JSON; they come after. A rule of it may keep its pages on the device.",
                "file"
            )
        case .proxyCA:
            SettingHelp("Trust these authorities for the servers behind --proxy, and not the system's (PEM).", "file")
        case .proxyTimeout: SettingHelp("How long such a server may stand still; then 504 (default: 60s).", "time")
        }
    }
}
