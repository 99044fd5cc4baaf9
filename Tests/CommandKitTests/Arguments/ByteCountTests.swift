import CommandKit
import Testing

@Suite("A number of bytes on the command line")
struct ByteCountTests {
    @Test(
        arguments: [
            ("0B", 0), ("13609B", 13_609), ("13.6kB", 13_600), ("20kB", 20_000), ("1.1MB", 1_100_000),
            ("2GB", 2_000_000_000),
            ("1TB", 1_000_000_000_000),
        ]
    )
    func `is read as the programs print it`(text: String, bytes: Int) {
        #expect(ByteCountArgument(argument: text)?.bytes == bytes)
    }

    @Test(arguments: ["", "5", "5 kB", "5KB", "1.25kB", "1.kB", ".5kB", "1.5B", "-1kB", "1000001B", "kB"])
    func `is refused in any other form`(text: String) {
        #expect(ByteCountArgument(argument: text) == nil)
    }
}
