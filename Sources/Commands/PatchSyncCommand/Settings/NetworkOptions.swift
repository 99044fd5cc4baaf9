import ArgumentParser
import CommandKit
import PatchDaemon
import PatchFetch
import PatchSync
import SystemPackage

/// The duration of a sync, and its number of retries.
struct NetworkOptions: ParsableArguments {
    @Option(StoreSetting.deadline) var deadline: String?
    @Option(StoreSetting.stallTimeout) var stallTimeout: String?
    @Option(StoreSetting.retries) var retries: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Maximum bytes a second from all servers together, such as 500kB (default: no limit).",
            valueName: "bytes"
        )
    )
    var limitRate: ByteCountArgument?

    func validate() throws {
        _ = try limits()
        if let limitRate, !(Deadlines.leastRate...1_000_000_000_000).contains(limitRate.bytes) {
            throw ValidationError("--limit-rate must be from 1kB to 1TB")
        }
    }

    private func limits() throws(ValidationError) -> StoreSettings {
        var settings = StoreSettings(name: "", store: "/")
        for (setting, text) in [(StoreSetting.deadline, deadline), (.stallTimeout, stallTimeout), (.retries, retries)] {
            guard let text else { continue }
            let value = try setting.value(.text(text))
            do throws(SettingFault) { try settings.take(value, for: setting) } catch {
                throw ValidationError(error.words("--\(setting.name)"))
            }
        }
        return settings
    }

    var deadlines: Deadlines {
        var deadlines = Deadlines()
        deadlines.rate = limitRate?.bytes
        // The text is valid, because it was parsed before.
        return (try? limits())?.limits(deadlines) ?? deadlines
    }
}
