import PatchFormat
import PatchTesting
import PatchTrust

let app: AppID = named("com.example.storefront")
let production: ChannelName = named("production")
let web: PatchID = named("web")

func time(_ text: String) -> UTCTime {
    guard let time = UTCTime(text) else { preconditionFailure("\(text) is no time") }
    return time
}

extension JSON {
    /// A copy in which the first character of the string at `place` is another digit.
    func flipping(_ place: String) -> JSON {
        guard case .string(let string) = at(place) else { preconditionFailure("no string at \(place)") }
        return setting(place, to: .text((string.text.hasPrefix("0") ? "1" : "0") + string.text.dropFirst()))
    }
}

extension [UInt8] {
    /// A copy with one bit the other way round.
    func flippingBit(_ bit: Int) -> [UInt8] {
        var bytes = self
        bytes[bit / 8] ^= 1 << (bit % 8)
        return bytes
    }
}
