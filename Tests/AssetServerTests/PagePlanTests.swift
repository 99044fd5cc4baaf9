import Linux
import HTTPFiles
import NIOConcurrencyHelpers
import PageTesting
import PatchFormat
import PatchCrypto
import SystemPackage
import Testing

@testable import AssetServer

/// Where scripts come first in a page, as a browser reads it, and which pages stay as they are.
@Suite("The place of scripts in a page")
struct PagePlanTests {
    private static func plan(_ page: String, _ type: String = "text/html") -> PagePlan {
        PagePlan(Array(page.utf8), contentType: type)
    }

    /// `|` is where scripts come.
    @Test(arguments: [
        "<!doctype html><html><head>|<title>a</title></head>", "<HTML><HEAD LANG='a>b'>|<BASE HREF='//b'>",
        "<!DOCTYPE html PUBLIC \"x\">\n<!-- <head> -->\n<html data-a='<head>'>\n<head data-b=\"</head>\">|\n<script>",
        "<head/>|<p>", "<head\n>|", "<!-- a --!><head>|", "<!--><head>|", "<!---><head>|", "<?xml a?><head>|",
        "<!bogus><head>|", "</p></ a><html></div><head>|", "\u{FEFF}<head>|",
        // No head: where a browser begins one.
        "<!doctype html><html>|<script>first()</script><head>", "|<base href='//b'><head>", "<html>|<body>",
        "|hello <head>",
        "<!doctype html>|<title>a</title>", "<!doctype html> |a", "|< head>", "|<3", "<html>|</head><head>",
        "|</br><head>",
        "|<header>", "<html>|<frameset>", "|<!", "<!-- nothing -->|", "|",
    ])
    func `is right behind the head's tag, or where a head begins without one`(_ marked: String) throws {
        if marked == "|<!" {
            // Browsers take that for a comment, which is not over.
            #expect(Self.plan("<!") == .untouched(.noPlace))
            return
        }
        let page = marked.replacing("|", with: "")
        let place = Array(marked.utf8.prefix { $0 != UInt8(ascii: "|") }).count
        #expect(Self.plan(page) == .put(at: place, contentType: "text/html"))
    }

    @Test(arguments: [
        ("<meta charset=Windows-1252><p>\u{E9}", "text/html", "text/html; charset=windows-1252"),
        (
            "<!-- <meta charset=a> --><META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=\"utf-8\"'>",
            "text/html", "text/html; charset=utf-8"
        ),
        ("<meta charset=utf-16le>", "text/html", "text/html; charset=utf-8"),
        ("<meta charset=a>", "text/html; charset=b", "text/html; charset=b"),
        ("\u{FEFF}<meta charset=a>\u{E9}", "text/html", "text/html"), ("plain", "Text/HTML", "Text/HTML"),
    ])
    func `moves a page's own declaration of its encoding to where it is heard`(page: String, type: String, sent: String)
        throws
    {
        guard case .put(_, let reported) = Self.plan(page, type) else {
            Issue.record("\(Self.plan(page, type))")
            return
        }
        #expect(reported == sent)
    }

    @Test(
        arguments: [
            ([0xFE, 0xFF, 0x00, 0x3C], "text/html", .wideEncoding),
            ([0xFF, 0xFE, 0x3C, 0x00], "text/html", .wideEncoding),
            (Array("<p>".utf8), "text/html; charset=UTF-16", .wideEncoding), ([0x3C, 0x00], "text/html", .binary),
            // gzip, and zstd with a byte of no text
            ([0x1F, 0x8B, 0x08, 0x00], "text/html", .binary), ([0x28, 0xB5, 0x2F, 0xFD, 0x04], "text/html", .binary),
            (Array("<!-- \u{1B}$B -->a".utf8), "text/html; charset=iso-2022-jp", .statefulEncoding),
            (Array("<p>\u{E9}".utf8), "text/html", .undeclared),
            (Array("<meta charset='a\"b'>".utf8), "text/html", .undeclared),
            (Array("<html".utf8), "text/html", .noPlace), (Array("<!-- never over".utf8), "text/html", .noPlace),
            (Array("<html a='never over>".utf8), "text/html", .noPlace), (Array("<".utf8), "text/html", .noPlace),
            (Array("<head>".utf8), "application/xhtml+xml", .notHTML), (Array("<head>".utf8), "text/plain", .notHTML),
        ] as [([UInt8], String, PagePlan.Reason)]
    )
    func `is none where a doubt is left`(page: [UInt8], type: String, why: PagePlan.Reason) {
        #expect(PagePlan(page, contentType: type) == .untouched(why))
    }

    @Test func `is looked for in the first 64 kB of at most 4 MB, and an encoding in the first 1,024 bytes`() {
        func page(_ comment: Int, _ rest: String = "<head>") -> [UInt8] {
            Array("<!--".utf8) + [UInt8](repeating: 0x61, count: comment) + Array("-->\(rest)".utf8)
        }
        #expect(
            PagePlan(page(64 * 1024 - 13), contentType: "text/html") == .put(at: 64 * 1024, contentType: "text/html")
        )
        #expect(PagePlan(page(64 * 1024 - 12), contentType: "text/html") == .untouched(.noPlace))
        let near = page(1_024 - 7 - 19, "<meta charset=utf-8>")
        #expect(PagePlan(near, contentType: "text/html") == .put(at: 998 + 7, contentType: "text/html"))
        let nearer = page(1_024 - 7 - 20, "<meta charset=utf-8>")
        #expect(
            PagePlan(nearer, contentType: "text/html") == .put(at: 997 + 7, contentType: "text/html; charset=utf-8")
        )
        let large = Array("<head>".utf8) + [UInt8](repeating: 0x20, count: 4 * 1024 * 1024 - 6)
        #expect(PagePlan(large, contentType: "text/html") == .put(at: 6, contentType: "text/html"))
        #expect(PagePlan(large + [0x20], contentType: "text/html") == .untouched(.tooLarge))
    }
}

/// A page that nobody holds in memory.
@Suite("A page of 50 MB that scripts are for")
struct LargePageTests {
    private struct Unread: AssetFiles, ScriptFiles {
        let reported = NIOLockedValueBox<[String]>([])

        private func file(_ name: String, size: Int) -> AssetFile {
            let identity = FileIdentity(device: 1, inode: 1, size: size, modified: 0, changed: 0)
            return AssetFile(path: SampleBundle.folder.appending(name), root: SampleBundle.folder, identity: identity)
        }

        func recorded(_ row: BundleIndex.Row) -> AssetFile? { file(row.path, size: row.size) }
        func examined(_ row: BundleIndex.Row) -> AssetFile? { recorded(row) }

        func contents(_ row: BundleIndex.Row) -> [UInt8]? {
            Issue.record("it was read")
            return nil
        }

        func recorded(_ script: ServedScripts.Script) -> AssetFile? { file("fix.js", size: script.size) }
        func examined(_ script: ServedScripts.Script) -> AssetFile? { recorded(script) }
        func leftOut(of page: String, _ reason: PagePlan.Reason) {
            reported.withLockedValue { $0.append(reason.words(page)) }
        }
    }

    @Test func `comes as it is, by its file, and that is told`() async throws {
        let (size, digest) = (50_000_000, SHA256Digest(of: []))
        let known = Fingerprint(of: [])
        let fingerprint = Fingerprint(size: size, md5: known.md5, sha1: known.sha1, sha256: digest)
        let page = try Asset(
            path: AssetPath("index.html"),
            url: "/index.html",
            type: .html,
            cacheable: false,
            sourceMap: nil,
            fingerprint: fingerprint
        )
        let manifest = AssetManifest(
            app: name("app"),
            patchID: name("web"),
            version: name("1"),
            commit: nil,
            created: nil,
            compatibility: [:],
            index: page.path,
            routes: nil,
            assets: [page]
        )
        let files = Unread()
        let index = try #require(BundleIndex(manifest, manifest: digest))
        let script = ServedScripts.Script(
            patchID: name("fix"),
            version: name("1"),
            sha256: digest,
            size: 4,
            place: ScriptPlace(.page)
        )
        let server = AssetServer.open()
        server.serve(
            ServedSelection(
                table: AssetTable(index, files: files),
                launch: nil,
                scripts: ServedScripts([script], files: files)
            )
        )
        #expect(try await server.get("/").file?.size == size)
        #expect(
            files.reported.withLockedValue(\.self) == [
                "the page / was sent without its scripts: it is larger than 4 MB"
            ]
        )
    }
}
