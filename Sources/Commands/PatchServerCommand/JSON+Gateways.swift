import PatchFormat
import CommandKit

extension JSON {
    /// The versions that clients of other systems receive, a line each, from the member `gateways` of a list or dial.
    func gatewayLines(_ channel: String) -> [String] {
        guard case .array(let items) = self else { return [] }
        return items.flatMap { item in item.gatewayWords.map { printable("gateway: \(channel) \($0)") } }
    }

    private var gatewayWords: [String] {
        switch words("gateway") {
        case "meteor":
            guard self["patchId"] != nil else {
                return ["meteor: clients get nothing: no version that is switched on is for every device"]
            }
            return ["meteor: clients get \(words("patchId")) \(words("version"))"]
        case let wire:
            let key = self["appKey"] == nil ? "" : " \(words("appKey"))"
            let name = "\(wire)\(key) \(words("appVersion"))"
            guard isTrue("on") else { return ["\(name) is switched off after version \(number("latest") ?? 0)"] }
            return ["\(name): \(packageWords)"] + developersWords(name)
        }
    }

    private var packageWords: String {
        let open = number("open").map { "version \($0) can be fetched" } ?? "nothing can be fetched"
        guard let told = self["told"] else { return open }
        let words = "clients receive \(told.text)"
        // The package can be fetched, but clients that must delete or wait do not use it.
        if told["e"] != nil { return "\(words), and delete their version" }
        return told.isTrue("p") ? "\(words): no further client installs it" : "\(open), and \(words)"
    }

    private func developersWords(_ name: String) -> [String] {
        items("developers").map { there in
            "\(name): at \(there.words("channel")), developers receive \(there["told"]?.text ?? "-")"
        }
    }

    private var text: String { String(decoding: canonicalBytes, as: UTF8.self) }
}
