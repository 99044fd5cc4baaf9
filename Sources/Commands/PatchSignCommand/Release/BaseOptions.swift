import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import SystemPackage

/// The release that the next one is made from: the published one on a server, or a folder.
struct BaseOptions: ParsableArguments {
    static let both = "give one of --previous and --server: each names the release that is published now"

    @Option(
        help: ArgumentHelp(
            "The folder of the currently published release, for pipelines without a network.",
            valueName: "dir"
        )
    )
    var previous: String?

    @OptionGroup(title: "Server") var server: ServerOptions
    @OptionGroup(title: "Server") var memory: MemoryOptions

    func validate() throws {
        if previous != nil, server.server != nil { throw ValidationError(Self.both) }
    }

    /// The option that was used; nil for none, or for the environment.
    var option: String? { previous != nil ? "--previous" : server.server != nil ? "--server" : nil }

    var isNamed: Bool { previous != nil || server.isNamed }

    /// The previous release of the channel; nil for its first.
    func next(of channel: ChannelName, _ trust: ReleaseTrust) async throws(Failure) -> BaseRelease? {
        if let previous { return try ReleaseWork.base(FilePath(argument: previous), trust) }
        guard server.isNamed else { return nil }
        let base = try await published(trust).next(of: channel)
        if base == nil {
            Console.standardError.line(printable(PublishedBase.first(channel, on: try server.url())))
        }
        return base
    }

    /// The release to compare with.
    ///
    /// - Parameter channel: nil if unknown. Then no server is asked.
    func current(of channel: ChannelName?, _ trust: ReleaseTrust) async throws(Failure) -> BaseRelease? {
        if let previous { return try ReleaseWork.base(FilePath(argument: previous), trust) }
        guard let channel, server.isNamed else { return nil }
        return try await published(trust).current(of: channel)
    }

    private func published(_ trust: ReleaseTrust) -> PublishedBase {
        PublishedBase(server: server, memory: memory, trust: trust)
    }
}
