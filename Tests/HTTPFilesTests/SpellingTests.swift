import HTTPCore
import Testing

@testable import HTTPFiles

@Suite("The spelling of a path")
struct SpellingTests {
    private func fault(_ target: String) throws -> String? {
        let head = try RequestHead(parsing: Array("GET \(target) HTTP/1.1\r\nHost: a".utf8)[...], maxTargetBytes: 1_000)
        return FileRequest(head, try RequestTarget(parsing: target)).spellingFault
    }

    @Test(arguments: ["/", "/api/v1/apps", "/a/", "/a%20b/c+d/%2B%25", "/%C3%A4", "/a?b=%61&c=/../d", "http://h/a"])
    func `is the one way to say it`(target: String) throws {
        #expect(try fault(target) == nil)
    }

    @Test(arguments: ["/api/v1/../../app/x", "/./api", "//api/v1", "/api//v1", "/x/%2e%2e/api", "/api/v1/.."])
    func `is refused where segments hide what is meant`(target: String) throws {
        #expect(try fault(target) == "the path holds a segment that is empty, . or ..")
    }

    @Test(arguments: ["/%61pi/v1/apps", "/api/%76%31", "/a%2Db", "/a%7eb", "/%41PI", "/ap%69"])
    func `is refused where a number hides a letter`(target: String) throws {
        #expect(try fault(target) == "the path percent-encodes a plain character")
    }
}
