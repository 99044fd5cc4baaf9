import PatchFormat

/// A page about a server, for operators and monitoring.
package struct OperatorPage: Equatable, Sendable {
    package var status = 200
    package let contentType: String
    package var headers: [String: String] = [:]
    package let bytes: [UInt8]

    /// Shows that the process answers.
    package static let health = OperatorPage(
        contentType: "text/plain",
        headers: ["Patchline-Version": Product.version],
        bytes: Array("ok".utf8)
    )

    /// Whether the served metadata verifies and stays valid for a while; 503 if roles must be signed.
    package static func ready(_ check: ReadinessCheck) async -> OperatorPage {
        do throws(ServerError) {
            let readiness = try await check.answer()
            return OperatorPage(
                status: readiness.status == .ready ? 200 : 503,
                contentType: "application/json",
                headers: ["X-Content-Type-Options": "nosniff"],
                bytes: readiness.json.fileBytes + "\n".utf8
            )
        } catch {
            let message = Array("The server's folder cannot be read.\n".utf8)
            return OperatorPage(status: 503, contentType: "text/plain", bytes: message)
        }
    }

    /// The metrics for Prometheus.
    package static func numbers(_ metrics: ServerMetrics) async -> OperatorPage {
        OperatorPage(
            contentType: "text/plain; version=0.0.4; charset=utf-8",
            bytes: Array(await metrics.text().utf8)
        )
    }
}
