import Glibc
package import PatchFormat
import PatchStore
import SystemPackage

/// Linux's data on this process, under the names of all Prometheus clients.
package struct ProcessFacts: Sendable {
    private let start: UTCTime

    /// - Parameter start: when the process was started.
    package init(start: UTCTime) {
        self.start = start
    }

    package var families: [MetricFamily] {
        var build = MetricFamily("patchline_build_info", .gauge, "Which program this is, and its version; always 1.")
        build.add(.integer(1), [("program", "patchsrv"), ("version", Product.version)])
        var families = [
            build,
            MetricFamily(
                "process_start_time_seconds",
                .gauge,
                "Start of the process, in seconds since 1970.",
                .integer(start.seconds)
            ),
        ]
        if let memory = Self.residentBytes {
            families.append(
                MetricFamily("process_resident_memory_bytes", .gauge, "Resident memory.", .integer(memory))
            )
        }
        if let open = try? DiskFiles().list("/proc/self/fd").count {
            families.append(MetricFamily("process_open_fds", .gauge, "Open file descriptors.", .integer(open)))
        }
        return families
    }

    /// The second field of `/proc/self/statm`, in pages (proc(5)).
    private static var residentBytes: Int? {
        guard let bytes = try? DiskFiles().read("/proc/self/statm", limit: 4_096) else { return nil }
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return fields.dropFirst().first.flatMap { Int($0) }.map { $0 * sysconf(Int32(_SC_PAGESIZE)) }
    }
}
