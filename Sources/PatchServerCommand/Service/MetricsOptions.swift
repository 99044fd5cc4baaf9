import ArgumentParser
import CommandSupport
import HTTPFiles
import PatchServer

/// Where Prometheus finds the numbers of a server: beside what the world sees.
struct MetricsOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The address of --metrics-port.", valueName: "address"))
    var metricsHost = "127.0.0.1"

    @Option(
        help: ArgumentHelp(
            "Answer GET /metrics there, for Prometheus (off by default; 0 takes any free port).",
            valueName: "port"
        )
    )
    var metricsPort: Int?

    func validate() throws {
        guard (0...65_535).contains(metricsPort ?? 0) else {
            throw ValidationError("--metrics-port must be from 0 to 65535")
        }
    }

    /// Nil where nobody asks for numbers: then nothing is counted.
    func metrics(_ readiness: ReadinessCheck) -> ServerMetrics? {
        guard metricsPort != nil else { return nil }
        return ServerMetrics(
            readiness: readiness,
            process: ProcessFacts(start: Surroundings.now()),
            now: Surroundings.now
        )
    }

    /// - Parameter onListening: called once it answers.
    func server(
        of metrics: ServerMetrics,
        _ log: ServerLog,
        onListening: @escaping @Sendable () -> Void
    ) -> FileServer {
        var configuration = FileServerConfiguration(host: metricsHost, port: metricsPort ?? 0)
        configuration.maxConnections = 16
        configuration.drainTimeout = .seconds(1)
        return FileServer(
            configuration: configuration,
            source: MetricsPage(metrics),
            errorLog: { log.say(.error, $0) },
            onListening: {
                log.tellListening("metrics on", "http://\($0.authority)/metrics")
                onListening()
            }
        )
    }
}
