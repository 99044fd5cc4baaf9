/// Where the test program begins, under the name by which SwiftPM finds it.
///
/// SwiftPM would write one that looks for XCTests, of which there are none, in the index of the sources. With this one
/// no index has to be made: a tenth of the time of a build.
import Testing

@main
enum Main {
    static func main() async {
        await Testing.__swiftPMEntryPoint() as Never
    }
}
