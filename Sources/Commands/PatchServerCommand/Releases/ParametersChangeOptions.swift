import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchTrust
import ReleaseClient
import ReleaseService
import ServerRecords

/// The options of a change.
struct ParametersChangeOptions: ParsableArguments {
    @OptionGroup var place: ChannelOptions

    @Option(
        help: ArgumentHelp("Fail unless the parameters still have this tag.", valueName: "tag"),
        transform: { text in
            guard let tag = SHA256Digest(hex: text) else {
                throw ValidationError("--expect must be the tag that `patchsrv parameters show` prints")
            }
            return tag
        }
    )
    var expect: SHA256Digest?

    @OptionGroup var passphrase: KeyOptions

    func carryOut(_ change: ParametersChange) async throws {
        let answer = try await place.answer {
            let repository = try place.repository
            let key = try passphrase.key(at: repository.onlineKeyFile)
            let operations = try place.folder.operations(key)
            return try await ChangeParameters(
                change,
                in: place.channel,
                of: repository.app,
                expecting: expect,
                by: .here,
                operations
            ).run().json
        } there: { service, path in
            try await Self.replace(change, on: service, "\(path)/parameters", expect)
        }
        place.show(answer) { answer.writeParameters(to: $0) }
    }

    /// Replaces all parameters, because the service has no smaller change.
    ///
    /// The tag prevents the loss of another operator's change.
    private static func replace(
        _ change: ParametersChange,
        on service: ServiceClient,
        _ path: String,
        _ tag: SHA256Digest?
    ) async throws -> JSON {
        var (values, expected) = ([ParameterName: ParameterValue](), tag?.hex)
        if !change.isWhole {
            let now = try await service.look(path)
            values = try [ParameterName: ParameterValue](now["parameters"] ?? .null, of: "the server's answer")
            expected = expected ?? now.words("tag")
        }
        return try await service.change(
            .put,
            path,
            .fields([("parameters", change.applied(to: values).json), ("expect", expected.map { .text($0) })])
        )
    }
}

extension JSON {
    /// Writes a channel's parameters, after the outcome of a change.
    func writeParameters(to console: Console) {
        switch words("outcome") {
        case "changed": console.line("parameters updated (timestamp \(words("timestamp")), until \(words("expires")))")
        case "unchanged": console.line("already set; nothing was changed")
        default: break
        }
        console.line("\(words("app")) \(words("channel")), tag \(words("tag"))")
        let rows = (self["parameters"]?.object?.members ?? []).sorted { $0.key < $1.key }
        guard !rows.isEmpty else { return console.line("no parameters") }
        var table = Table(["name", "type", "value"])
        for row in rows {
            guard let value = ParameterValue(row.value) else { continue }
            table.add([
                Table.Cell(printable(row.key.text)), Table.Cell(value.typeName), Table.Cell(printable(value.words)),
            ])
        }
        table.write(to: console)
    }
}
