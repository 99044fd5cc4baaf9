import Glibc
import PatchFormat

// documents                        every case: makes the document, reads it in a process of its own, prints a row
// documents make NUMBER > FILE     the document of one case
// documents read NUMBER < FILE     reads it, and says how much processor time that took and how much memory the process had at most

let arguments = CommandLine.arguments
switch arguments.dropFirst().first {
case "make": write(Worst.all[Int(arguments[2]) ?? 0].make())
case "read": read(Worst.all[Int(arguments[2]) ?? 0])
default:
    for (number, worst) in Worst.all.enumerated() { print("\(number)\t\(worst.name)") }
}

func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        guard count > 0 else { exit(1) }
        rest = rest.dropFirst(count)
    }
}

/// In microseconds: all is done by one thread that waits for nothing, so that it says the same on a machine with other work.
func processorTime() -> Int {
    var time = timespec()
    guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { exit(1) }
    return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
}

func read(_ worst: Worst) {
    var status = stat()
    guard unsafe fstat(STDIN_FILENO, &status) == 0 else { exit(1) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(status.st_size))
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = unsafe Glibc.read(STDIN_FILENO, &piece, piece.count)
        guard count > 0 else { break }
        bytes += piece.prefix(count)
    }
    precondition(bytes.count <= worst.limit, "\(worst.name) has \(bytes.count) bytes, over its limit")
    let before = processorTime()
    let outcome = worst.read(bytes)
    let hundredths = (processorTime() - before) / 10_000
    var usage = rusage()
    guard unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { exit(1) }
    let text = "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    print("| \(worst.name) | \(bytes.count) | \(outcome) | \(text) | \(usage.ru_maxrss / 1_024) |")
}
