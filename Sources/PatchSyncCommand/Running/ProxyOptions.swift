import APIProxy
import ArgumentParser
import AssetServer
import CommandSupport
import PatchFetch
import PatchFormat
import PatchStore
import SystemPackage
import Terminal

/// Which requests of the pages go on to other servers.
struct ProxyOptions: ParsableArguments {
    static let discussion = """
        --proxy '/api/.*=https://api.example.com' sends every path that the regular expression matches as a whole on to that
        server, under the same path; with a path in the URL, even just /, that path takes the place of /api. The first rule
        that matches counts; files of the bundle come before all rules, client-side routes after.
        """

    @Option(
        name: .customLong("proxy"),
        help: ArgumentHelp(
            "Pass requests for these paths on to a server; may stand several times. Several servers, joined by ',', are asked in this order.",
            valueName: "pattern=url"
        )
    )
    var rules: [String] = []

    @Option(
        name: .customLong("proxies"),
        help: ArgumentHelp(
            "A file with more such rules, in JSON; they come after. A rule of it may keep its pages on the device.",
            valueName: "file"
        )
    )
    var file: String?

    @Option(
        name: .customLong("proxy-ca"),
        help: ArgumentHelp(
            "Trust these authorities for the servers behind --proxy, and not the system's (PEM).",
            valueName: "file"
        )
    )
    var authorities: String?

    @Option(
        name: .customLong("proxy-timeout"),
        help: ArgumentHelp("How long such a server may stand still; then 504. 60 if nothing is said.", valueName: "s")
    )
    var timeout: Int?

    func validate() throws {
        for text in rules {
            do throws(ProxyRuleError) { _ = try ProxyRule(argument: text) } catch {
                throw ValidationError("--proxy '\(text)' \(error)")
            }
        }
        if let timeout, !ProxyFile.timeouts.contains(timeout) {
            throw ValidationError("--proxy-timeout must be from 1 to 3600 seconds")
        }
    }

    /// Nil when no rule is given.
    func settings() throws(Failure) -> APIProxy.Settings? {
        let file = try file.map { path throws(Failure) in try Self.read(path) }
        let own = rules.compactMap { try? ProxyRule(argument: $0) }
        guard !own.isEmpty || file?.rules.isEmpty == false else { return nil }
        let pem = try authorities.map { path throws(Failure) in try Self.bytes(of: path, limit: Limits.certificates) }
        do throws(ProxySettingsFault) {
            return try .joining(own, before: file, authorities: pem, timeoutSeconds: timeout)
        } catch .tooManyRules {
            throw Failure("\(ProxySettingsFault.tooManyRules)", exitCode: .malformed)
        } catch {
            throw Failure(
                "no certificate of an authority in PEM",
                hint: "--proxy-ca, or \"ca\" of the --proxies file.",
                exitCode: .malformed
            )
        }
    }

    private static func read(_ path: String) throws(Failure) -> ProxyFile {
        let bytes = try bytes(of: path, limit: ProxyFile.limit)
        do throws(FormatError) { return try ProxyFile(bytes, named: path) } catch {
            let hint = error.field == "format" ? "--proxies wants \(ProxyFile.format)." : nil
            throw Failure(error.description, hint: hint, exitCode: .malformed)
        }
    }

    private static func bytes(of path: String, limit: Int) throws(Failure) -> [UInt8] {
        do throws(FileError) { return try DiskFiles().read(FilePath(argument: path), limit: limit) } catch {
            throw Failure("\(error)", exitCode: .disk)
        }
    }
}
