import PatchChoice
import PatchFormat

/// Bars of the versions of each patch on the devices, before and after.
extension SimulationResult {
    /// - Parameter width: The length of a bar for all devices, in characters.
    package func bars(width: Int = 50) -> [String] {
        patches.flatMap { patch in
            let labels = (Array(patch.before.keys) + Array(patch.after.keys)).map { $0?.text ?? Self.nothing }
            let longest = labels.map(\.count).max() ?? 0
            func lines(_ name: String, _ counts: [VersionLabel?: Int]) -> [String] {
                SimulationResult.Patch.ordered(counts).enumerated().map { index, row in
                    let label = row.version?.text ?? Self.nothing
                    let space = String(repeating: " ", count: longest - label.count)
                    let bar = Self.bar(row.devices, of: devices, width: width)
                    return "  \(index == 0 ? name : "      ")  \(label)\(space)  \(bar) \(percent(row.devices))"
                }
            }
            return ["\(patch.id)"] + lines("before", patch.before) + lines("after ", patch.after)
        }
    }

    private static let nothing = "nothing"

    /// The share of all devices: `25 %`, `30.43 %`.
    ///
    /// A count above 0 is never shown as 0 %.
    package func percent(_ count: Int) -> String {
        let share = devices == 0 ? 0 : (count * 10_000 + devices / 2) / devices
        return count > 0 && share == 0 ? "< 0.01 %" : Words.percent(share)
    }

    /// Draws a bar, with a resolution of an eighth of a character.
    private static func bar(_ count: Int, of all: Int, width: Int) -> String {
        let eighths = all == 0 ? 0 : count * width * 8 / all
        let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
    }

    /// The bars as a picture: for each patch a row before and a row after, with a part for each version.
    package var svg: String {
        let (left, width, height) = (120, 640, 24)
        var y = 40
        var out: [String] = []
        for patch in patches {
            out.append("<text x=\"8\" y=\"\(y)\" class=\"name\">\(patch.id)</text>")
            for (name, counts) in [("before", patch.before), ("after", patch.after)] {
                y += 8
                out.append("<text x=\"8\" y=\"\(y + 17)\">\(name)</text>")
                var x = 0
                for (index, row) in SimulationResult.Patch.ordered(counts).enumerated() {
                    let part = devices == 0 ? 0 : (x + row.devices) * width / devices - x * width / devices
                    let color = row.version == nil ? "#ddd" : Self.color(row.version, of: patch, else: index)
                    let label = "\(row.version?.text ?? Self.nothing) \(percent(row.devices))"
                    let start = left + (devices == 0 ? 0 : x * width / devices)
                    out.append(
                        "<rect x=\"\(start)\" y=\"\(y)\" width=\"\(part)\" height=\"\(height)\" fill=\"\(color)\">"
                    )
                    out.append("<title>\(escaped(label)): \(Words.count(row.devices, "device"))</title></rect>")
                    if part > 7 * label.count {
                        out.append("<text x=\"\(start + 4)\" y=\"\(y + 17)\">\(escaped(label))</text>")
                    }
                    x += row.devices
                }
                y += height
            }
            y += 32
        }
        let head =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(left + width + 16)\" height=\"\(y)\" "
            + "font-family=\"sans-serif\" font-size=\"12\">"
        let title = "<title>\(Words.count(devices, "device")), seed \(seed)</title>"
        let style = "<style>.name{font-weight:bold}</style>"
        return ([head, title, style] + out + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    /// Returns a colour, which is the same before and after for the same version.
    private static func color(_ version: VersionLabel?, of patch: Patch, else index: Int) -> String {
        let palette = ["#7fb3d5", "#82c99d", "#f7c97f", "#d7a6e0", "#f1948a", "#a3b1bf"]
        let all = Set((Array(patch.before.keys) + Array(patch.after.keys)).compactMap(\.?.text)).sorted()
        let place = version.flatMap { all.firstIndex(of: $0.text) } ?? index
        return palette[place % palette.count]
    }

    /// Escapes "<".
    ///
    /// Names contain no other character that XML reserves.
    private func escaped(_ text: String) -> String {
        text.split(separator: "<", omittingEmptySubsequences: false).joined(separator: "&lt;")
    }
}
