import SystemPackage

/// A line at once, also into a pipe.
func say(_ line: String) {
    _ = try? FileDescriptor.standardOutput.writeAll((line + "\n").utf8)
}
