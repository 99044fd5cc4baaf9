import HTTPCore
import Testing

@Suite("The content type")
struct ContentTypeTests {
    @Test(arguments: [
        (path: "app.js", type: "text/javascript"),
        (path: "/a/app.css", type: "text/css"),
        (path: "index.html", type: "text/html"),
        (path: "program.json", type: "application/json"),
        (path: "app.js.map", type: "application/json"),
        (path: "notes.txt", type: "text/plain"),
        (path: "a.png", type: "image/png"),
        (path: "a.jpg", type: "image/jpeg"),
        (path: "a.jpeg", type: "image/jpeg"),
        (path: "a.gif", type: "image/gif"),
        (path: "a.svg", type: "image/svg+xml"),
        (path: "a.webp", type: "image/webp"),
        (path: "favicon.ico", type: "image/vnd.microsoft.icon"),
        (path: "a.mp4", type: "video/mp4"),
        (path: "a.woff2", type: "font/woff2"),
        (path: "a.wasm", type: "application/wasm"),
        (path: "a.xml", type: "application/xml"),
        (path: "a.pdf", type: "application/pdf"),
        (path: "SHOUTING.JS", type: "text/javascript"),
    ])
    func `follows the extension`(path: String, type: String) {
        #expect(ContentType.of(path: path) == type)
    }

    @Test(arguments: ["", "README", "a.unheard-of", "a.", ".js", "/v1.js/file", "/folder.css/"])
    func `is octet-stream when the name does not tell`(path: String) {
        #expect(ContentType.of(path: path) == "application/octet-stream")
    }
}
