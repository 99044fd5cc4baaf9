import FoundationEssentials
import HTTPCore
import HTTPFiles
import NIOCore
import NIOPosix
import PatchFormat
import PatchServer
import PatchStore
import ReleaseService
import ServerRecords
import SystemPackage
import Testing

@testable import ReleaseAPI

/// The operators' listener on a port of its own, with an admin's token.
struct RunningOperators: Sendable {
    let port: Int
    let token: String
    let operations: ReleaseOperations
    let accessLog: AsyncStream<AccessLogEntry>
    /// Cancels the task that runs it.
    let stop: @Sendable () -> Void

    /// Runs it while `body` runs, then cancels it and waits for its end, which must be without an error.
    static func with(
        names: ListenerNames = .all,
        _ configure: (inout FileServerConfiguration) -> Void = { _ in },
        _ body: (RunningOperators) async throws -> Void
    ) async throws {
        let folder = try Folder()
        var configuration = FileServerConfiguration()
        configure(&configuration)
        let (addresses, listening) = AsyncStream.makeStream(of: SocketAddress.self)
        let (accessLog, access) = AsyncStream.makeStream(of: AccessLogEntry.self)
        let operations = try folder.operations()
        let server = FileServer(
            configuration: configuration,
            source: try routes(folder, operations, names),
            accessLog: { access.yield($0) },
            onListening: { listening.yield($0) }
        )
        let task = Task {
            defer { listening.finish() }
            try await server.run()
        }
        let address = try #require(await addresses.first { _ in true })
        let grant = try #require(AccessGrant("*=admin"))
        let made = try await operations.records.makeToken(name: "a test", grants: [grant], for: .days(1), by: .server)
        let running = RunningOperators(
            port: try #require(address.port),
            token: made.text.text,
            operations: operations,
            accessLog: accessLog,
            stop: { task.cancel() }
        )
        do { try await body(running) } catch {
            task.cancel()
            _ = await task.result
            throw error
        }
        task.cancel()
        try await task.value
    }

    static func routes(_ folder: Folder, _ operations: ReleaseOperations?, _ names: ListenerNames = .all) throws
        -> OperatorRoutes
    {
        let readiness = ReadinessCheck(folder.server, files: DiskFiles(), within: .zero, now: { Folder.now })
        return OperatorRoutes(
            // No time passes: who asks too often does so for good.
            operations.map { OperatorRoutes.Service($0, uploads: Uploads($0), sinceStart: { .zero }) },
            pages: OperatorPages(
                readiness: readiness,
                metrics: ServerMetrics(
                    readiness: readiness,
                    process: ProcessFacts(start: Folder.now),
                    now: { Folder.now }
                )
            ),
            names: names,
            report: { Issue.record("\($0)") }
        )
    }

    /// A server's folder without an app, gone after the test.
    final class Folder: Sendable {
        static let now = UTCTime(seconds: 1_800_000_000)

        let path: FilePath
        var server: ServerFolder { ServerFolder(path) }

        init() throws {
            path = FilePath(FileManager.default.temporaryDirectory.appending(path: "operators-\(UUID())").path)
            let tree = path.appending("tree").string
            try FileManager.default.createDirectory(atPath: tree, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: path.string) }

        func operations() throws -> ReleaseOperations {
            ReleaseOperations(
                server,
                records: ServerRecords(try SQLiteRecords(path.appending("records.sqlite")), now: { Self.now }),
                files: DiskFiles(),
                allowsTestingKeys: true,
                openKey: { _, _ in nil }
            )
        }
    }
}

extension RunningOperators {
    /// Sends bytes as they are.
    struct Client {
        let channel: any Channel
        private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
        private var text = ""

        private init(_ channel: any Channel, _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) {
            (self.channel, self.inbound) = (channel, inbound.makeAsyncIterator())
        }

        /// - Parameter reading: false for one that takes no byte before ``startReading()``.
        static func connected<Result: Sendable>(
            to port: Int,
            reading: Bool = true,
            _ body: (inout Client) async throws -> Result
        ) async throws -> Result {
            let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .channelOption(.allowRemoteHalfClosure, value: true)
                .channelOption(.autoRead, value: reading)
            let patient = reading ? bootstrap : bootstrap.channelOption(.socketOption(.so_rcvbuf), value: 4 * 1024)
            let connection = try await patient.connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, Never>(wrappingChannelSynchronously: channel)
                }
            }
            return try await connection.executeThenClose { inbound in
                var client = Client(connection.channel, inbound)
                return try await body(&client)
            }
        }

        func startReading() async throws { try await channel.setOption(.autoRead, value: true).get() }

        func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }

        /// What came up to and with these words.
        mutating func read(to words: String) async throws -> String {
            while true {
                if let range = text.firstRange(of: words) {
                    defer { text = String(text[range.upperBound...]) }
                    return String(text[..<range.upperBound])
                }
                let more = try await inbound.next(isolation: #isolation)
                text += String(buffer: try #require(more, "ended after \(text)"))
            }
        }

        /// So many bytes of text.
        mutating func read(count: Int) async throws -> String {
            while text.utf8.count < count {
                let more = try await inbound.next(isolation: #isolation)
                text += String(buffer: try #require(more, "ended after \(text)"))
            }
            let read = String(decoding: text.utf8.prefix(count), as: UTF8.self)
            text = String(decoding: text.utf8.dropFirst(count), as: UTF8.self)
            return read
        }

        /// What comes until the server's end, be it a reset.
        mutating func rest() async -> String {
            while let more = try? await inbound.next(isolation: #isolation) { text += String(buffer: more) }
            defer { text = "" }
            return text
        }
    }

    func connected<Result: Sendable>(_ body: (inout Client) async throws -> Result) async throws -> Result {
        try await Client.connected(to: port, body)
    }

    /// All that is said to this text, and whether the server ended the connection then.
    func response(to text: String) async throws -> String {
        try await connected { client in
            try await client.send(text)
            return await client.rest()
        }
    }

    /// The head of an admin's request.
    func head(_ method: String, _ path: String, _ fields: String...) -> String {
        (["\(method) \(path) HTTP/1.1", "Host: a", "Authorization: Bearer \(token)"] + fields).map { $0 + "\r\n" }
            .joined()
            + "\r\n"
    }
}
