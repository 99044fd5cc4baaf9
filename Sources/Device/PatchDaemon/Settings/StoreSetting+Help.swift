extension StoreSetting {
    package var about: SettingHelp {
        switch self {
        case .store: SettingHelp("The device's folder.", "dir")
        case .server: SettingHelp("URL of the published tree, without the app.", "url")
        case .root: SettingHelp("The app's root of trust: root.json of `patchsign init`.", "file")
        case .channel: SettingHelp("Channel to follow.", "channel")
        case .serve: SettingHelp("Serve pages. Without it, versions are only downloaded and applied.")
        case .syncEvery:
            SettingHelp(
                "Sync at start and at this interval, such as 15m; a bare number counts seconds. Without it: when a page "
                    + "asks, and until a first version is installed.",
                "time"
            )
        case .noSync: SettingHelp("Never contact a server, not even for a first version.")
        case .parametersEvery:
            SettingHelp(
                "Update online parameters at this interval, if syncs are less frequent; 0 for only with a sync (default: "
                    + "30m).",
                "time"
            )
        case .deadline:
            SettingHelp("Time limit of a whole sync. Data downloaded until then is kept (default: 6h).", "time")
        case .stallTimeout: SettingHelp("Time limit for a server that sends nothing (default: 30s).", "time")
        case .retries: SettingHelp("Number of retries after a network failure without progress (default: 4).", "count")
        case .port: SettingHelp("Port; 0 takes any free one (default: the app's own).", "port")
        case .bundle: SettingHelp("Bundle to serve, if there are several.", "patch")
        case .appBuild: SettingHelp("The app's build. A new build starts over from its embedded files.", "build")
        case .startupTimeout:
            SettingHelp(
                "Time for a new version to confirm, such as 30s; a bare number counts milliseconds (default: 20s).",
                "time"
            )
        case .startupTimer:
            SettingHelp(
                "Start of the startup timeout, and of a launch that counts: the first visible page of the new version (page, "
                    + "the default) or the launch (launch).",
                "page|launch"
            )
        case .urlFile: SettingHelp("Write the URL into this file, mode 0600, instead of printing it.", "file")
        case .printURL: SettingHelp("Print the URL even if the output is a systemd journal.")
        case .www: SettingHelp("The app's own folder, searched after the bundle.", "dir")
        case .localFiles: SettingHelp("Folder to serve under /local-filesystem/ (default: none).", "dir")
        case .uploads:
            SettingHelp(
                "Folder under /__patchline/uploads/ whose files clients with the token can list, download, add, move and "
                    + "delete (default: none).",
                "dir"
            )
        case .open: SettingHelp("Allow every program on this machine, without the access token.")
        case .origin:
            SettingHelp(
                "Another origin whose pages may send requests and read answers (CORS). Repeatable.",
                "http://host:port"
            )
        case .header:
            SettingHelp(
                "Field of every answer, in place of the default; 'Name:' removes it. Repeatable.",
                "name: value"
            )
        case .charset: SettingHelp("Charset of text files (default: stated by the files themselves).", "charset")
        case .type: SettingHelp("Type of files with this extension. Repeatable.", "ext=type")
        case .dialect:
            SettingHelp(
                "Rules for answers: HTTP's (rfc9110, the default), or those of GCDWebServer for its clients (gcdwebserver), "
                    + "which closes every connection.",
                "name"
            )
        case .proxy:
            SettingHelp(
                "Forward requests for these paths to a server. Repeatable. Several servers, separated by ',', are tried in "
                    + "this order.",
                "pattern=url"
            )
        case .proxies:
            SettingHelp(
                "JSON file with more such rules, applied after these. A rule can store its pages on the device.",
                "file"
            )
        case .proxyCA:
            SettingHelp("Authorities to trust for the servers of --proxy, in place of the system's (PEM).", "file")
        case .proxyTimeout:
            SettingHelp(
                "Time without progress after which such a server's request ends with 504 (default: 60s).",
                "time"
            )
        }
    }
}
