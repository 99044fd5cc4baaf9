import ArgumentParser
import CommandSupport
import PatchFormat
import PatchStore
import ReleaseClient
import SystemPackage
import Terminal

/// Which release service is asked, and who asks.
struct ServerOptions: ParsableArguments {
    static let tokenVariable = "PATCHLINE_TOKEN"

    @Option(help: ArgumentHelp("The server: https://patches.example.com.", valueName: "url"))
    var server: String

    @Option(
        help: ArgumentHelp(
            "The file with the token's text. Default: the value of \(tokenVariable).",
            valueName: "file"
        )
    )
    var tokenFile: String?

    @Option(
        name: .customLong("ca"),
        help: ArgumentHelp(
            "The authority, in PEM, that vouches for the server in place of the system's.",
            valueName: "file"
        )
    )
    var authorities: String?

    @Flag(name: .customLong("insecure-http"), help: "Send the token without TLS to another machine, too.")
    var insecureHTTP = false

    @Option(help: ArgumentHelp("How often more a failed request is made, with growing waits.", valueName: "count"))
    var retries = 7

    func validate() throws {
        guard ServerURL(server) != nil else { throw ValidationError("--server \(ServerURL.rule)") }
        guard (0...100).contains(retries) else { throw ValidationError("--retries must be 0 to 100") }
    }

    /// Runs `work` with the service, as whoever the token says.
    func asking<Value: Sendable>(
        _ work: (ServiceClient) async throws(ServiceError) -> Value
    ) async throws(Failure) -> Value {
        guard let server = ServerURL(server) else { preconditionFailure("validated before") }
        var settings = ServiceClient.Settings()
        settings.allowsPlainHTTP = insecureHTTP
        settings.retries = retries
        settings.authorities = try authorities.map { (path) throws(Failure) in
            try Self.read(path, limit: Limits.certificates)
        }
        settings.notice = { error, wait in
            let seconds = max(1, wait.components.seconds)
            Console.standardError.line(printable("\(error); trying again in \(seconds) s"))
        }
        let token = try token()
        do throws(ServiceError) {
            return try await ServiceClient.with(server, token: token, settings, work)
        } catch { throw Failure(error) }
    }

    private func token() throws(Failure) -> ServiceToken {
        let (text, place): (String, String)
        if let tokenFile {
            let bytes = try Self.read(tokenFile, limit: ServiceToken.fileLimit)
            (text, place) = (String(decoding: bytes, as: UTF8.self), tokenFile)
        } else if let value = Surroundings.environment(Self.tokenVariable) {
            (text, place) = (value, Self.tokenVariable)
        } else {
            throw Failure(
                "there is no token",
                hint: "name its file with --token-file, or set \(Self.tokenVariable); `patchsrv token new` makes one",
                exitCode: .usage
            )
        }
        guard let token = ServiceToken(text) else {
            throw Failure("\(place) holds no token: it \(TokenText.rule)", exitCode: .malformed)
        }
        return token
    }

    private static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        do throws(FileError) { return try DiskFiles().read(FilePath(argument: path), limit: limit) } catch {
            throw Failure(error.description, exitCode: .disk)
        }
    }
}
