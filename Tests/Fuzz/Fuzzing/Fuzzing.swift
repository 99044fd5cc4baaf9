import CFuzzer

/// Hands this program to libFuzzer, which calls `attempt` with one input after the other.
///
/// SwiftPM names the entry of an executable `MODULE_main`, so each target defines that and calls this.
package func fuzz(
    _ count: Int32,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    _ attempt: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32 {
    var count = count
    var arguments = unsafe arguments
    return unsafe LLVMFuzzerRunDriver(&count, &arguments, attempt)
}

/// One input as bytes.
package func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
    unsafe Array(UnsafeBufferPointer(start: start, count: count))
}

/// A property of everything that a reader accepts; a trap is what libFuzzer records.
package func require(_ holds: Bool, _ property: StaticString) {
    guard !holds else { return }
    fatalError("broken: \(property)")
}
