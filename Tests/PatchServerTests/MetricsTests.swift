import HTTPFiles
import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import SystemPackage
import ServerTesting
import Testing

@Suite("The numbers of a server")
struct MetricsTests {
    private let time = ManualClock(TestingServer.start)

    private func metrics(_ server: TestingServer) -> ServerMetrics {
        ServerMetrics(
            readiness: ReadinessCheck(
                server.folder,
                files: server.files,
                within: .days(30),
                space: { DiskSpace(freeBytes: 5_000, freeFiles: 70) },
                now: { [time] in time.now() }
            ),
            process: ProcessFacts(start: TestingServer.start),
            now: { [time] in time.now() }
        )
    }

    @Test
    func `count the small forms and packs that are still to be made`() async throws {
        let server = try TestingServer()
        let rows = [
            PendingOptimization(ReleaseFactory.beta, 2),
            PendingOptimization(ReleaseFactory.production, 7, progress: .init(done: 3, total: 12)),
        ]
        let metrics = ServerMetrics(
            readiness: ReadinessCheck(
                server.folder,
                files: server.files,
                within: .days(30),
                now: { [time] in time.now() }
            ),
            process: ProcessFacts(start: TestingServer.start),
            now: { [time] in time.now() },
            pending: { rows.map { (server.repository.app, $0) } }
        )
        let text = await metrics.text()
        let app = server.repository.app
        #expect(
            text.contains(
                """
                # HELP patchsrv_optimizing_files_left Small forms and packs that are still to be made of a published \
                release; -1 before they are counted.
                # TYPE patchsrv_optimizing_files_left gauge
                patchsrv_optimizing_files_left{app="\(app)",channel="beta"} -1
                patchsrv_optimizing_files_left{app="\(app)",channel="production"} 9

                """
            )
        )
        #expect(await !self.metrics(server).text().contains("patchsrv_optimizing"))
    }

    @Test
    func `are written by the rules of the text format`() {
        var family = MetricFamily("x_total", .counter, "One \\ two\n\"three\"")
        #expect(family.text == "")
        family.add(.integer(3), [(name: "a", value: "1"), (name: "b", value: "\\\n\"")])
        family.add(.nanoseconds(1_002_000_000))
        family.add(.nanoseconds(-5))
        #expect(
            family.text == """
                # HELP x_total One \\\\ two\\n"three"
                # TYPE x_total counter
                x_total{a="1",b="\\\\\\n\\""} 3
                x_total 1.002000000
                x_total -0.000000005

                """
        )
    }

    @Test(arguments: [
        ("/app/metadata/timestamp.json", "metadata"), ("/app/targets/beta/x", "targets"),
        ("/app/objects/ab/x?y", "objects"),
        ("/app/packs/x/full.pack", "packs"), ("/healthz", "other"), ("-", "other"), ("/", "other"), ("//", "other"),
        ("/app/objectsx/ab", "other"), ("/app/objects", "other"), ("http://x/objects/", "other"),
    ])
    func `count what was asked for by the kind of its path`(target: String, kind: String) async throws {
        let metrics = metrics(try TestingServer())
        metrics.traffic.answered(target, status: 206, bodyBytes: 7, in: .milliseconds(3))
        let text = await metrics.text()
        #expect(text.contains("patchsrv_http_requests_total{path=\"\(kind)\",status=\"2xx\"} 1\n"))
        #expect(text.contains("patchsrv_http_body_bytes_total{path=\"\(kind)\"} 7\n"))
        let name = "patchsrv_http_request_duration_seconds"
        for (end, count) in [("0.001", 0), ("0.005", 1), ("600", 1), ("+Inf", 1)] {
            #expect(text.contains("\(name)_bucket{path=\"\(kind)\",le=\"\(end)\"} \(count)\n"), "\(end)")
        }
        #expect(text.contains("\(name)_sum{path=\"\(kind)\"} 0.003000000\n"))
        #expect(text.contains("\(name)_count{path=\"\(kind)\"} 1\n"))
        #expect(
            text.split(separator: "\n").filter { $0.hasPrefix("patchsrv_http_requests_total") && $0.hasSuffix(" 1") }
                .count == 1
        )
    }

    @Test
    func `tell until when roles hold, which versions are out, and what is left of the disk`() async throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        time.advance(by: .days(8))
        let text = await metrics(server).text()
        let app = "app=\"com.example.storefront\""
        for line in [
            "patchsrv_role_expires_in_seconds{\(app),role=\"production\"} \(82 * 86_400)",
            "patchsrv_role_expires_in_seconds{\(app),role=\"timestamp\"} -86400",
            "patchsrv_role_version{\(app),role=\"snapshot\"} 2", "patchsrv_tree_verifies{\(app)} 1",
            "patchsrv_data_free_bytes 5000", "patchsrv_data_free_inodes 70",
            "process_start_time_seconds \(TestingServer.start.seconds)",
        ] {
            #expect(text.contains("\n\(line)\n"), "\(line)")
        }
        #expect(text.contains(#/\nprocess_resident_memory_bytes [1-9]\d{6,}\n/#))
        #expect(text.contains(#/\nprocess_open_fds [1-9]\d*\n/#))
    }

    @Test
    func `say of a tree that does not verify that it does not, and nothing else`() async throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        try server.publish(try server.factory.release(on: server.repository))
        try files.rot(server.folder.tree(of: server.repository.app).appending("metadata/1.production.json"))
        let text = await metrics(server).text()
        #expect(text.contains("patchsrv_tree_verifies{app=\"com.example.storefront\"} 0\n"))
        #expect(!text.contains("patchsrv_role_version"))
    }

    @Test
    func `count signings and connections`() async throws {
        let server = try TestingServer()
        let metrics = metrics(server)
        let done = try server.refresh(at: TestingServer.start)
        for result in [RefreshResult.signed(done), .failed("x"), .failed("x"), .locked, .withoutKey] {
            metrics.refreshes.add(server.repository.app, result)
        }
        metrics.refreshes.add(nil, .failed("x"))
        for _ in 0..<3 { metrics.traffic.connectionOpened() }
        metrics.traffic.connectionClosed()
        for loss in [LossOfConnection.refused, .room, .room, .slow] { metrics.traffic.connectionLost(loss) }
        let text = await metrics.text()
        for line in [
            "patchsrv_refreshes_total{app=\"com.example.storefront\",result=\"signed\"} 1",
            "patchsrv_refreshes_total{app=\"com.example.storefront\",result=\"failed\"} 2",
            "patchsrv_refreshes_total{app=\"\",result=\"failed\"} 1", "patchsrv_connections_open 2",
            "patchsrv_connections_refused_total 1", "patchsrv_connections_dropped_total{reason=\"room\"} 2",
            "patchsrv_connections_dropped_total{reason=\"slow\"} 1",
        ] {
            #expect(text.contains("\n\(line)\n"), "\(line)")
        }
    }

    @Test
    func `are a page for Prometheus`() async throws {
        let page = await OperatorPage.numbers(metrics(try TestingServer()))
        #expect(page.status == 200 && page.contentType == "text/plain; version=0.0.4; charset=utf-8")
    }
}
