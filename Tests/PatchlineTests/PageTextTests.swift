import Testing

@testable import Patchline

@Suite("What a page may read of a message")
struct PageTextTests {
    @Test(arguments: [
        ("/var/lib/shop/objects/ab/abcdef: no space left", "abcdef: no space left"),
        ("lock /var/lib/shop/lock is held by process 12", "lock lock is held by process 12"),
        ("cannot open '/var/lib/shop/state.json'", "cannot open 'state.json'"),
        ("(/etc/ssl/ca.pem)", "(ca.pem)"),
        ("no answer from http://127.0.0.1:9/app/x", "no answer from http://127.0.0.1:9/app/x"),
        ("metadata/timestamp.json: 404", "metadata/timestamp.json: 404"), ("3 / 4  done", "3 / 4  done"), ("", ""),
    ])
    func `holds no folder of the device`(text: String, expected: String) {
        #expect(PageText.withoutFolders(text) == expected)
    }
}
