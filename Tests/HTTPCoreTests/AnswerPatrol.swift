import FoundationEssentials
import HTTPTesting
import NIOConcurrencyHelpers
import Testing

/// What a user of the HTTP client made of an answer.
enum Taken: Sendable {
    /// - Parameter status: nil where its user makes no difference among those that say that all is well.
    case answer(status: Int?, body: [UInt8])
    case refused(String)
}

/// Throws answers at one user of the HTTP client, many at a time, each from an origin of its own.
///
/// By hand for as long as `PATCHLINE_ANSWERS_SECONDS` says, from the seed `PATCHLINE_ANSWERS_SEED` on: `make answers`. Before
/// each batch its seeds are printed, so that those of a process that died are known.
struct AnswerPatrol: Sendable {
    /// Asks the server at this port for each of these numbers, at ``AnsweringServer/host(_:)``, in a path that ends in it.
    typealias Ask =
        @Sendable (
            _ port: Int,
            _ numbers: [UInt64],
            _ tell: @escaping @Sendable (UInt64, Taken) -> Void
        ) async throws -> Void

    static let batch = AnsweringServer.hosts
    /// Far longer than any deadline of a user here.
    static let longest = Duration.seconds(600)

    let name: String
    /// Nil for a server without TLS.
    var certificate: Certificate?
    let ask: Ask

    private var title: String { certificate == nil ? name : "\(name) over TLS" }

    private static func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    /// Generated ones: `count` of them, or for as long as the environment says.
    func throwGenerated(_ count: Int) async throws {
        let first = Self.setting("PATCHLINE_ANSWERS_SEED") ?? 0
        let end = Self.setting("PATCHLINE_ANSWERS_SECONDS").map { ContinuousClock.now + .seconds(Int($0)) }
        var (next, taken) = (first, 0)
        while end.map({ ContinuousClock.now < $0 }) ?? (next < first + UInt64(count)) {
            let seeds = Array(next..<next + UInt64(Self.batch))
            next += UInt64(Self.batch)
            if end != nil { print("\(title): seeds \(seeds[0])...\(seeds[seeds.count - 1])") }
            taken += try await run(seeds) { GeneratedAnswer(seed: $0) }
        }
        #expect(taken > 0, "of sound answers some are taken")
        if end != nil { print("\(title): \(next - first) answers thrown, \(taken) of them taken") }
    }

    /// Small ones, cut at every byte.
    func throwCut(_ answers: [String]) async throws {
        var table: [GeneratedAnswer] = []
        for text in answers {
            let bytes = Array(text.utf8)
            for cut in 1..<bytes.count {
                table.append(GeneratedAnswer(bytes, [Array(bytes[..<cut]), Array(bytes[cut...])], .closes))
            }
        }
        let all = table
        for start in stride(from: 0, to: all.count, by: Self.batch) {
            let numbers = (start..<min(all.count, start + Self.batch)).map { UInt64($0) }
            _ = try await run(numbers) { all[Int($0)] }
        }
    }

    /// Whole ones, whose connection then ends without a word of TLS.
    func throwBroken(_ answers: [String]) async throws {
        let all = answers.map { GeneratedAnswer(Array($0.utf8), [Array($0.utf8)], .breaks) }
        _ = try await run(all.indices.map { UInt64($0) }) { all[Int($0)] }
    }

    /// - Returns: how many were taken.
    private func run(_ numbers: [UInt64], _ answer: @escaping @Sendable (UInt64) -> GeneratedAnswer) async throws -> Int
    {
        let told = NIOLockedValueBox<[UInt64: Taken]>([:])
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await AnsweringServer.running(
                    tls: certificate?.context,
                    { head in answer(Self.number(in: head)).script }
                ) { port in
                    try await ask(port, numbers) { number, taken in told.withLockedValue { $0[number] = taken } }
                }
            }
            group.addTask {
                try await Task.sleep(for: Self.longest)
                let missing = numbers.filter { number in told.withLockedValue { $0[number] == nil } }
                throw Unended(seeds: missing)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
        var taken = 0
        for (number, what) in told.withLockedValue(\.self) {
            guard case .answer(let status, let body) = what else { continue }
            taken += 1
            let reading = answer(number).reading(overTLS: certificate != nil)
            // Bodies are no news.
            let isRight = reading.matches(status, body)
            #expect(
                isRight,
                "\(title), seed \(number): took \(status ?? 200) with \(body.count) bytes; the bytes say \(reading.summary)"
            )
        }
        return taken
    }

    struct Unended: Error {
        let seeds: [UInt64]
    }

    /// `GET /a/b/12 HTTP/1.1` has the number 12.
    private static func number(in head: String) -> UInt64 {
        let path = head.split(separator: " ").dropFirst().first ?? ""
        return path.split(separator: "/").last.flatMap { UInt64($0) } ?? 0
    }

    /// Of every kind, and short.
    static let small = [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\nX: y\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 101 Switch\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nframe",
        "HTTP/1.1 000 X\r\nContent-Length: 2\r\n\r\nno", "HTTP/1.1 042\r\n\r\n", "HTTP/1.1 204 No\r\nX:\r\n\r\nrest",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno",
    ]
}

extension GeneratedAnswer {
    init(_ bytes: [UInt8], _ pieces: [[UInt8]], _ end: Script.End) {
        self.bytes = bytes
        script = Script(pieces, end)
    }
}

extension AnswerReading {
    fileprivate func matches(_ status: Int?, _ body: [UInt8]) -> Bool {
        guard case .whole(let said, body) = self else { return false }
        return status.map { $0 == said } ?? (200..<300).contains(said)
    }

    fileprivate var summary: String {
        switch self {
        case .whole(let status, let body): "\(status) with \(body.count) bytes"
        case .incomplete: "that it is not whole"
        case .malformed: "nothing that is HTTP"
        }
    }
}
