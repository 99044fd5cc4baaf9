import PatchFormat
import ArgumentParser
import PatchDaemon
import CommandKit

/// The facts for rules: the same options for `init` and `set`.
struct FactOptions: ParsableArguments {
    @Option(DeviceSetting.appVersion) var appVersion: String?
    @Option(DeviceSetting.user) var user: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "File whose first line is the user, or - for standard input. Other users of the machine can see command lines.",
            valueName: "file"
        )
    )
    var userFile: String?

    @Option(
        name: .long,
        help: ArgumentHelp("File with a --data value on each line, or - for standard input.", valueName: "file")
    )
    var dataFile: String?

    @Option(DeviceSetting.data) var data: [String] = []
    @Option(DeviceSetting.platform) var platform: String?
    @Option(DeviceSetting.compatibility) var compatibility: String?
    @Option(DeviceSetting.keep) var keep: String?
    @Flag(DeviceSetting.answers) var answers: Bool?
    @Flag(DeviceSetting.express) var express: Bool?
    @Option(DeviceSetting.entrySignatures) var entrySignatures: String?
    @Option(DeviceSetting.host) var host: String?

    /// The option that preceded `--host`.
    @Flag(inversion: .prefixedNo, help: .hidden)
    var ownHost: Bool?

    @Flag(DeviceSetting.debug) var debug: Bool?

    func validate() throws {
        if user != nil, userFile != nil { throw ValidationError("give one of --user and --user-file") }
        if userFile == "-", dataFile == "-" { throw ValidationError("only one option can read standard input") }
        if host != nil, ownHost != nil {
            throw ValidationError("give one of --host, --own-host and --no-own-host")
        }
        var given = GivenOptions()
        try add(to: &given)
        _ = try given.settings()
    }

    /// - Parameter unset: The keys of the data to remove.
    func add(to given: inout GivenOptions, unset: [String] = []) throws(ValidationError) {
        try given.take(.option(appVersion), for: .appVersion)
        try given.take(.option(user), for: .user)
        try given.take(try table(unset), for: .data)
        try given.take(.option(platform), for: .platform)
        try given.take(.option(compatibility), for: .compatibility)
        try given.take(.option(keep), for: .keep)
        try given.take(.option(answers), for: .answers)
        try given.take(.option(express), for: .express)
        try given.take(.option(entrySignatures), for: .entrySignatures)
        try given.take(.option(host ?? ownHost.map { $0 ? "own" : "127.0.0.1" }), for: .host)
        try given.take(.option(debug), for: .debug)
    }

    /// Returns these options with the contents of files.
    ///
    /// Call it once, because standard input can be read only once.
    func withFiles() throws(Failure) -> FactOptions {
        var options = self
        if let userFile { options.user = try SecretFile(option: "--user-file", path: userFile).line() }
        if let dataFile { options.data += try SecretFile(option: "--data-file", path: dataFile).lines() }
        return options
    }

    /// Returns the fault in the words of the given option, if a file was read for another option.
    func named(_ fault: ValidationError) -> String {
        var text = fault.message
        for (option, file) in [("--user", userFile), ("--data", dataFile)] {
            if file != nil, text.hasPrefix("\(option) ") { text = "\(option)-file" + text.dropFirst(option.count) }
        }
        return text
    }

    private func table(_ unset: [String]) throws(ValidationError) -> GivenSetting? {
        var table: [String: String?] = [:]
        for pair in data {
            guard let mark = pair.firstIndex(of: "=") else { throw ValidationError("--data must be KEY=VALUE") }
            table[String(pair[..<mark])] = .some(String(pair[pair.index(after: mark)...]))
        }
        for key in unset { table[key] = .some(nil) }
        return table.isEmpty ? nil : .table(table)
    }
}

/// The settings of a device that options give.
struct GivenOptions {
    private var values: [DeviceSetting: SettingValue] = [:]

    /// - Parameter given: The value, or nil if the option is not given.
    mutating func take(_ given: GivenSetting?, for setting: DeviceSetting) throws(ValidationError) {
        guard let given else { return }
        values[setting] = try setting.value(given)
    }

    func settings() throws(ValidationError) -> DeviceSettings {
        do throws(NamedSettingFault) { return try DeviceSettings(values) } catch {
            throw ValidationError(error.fault.words("--\(error.setting.name)"))
        }
    }
}
