import APIProxy
import ArgumentParser
import AssetServer
import CommandKit
import PatchDaemon
import PatchFetch
import PatchFormat
import PatchStore
import SystemPackage

/// The rules for requests of pages that are passed on to other servers.
struct ProxyOptions: ParsableArguments {
    static let discussion = """
        --proxy '/api/.*=https://api.example.com' forwards every path that matches the
        whole regular expression to that server, under the same path. A path in the
        URL, even just /, replaces /api. The first matching rule applies. Files of the
        bundle precede all rules; client-side routes follow.
        """

    @Option(StoreSetting.proxy) var rules: [String] = []
    @Option(StoreSetting.proxies) var file: String?
    @Option(StoreSetting.proxyCA) var authorities: String?
    @Option(StoreSetting.proxyTimeout) var timeout: String?

    /// The seconds of ``timeout``.
    private var seconds: Int? {
        guard let timeout, case .time(let time)? = try? StoreSetting.proxyTimeout.value(.text(timeout)) else {
            return nil
        }
        return Int(time.components.seconds)
    }

    /// Returns the proxy's settings, or nil without a rule.
    func settings() throws(Failure) -> APIProxy.Settings? {
        let file = try file.map { path throws(Failure) in try Self.read(path) }
        let own = rules.compactMap { try? ProxyRule(argument: $0) }
        guard !own.isEmpty || file?.rules.isEmpty == false else { return nil }
        let pem = try authorities.map { path throws(Failure) in try Self.bytes(of: path, limit: Limits.certificates) }
        do throws(ProxySettingsFault) {
            return try .joining(own, before: file, authorities: pem, timeoutSeconds: seconds)
        } catch .tooManyRules {
            throw Failure("\(ProxySettingsFault.tooManyRules)", code: .malformed)
        } catch {
            throw Failure(
                "no certificate of an authority in PEM",
                hint: "--proxy-ca, or \"ca\" of the --proxies file.",
                code: .malformed
            )
        }
    }

    private static func read(_ path: String) throws(Failure) -> ProxyFile {
        let bytes = try bytes(of: path, limit: ProxyFile.limit)
        do throws(FormatError) { return try ProxyFile(bytes, named: path) } catch {
            let hint = error.field == "format" ? "--proxies requires \(ProxyFile.format)." : nil
            throw Failure(error.description, hint: hint, code: .malformed)
        }
    }

    private static func bytes(of path: String, limit: Int) throws(Failure) -> [UInt8] {
        do throws(FileError) { return try DiskFiles().read(FilePath(argument: path), limit: limit) } catch {
            throw Failure("\(error)", code: .disk)
        }
    }
}
