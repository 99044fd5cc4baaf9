import HTTPFiles
package import PatchFormat
import PatchCrypto

/// The channel's online parameters, as a page receives them.
package struct PageParameters: Equatable, Sendable {
    package let channel: String
    package let values: [ParameterName: ParameterValue]

    package init(channel: String, values: [ParameterName: ParameterValue]) {
        self.channel = channel
        self.values = values
    }

    /// Identifies these values.
    package var tag: String { SHA256Digest(of: json.fileBytes).hex }

    private var json: JSON {
        .fields([("channel", .text(channel)), ("parameters", values.json)])
    }

    var answer: FileAnswer {
        .bytes(ServedBytes(bytes: json.fileBytes, entityTag: tag, contentType: "application/json"))
    }
}
