import Glibc
package import PatchFormat
import PatchTrust
import PatchStore
package import SystemPackage

/// The environment, the program's folder and the clock of the process.
package enum ProcessEnvironment {
    package static func environment(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// Whether published testing keys are accepted.
    ///
    /// The tests set this.
    package static var allowsTestingKeys: Bool {
        environment(TestingKeys.permission) == "1"
    }

    /// The folder of the running program.
    package static var programFolder: FilePath? {
        let program = FilePath("/proc/self/exe").followingLinks
        return program == "/proc/self/exe" ? nil : program.removingLastComponent()
    }

    /// Returns the machine's time with its milliseconds, 0 to 999.
    package static func preciseNow() -> (time: UTCTime, milliseconds: Int) {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return (UTCTime(seconds: now.tv_sec), now.tv_nsec / 1_000_000)
    }

    /// Returns the machine's time.
    ///
    /// A command that writes several times calls this once.
    @Sendable package static func now() -> UTCTime {
        UTCTime(seconds: Glibc.time(nil))
    }
}

extension FilePath {
    /// A path from the command line, absolute or relative to the working directory, with its links resolved.
    package init(argument: String) {
        self.init(given: argument)
    }

    /// Whether one of two folders, both without links, is the other or is inside it.
    package func overlaps(_ other: FilePath) -> Bool { starts(with: other) || other.starts(with: self) }
}
