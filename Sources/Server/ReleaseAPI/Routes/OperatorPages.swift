package import PatchServer

/// The pages without a token: whether the process answers, whether it is ready, and its metrics.
package struct OperatorPages: Sendable {
    package static let paths = ["/healthz", "/readyz", "/metrics"]

    private let readiness: ReadinessCheck
    private let metrics: ServerMetrics

    package init(readiness: ReadinessCheck, metrics: ServerMetrics) {
        (self.readiness, self.metrics) = (readiness, metrics)
    }

    func page(at path: String) async -> OperatorPage? {
        switch path {
        case "/healthz": .health
        case "/readyz": await .ready(readiness)
        case "/metrics": await .numbers(metrics)
        default: nil
        }
    }
}
