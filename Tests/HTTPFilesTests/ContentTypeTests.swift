import HTTPFiles
import Testing

@Suite("The content type")
struct ContentTypeTests {
}
