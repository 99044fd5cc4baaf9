import HTTPCore
import NIOHTTP1
import Testing

@Suite("Accept-Encoding")
struct ContentCodingTests {
    @Test(
        arguments: [
            ([], []), ([""], []), (["gzip"], [.gzip]), (["gzip, deflate, br, zstd"], [.brotli, .zstandard, .gzip]),
            (["gzip", "br"], [.brotli, .gzip]), (["x-gzip"], [.gzip]), (["GZIP"], [.gzip]),
            (["br;q=0.5, gzip;q=0.8"], [.gzip, .brotli]), (["br;q=0, gzip"], [.gzip]),
            (["*"], [.brotli, .zstandard, .gzip]),
            (["*;q=0.1, gzip"], [.gzip, .brotli, .zstandard]), (["*, br;q=0"], [.zstandard, .gzip]),
            (["identity"], []), (["identity, gzip;q=0.5"], []), (["identity;q=0.5, gzip"], [.gzip]),
            (["identity;q=0, gzip;q=0.001"], [.gzip]), (["gzip ; q=1.000"], [.gzip]), (["gzip;q=1.001"], []),
            (["gzip;q=2"], []), (["gzip;q=0.0001"], []), (["gzip;q=-1"], []), (["gzip;q="], []), (["gzip;x=1"], []),
            (["brotli"], []), ([",, gzip ,"], [.gzip]),
        ] as [([String], [ContentCoding])]
    )
    func `says which codings may be sent, most wanted first`(values: [String], codings: [ContentCoding]) {
        #expect(ContentCoding.accepted(in: HTTPHeaders(values.map { ("Accept-Encoding", $0) })) == codings)
    }
}
