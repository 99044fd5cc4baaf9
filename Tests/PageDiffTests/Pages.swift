import PageDiff
import PatchFormat
import PatchCrypto

/// Pages in the words of their rule.
enum Pages {
    static let cart = page(title: "Cart", cart: "3", hello: "Ann")

    static func page(title: String, cart: String, hello: String) -> [UInt8] {
        bytes(
            "<html><head><title>\(title)</title></head><body>"
                + "<!--sonicdiff-hello--><p>Hello, \(hello)</p><!--sonicdiff-hello-end-->"
                + "<hr><!--sonicdiff-cart--><b>\(cart)</b><!--sonicdiff-cart-end--></body></html>"
        )
    }

    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
}

extension SplitPage {
    init(_ text: String) { self.init(Array(text.utf8)) }

    var templateText: String { String(decoding: template, as: UTF8.self) }

    var blockTexts: [String: String] {
        Dictionary(marks.blocks.map { ($0.name, String(decoding: page[$0.range], as: UTF8.self)) }) { $1 }
    }
}
