package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// All metrics of a server, as one page for Prometheus.
package struct ServerMetrics: Sendable {
    package let traffic = TrafficCounters()
    package let refreshes = RefreshCounters()
    private let readiness: ReadinessCheck
    private let process: ProcessFacts
    private let now: @Sendable () -> UTCTime
    /// The reports of other systems' clients.
    private let reports: @Sendable () async -> [AppListing]
    /// Channels that wait for small forms and packs.
    private let pending: @Sendable () -> [(app: AppID, pending: PendingOptimization)]

    package init(
        readiness: ReadinessCheck,
        process: ProcessFacts,
        now: @escaping @Sendable () -> UTCTime,
        reports: @escaping @Sendable () async -> [AppListing] = { [] },
        pending: @escaping @Sendable () -> [(app: AppID, pending: PendingOptimization)] = { [] }
    ) {
        (self.readiness, self.process, self.now, self.reports) = (readiness, process, now, reports)
        self.pending = pending
    }

    /// The text of the page.
    ///
    /// Unknown values are left out, so that a rule on `absent()` notices.
    package func text() async -> String {
        var families = traffic.families + [refreshes.family]
        if let findings = try? await readiness.findings() { families += Self.families(of: findings, at: now()) }
        if let disk = await readiness.disk() {
            families.append(
                MetricFamily(
                    "patchsrv_data_free_bytes",
                    .gauge,
                    "Free bytes of the data folder.",
                    .integer(disk.freeBytes)
                )
            )
            if let files = disk.freeFiles {
                families.append(
                    MetricFamily("patchsrv_data_free_inodes", .gauge, "Files that can still be made.", .integer(files))
                )
            }
        }
        families.append(Self.family(of: await reports()))
        families += Self.families(of: pending())
        return (families + process.families).map(\.text).joined()
    }

    /// Empty while nothing is pending.
    private static func families(of pending: [(app: AppID, pending: PendingOptimization)]) -> [MetricFamily] {
        guard !pending.isEmpty else { return [] }
        var left = MetricFamily(
            "patchsrv_optimizing_files_left",
            .gauge,
            "Small forms and packs that are still to be made of a published release; -1 before they are counted."
        )
        for (app, pending) in pending {
            let labels = [(name: "app", value: app.text), (name: "channel", value: pending.channel.text)]
            left.add(.integer(pending.progress.map { $0.total - $0.done } ?? -1), labels)
        }
        return [left]
    }

    private static func family(of listings: [AppListing]) -> MetricFamily {
        var devices = MetricFamily(
            "patchsrv_platform_devices",
            .gauge,
            "About how many devices of JSPatch's platform reported an outcome of a listed version; the reports are not authenticated."
        )
        for listing in listings {
            for channel in listing.channels {
                for (line, counts) in channel.gateways.packages.flatMap({ line in
                    line.counts.map { (line.row.line, $0) }
                }) {
                    let labels = [
                        (name: "app", value: listing.app.text), (name: "channel", value: channel.name.text),
                        (name: "app_key", value: line.wire.appKey?.text ?? ""),
                        (name: "app_version", value: line.appVersion.text),
                        (name: "version", value: "\(counts.version)"),
                    ]
                    devices.add(.integer(counts.succeeded), labels + [(name: "outcome", value: "succeeded")])
                    for (code, count) in counts.codes {
                        devices.add(.integer(count), labels + [(name: "outcome", value: code)])
                    }
                }
            }
        }
        return devices
    }

    private static func families(
        of findings: [(app: AppID, finding: Readiness.Finding)],
        at now: UTCTime
    ) -> [MetricFamily] {
        var verified = MetricFamily(
            "patchsrv_tree_verifies",
            .gauge,
            "1 if an app's published tree verifies, else 0."
        )
        var expires = MetricFamily(
            "patchsrv_role_expires_in_seconds",
            .gauge,
            "Seconds until a published role expires; below 0 devices install nothing new."
        )
        var versions = MetricFamily("patchsrv_role_version", .gauge, "Version of a published role.")
        for (app, finding) in findings {
            let label = (name: "app", value: app.text)
            guard case .verified(let roles) = finding else {
                verified.add(.integer(0), [label])
                continue
            }
            verified.add(.integer(1), [label])
            for role in roles {
                let labels = [label, (name: "role", value: role.role)]
                expires.add(.integer(role.expires.seconds - now.seconds), labels)
                versions.add(.integer(role.version), labels)
            }
        }
        return [verified, expires, versions]
    }
}
