import ArgumentParser
import CommandKit
import PatchFormat
import PatchStore
import ReleaseClient
import SystemPackage

/// The release service and the caller's token.
struct ServerOptions: ParsableArguments {
    static let serverVariable = "PATCHLINE_SERVER"
    /// The placeholder for the file of an operator's token.
    static let operatorToken = "OPERATOR_TOKEN"

    @Option(
        help: ArgumentHelp(
            "The server, such as https://patches.example.com. Default: the value of \(serverVariable).",
            valueName: "url"
        )
    )
    var server: String?

    @Option(
        help: ArgumentHelp(
            "A file with the token, or -. Default: the value of \(TokenReading.variable).",
            valueName: "file"
        )
    )
    var tokenFile: String?

    @Option(
        name: .customLong("ca"),
        help: ArgumentHelp(
            "The certificate authority of the server, in PEM, instead of the system's.",
            valueName: "file"
        )
    )
    var authorities: String?

    @Flag(name: .customLong("insecure-http"), help: "Send the token without TLS to another machine too.")
    var insecureHTTP = false

    @Option(help: ArgumentHelp("How often a failed request is repeated, with growing delays.", valueName: "count"))
    var retries = 7

    func validate() throws {
        if let server, ServerURL(server) == nil { throw ValidationError("--server \(ServerURL.rule)") }
        guard (0...100).contains(retries) else { throw ValidationError("--retries must be 0 to 100") }
    }

    /// Runs `work` with the service, using the token.
    ///
    /// - Parameter longestDeadline: An upper bound for the deadline of each request; nil for none.
    func asking<Value: Sendable>(
        longestDeadline: Duration? = nil,
        _ work: (ServiceClient) async throws(ServiceError) -> Value
    ) async throws(Failure) -> Value {
        let server = try url()
        var settings = try settings()
        settings.longestDeadline = longestDeadline
        let token = try TokenReading.token(file: tokenFile, limit: ServiceToken.fileLimit) { ServiceToken($0) }
        do throws(ServiceError) {
            return try await ServiceClient.with(server, token: token, settings, work)
        } catch { throw Failure(error) }
    }

    /// Runs `work` with the published releases: from the release service if there is a token, else from the tree itself, as
    /// devices read it.
    ///
    /// The devices' port and a static host need no token, and it is not sent there without TLS.
    func reading<Value: Sendable>(
        _ work: (ServiceClient, PublishedTree.Place) async throws(ServiceError) -> Value
    ) async throws(Failure) -> Value {
        let (server, settings) = (try url(), try settings())
        var refusal: ServiceError?
        if hasToken {
            let token = try TokenReading.token(file: tokenFile, limit: ServiceToken.fileLimit) { ServiceToken($0) }
            do throws(ServiceError) {
                return try await ServiceClient.with(server, token: token, settings) { client throws(ServiceError) in
                    try await work(client, .service)
                }
            } catch .problem(let problem) where problem.status == 404 && problem.kind == "http" {
                // Not a release service: the tree may still be there, as on a server's port for devices.
            } catch .notEncrypted(let host) {
                refusal = .notEncrypted(host: host)
            } catch { throw Failure(error) }
        }
        do throws(ServiceError) {
            return try await ServiceClient.with(server, token: nil, settings) { client throws(ServiceError) in
                try await work(client, .files)
            }
        } catch .problem(let problem) where problem.kind == "noTree" {
            throw Failure(refusal ?? .problem(problem))
        } catch { throw Failure(error) }
    }

    /// Whether an option or the environment names a server.
    var isNamed: Bool { server != nil || ProcessEnvironment.environment(Self.serverVariable)?.isEmpty == false }

    private var hasToken: Bool {
        tokenFile != nil || ProcessEnvironment.environment(TokenReading.variable)?.isEmpty == false
    }

    private func settings() throws(Failure) -> ServiceClient.Settings {
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
        return settings
    }

    /// The options for the same server in another command, with a leading space.
    ///
    /// A server from the environment is omitted, and `FILE` replaces the token's file, because each user has their own.
    var words: String {
        let named = [("--server", server), ("--ca", authorities)].compactMap { option, value in
            value.map { " \(option) \(shellWord($0))" }
        }
        return named.joined() + (tokenFile == nil ? "" : " --token-file FILE")
            + (insecureHTTP ? " --insecure-http" : "")
    }

    /// The options for the same server in a `patchsrv` command that is pasted here, with a leading space.
    ///
    /// `patchsrv` does not read `PATCHLINE_SERVER`, and the token's file is this user's.
    ///
    /// - Parameter withOwnToken: Whether this user's token suffices. Otherwise a placeholder replaces its file.
    func operatorWords(withOwnToken: Bool) -> String {
        let url = try? url()
        let named = [
            ("--server", url.map { "\($0)" }), ("--ca", authorities),
            ("--token-file", withOwnToken ? tokenFile : Self.operatorToken),
        ].compactMap { option, value in value.map { " \(option) \(shellWord($0))" } }
        return named.joined() + (insecureHTTP ? " --insecure-http" : "")
    }

    func url() throws(Failure) -> ServerURL {
        guard let text = server ?? ProcessEnvironment.environment(Self.serverVariable) else {
            throw Failure(
                "there is no server",
                hint: "name it with --server, or set \(Self.serverVariable)",
                code: .usage
            )
        }
        guard let url = ServerURL(text) else {
            throw Failure("\(Self.serverVariable) \(ServerURL.rule)", code: .usage)
        }
        return url
    }

    private static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        do throws(FileError) { return try DiskFiles().read(FilePath(argument: path), limit: limit) } catch {
            throw Failure(error.description, code: .disk)
        }
    }
}
