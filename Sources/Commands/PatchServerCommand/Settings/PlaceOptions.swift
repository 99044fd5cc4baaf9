import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import ReleaseClient
import SystemPackage

/// The server to which a command applies: a folder on this machine, or a service over HTTP.
struct PlaceOptions: ParsableArguments {
    static let retries = 0...100
    static let retriesRule = "must be from 0 to 100"

    @Option(help: ArgumentHelp("The server's folder (or PATCHSRV_DATA).", valueName: "dir"))
    var data: String?

    @Option(
        help: ArgumentHelp(
            "URL of a running server, in place of the folder: https://patches.example.com (or PATCHSRV_SERVER).",
            valueName: "url"
        )
    )
    var server: String?

    @Option(
        help: ArgumentHelp(
            "With --server: file with the token's text, or - (default: the value of \(TokenReading.variable)).",
            valueName: "file"
        )
    )
    var tokenFile: String?

    @Option(
        name: .customLong("ca"),
        help: ArgumentHelp("With --server: authority to trust, in place of the system's (PEM).", valueName: "file")
    )
    var authorities: String?

    @Flag(
        name: .customLong("insecure-http"),
        help: "With --server: send the token without TLS, also to another machine."
    )
    var insecureHTTP = false

    @Option(
        help: ArgumentHelp(
            "With --server: number of retries of a failed request, 0 to 100.",
            valueName: "number"
        )
    )
    var retries = 2

    @OptionGroup var settings: SettingsFileOption

    var isNamed: Bool { data != nil || server != nil }

    func validate() throws {
        guard Self.retries.contains(retries) else { throw ValidationError("--retries \(Self.retriesRule)") }
        switch (data, server) {
        // The commands themselves report which options are missing.
        case (nil, nil): break
        case (_?, _?): throw ValidationError("--data and --server name two servers; one of them is enough")
        case (nil, let server?) where ServerURL(server) == nil: throw ValidationError("--server \(ServerURL.rule)")
        case (nil, _?), (_?, nil): break
        }
    }

    /// The folder, if the server is on this machine.
    var folder: ServerFolder { ServerFolder(FilePath(argument: data ?? "")) }

    /// Runs `here` for a folder on this machine, or `there` for a service, with the rights of the token.
    func asking<Value: Sendable>(
        here: () async throws -> Value,
        there: (ServiceClient) async throws -> Value
    ) async throws -> Value {
        guard isNamed else { throw ValidationError("--data is needed, or --server for one on another machine") }
        guard let server = server.flatMap({ ServerURL($0) }) else { return try await here() }
        var settings = ServiceClient.Settings()
        settings.agent = "patchsrv"
        settings.retries = retries
        settings.allowsPlainHTTP = insecureHTTP
        settings.authorities = try authorities.map {
            try DiskFiles().read(FilePath(argument: $0).followingLinks, limit: Limits.certificates)
        }
        settings.notice = { error, wait in
            let seconds = max(1, wait.components.seconds)
            Console.standardError.line(printable("\(error); trying again in \(seconds) s"))
        }
        let token = try TokenReading.token(file: tokenFile, limit: ServiceToken.fileLimit) { ServiceToken($0) }
        let result = try await ServiceClient.with(server, token: token, settings) {
            client throws(ServiceError) -> Result<Value, any Error> in
            do { return .success(try await there(client)) } catch let error as ServiceError { throw error } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
