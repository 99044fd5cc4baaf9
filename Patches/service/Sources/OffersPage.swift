import Hummingbird

/// `GET /offers`: a page that is made anew for each request, and is the same but for a number.
///
/// The comments say where: clients of ``PageDifferences``'s protocols get what stands between them, and not the page again.
enum OffersPage {
    static func text(visit: Int) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head><meta charset="utf-8"><title>Offers</title><script src="/__patchline/page.js"></script></head>
        <body>
        <h1>Offers</h1>
        <p><!--sonicdiff-visits--><output id="visits">\(visit)</output><!--sonicdiff-visits-end--> visits today.</p>
        <table>
        \(rows)
        </table>
        </body>
        </html>

        """
    }

    private static let rows = [
        "Morning mug", "Field tumbler", "Supper bowl", "Tea pot", "Breakfast plate", "Water jug",
    ]
    .map { "<tr><td>\($0)</td><td>three or more of one kind: 10 % off; free shipping from 60.00 on</td></tr>" }
    .joined(separator: "\n")

    static func response(visit: Int) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text(visit: visit)))
        )
    }
}
