import ArgumentParser
import PatchChoice
import PatchFormat
import PatchSync
import PatchTrust
import Terminal

extension EntrySignatures: ExpressibleByArgument {}

/// What rules are judged by: the same options for `init` and `set`.
struct FactOptions: ParsableArguments {
    @Option(name: .long, help: "The version of the app's native part, for rules such as '>=2.1 <3'.")
    var appVersion: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Who uses this device, for rules that name users; never sent (see --answers).",
            valueName: "id"
        )
    )
    var user: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The same from the first line of a file, or of standard input for '-': other users of the machine see command "
                + "lines.",
            valueName: "file"
        )
    )
    var userFile: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Lines as of --data, from a file or for '-' from standard input.", valueName: "file")
    )
    var dataFile: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Something that conditions ask for, such as region=eu; may be repeated.",
            valueName: "key=value"
        )
    )
    var data: [String] = []

    @Option(name: .long, help: ArgumentHelp("What the app's native part is, such as ios.", valueName: "name"))
    var platform: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The hash that bundles must list for this platform, or they are not taken.",
            valueName: "hash"
        )
    )
    var compatibility: String?

    @Option(name: .long, help: "How many selections confirmed before the present one stay on disk, 0 to 10.")
    var keep: Int?

    @Flag(
        inversion: .prefixedNo,
        help: "Ask the server what it chose for this user, who is then told to it by a hash. Default: no."
    )
    var answers: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Ask the server for all metadata in one answer first, which it may not have. Default: yes."
    )
    var express: Bool?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Which signatures stand for a bundle's files: those of each of its entries too, or that of the list entry alone, "
                + "which covers the manifest's digests. Default: required.",
            valueName: "required|manifest"
        )
    )
    var entrySignatures: EntrySignatures?

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Serve pages on a host of the app's own, NAME.localhost, whose cookies reach no other port of this machine. "
                + "Stores are made so; --no-own-host, for web views that resolve no such name, serves them on 127.0.0.1. "
                + "Storage of pages does not move along."
        )
    )
    var ownHost: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Let whoever works on the app run scripts of his own: `patchsync eval` and `console`. Default: no."
    )
    var debug: Bool?

    func validate() throws {
        if user != nil, userFile != nil { throw ValidationError("give one of --user and --user-file") }
        if userFile == "-", dataFile == "-" { throw ValidationError("only one option can read standard input") }
        _ = try changes()
    }

    /// An empty text forgets what was set.
    func changes() throws(ValidationError) -> FactChanges {
        var changes = FactChanges()
        changes.appVersion = try Self.change(appVersion, "--app-version \(AppVersion.rule)") { AppVersion($0) }
        changes.user = try Self.change(user, "--user \(UserID.rule)") { UserID($0) }
        for pair in data { try Self.add(pair, to: &changes) }
        changes.platform = try platformChange()
        if let keep {
            guard SelectionMachine.keepRange.contains(keep) else {
                throw ValidationError("--keep must be from 0 to 10")
            }
            changes.keep = .set(keep)
        }
        if let answers { changes.answers = .set(answers) }
        if let express { changes.express = .set(express) }
        if let entrySignatures { changes.entrySignatures = .set(entrySignatures) }
        if let debug { changes.debug = .set(debug) }
        if let ownHost { changes.host = ownHost ? .set(.make()) : .forget }
        return changes
    }

    /// The same with what stands in files; once, for standard input is read only once.
    func withFiles(_ changes: FactChanges) throws(Failure) -> FactChanges {
        var changes = changes
        let user = try userFile.map { (path) throws(Failure) in
            try SecretFile(option: "--user-file", path: path).line()
        }
        let pairs = try dataFile.map { (path) throws(Failure) in
            try SecretFile(option: "--data-file", path: path).lines()
        }
        do throws(ValidationError) {
            if let user { changes.user = try Self.change(user, "--user-file \(UserID.rule)") { UserID($0) } }
            for pair in pairs ?? [] { try Self.add(pair, to: &changes) }
        } catch { throw Failure(error.message, exitCode: .malformed) }
        return changes
    }

    private static func add(_ pair: String, to changes: inout FactChanges) throws(ValidationError) {
        guard let mark = pair.firstIndex(of: "=") else { throw ValidationError("--data must be KEY=VALUE") }
        guard let key = ConditionKey(String(pair[..<mark])) else {
            throw ValidationError("--data: the key \(ConditionKey.rule)")
        }
        guard let value = ConditionValue(String(pair[pair.index(after: mark)...])) else {
            throw ValidationError("--data: the value of \(key) \(ConditionValue.rule)")
        }
        changes.data[key] = .set(value)
    }

    private func platformChange() throws(ValidationError) -> FactChanges.Change<Platform> {
        switch (platform, compatibility) {
        case (nil, nil): return .keep
        case ("", nil), ("", ""): return .forget
        case (let name?, let compatibility?):
            guard let platform = Platform(name: name, compatibility: compatibility) else {
                throw ValidationError("--platform and --compatibility \(Platform.rule)")
            }
            return .set(platform)
        case (_?, nil), (nil, _?): throw ValidationError("--platform and --compatibility go together")
        }
    }

    private static func change<Value>(
        _ text: String?,
        _ rule: String,
        _ parse: (String) -> Value?
    ) throws(ValidationError) -> FactChanges.Change<Value> {
        guard let text else { return .keep }
        if text.isEmpty { return .forget }
        guard let value = parse(text) else { throw ValidationError(rule) }
        return .set(value)
    }
}
