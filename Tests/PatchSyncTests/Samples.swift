import DeviceTesting
@testable import PatchChoice
import PatchFormat
@testable import PatchSync
import PatchTesting
import PatchTrust
import Testing

enum SampleApp {
    static let fix1 = SimulatedPatch.script("fix-cart-total", "1", "cart.total = 1;")
    static let fix2 = SimulatedPatch.script("fix-cart-total", "2", "cart.total = 2;")
    static let banner1 = SimulatedPatch.script("banner", "1", "show('one');")
    static let files1 = [
        "index.html": "<p>one</p>", "app/main.js": "console.log(1);", "app/lib.js": "export const lib = 1;",
        "style.css": "p {}",
    ]
    static let web1 = SimulatedPatch.bundle("web", "1.0.0", files1)
    /// One file changed, one new; the rest is that of 1.0.0.
    static let files2 = files1.merging(["app/main.js": "console.log(2);", "app/new.js": "new;"]) { $1 }
    static let web2 = SimulatedPatch.bundle("web", "2.0.0", files2)

    static let first = [fix1, banner1, web1]
    static let second = [fix2, banner1, web2]

    /// As little as shows everything: for tests that stop at each change of the disk.
    enum Small {
        private static let web1 = SimulatedPatch.bundle(
            "web",
            "1",
            ["index.html": "<p>1</p>", "app/main.js": "main(1);"]
        )
        private static let web2 = SimulatedPatch.bundle(
            "web",
            "2",
            ["index.html": "<p>1</p>", "app/main.js": "main(2);"]
        )
        /// With neighbours that come as a part of its pack.
        private static let packed = SimulatedPatch.bundle(
            "web",
            "2",
            Dictionary(uniqueKeysWithValues: (0..<9).map { ("app/\($0).js", "part(\($0));") })
                .merging(["index.html": "<p>1</p>", "app/main.js": "main(2);"]) { $1 }
        )
        private static let between1 = SimulatedPatch.bundle(
            "web",
            "1.5",
            ["index.html": "<p>1.5</p>", "app/main.js": "main(1.5);"]
        )
        /// With one file more that stays the same, so that two packs cost less than all of it.
        static func heavy(_ patches: [SimulatedPatch]) -> [SimulatedPatch] {
            patches.map { patch in
                patch.with { patch in
                    guard case .bundle(let files) = patch.content else { return }
                    patch.content = .bundle(files + [SimulatedPatch.File("large.js", noise(60_000, seed: 11))])
                }
            }
        }
        static let first = [fix1, web1]
        static let between = [fix1, between1]
        static let second = [fix2, web2]
        static let secondPacked = [fix2, packed]
        static let firstLabels = "fix-cart-total 1, web 1"
        static let secondLabels = "fix-cart-total 2, web 2"
    }
}

extension DeviceState {
    /// As version 1 wrote it, with whole selections in it.
    var whole: JSON { json(Self.wholeFormat) { $0.json } }

    /// Written and read again, as version 2 and as version 1.
    func reread() throws -> DeviceState {
        let known = Dictionary(selections.map { ($0.content.digest, $0.content) }) { first, _ in first }
        let finding = Finding(
            selection: { digest throws(FormatError) in
                guard let content = known[digest] else {
                    throw FormatError("state.json", rule: "names what is not there")
                }
                return content
            },
            earlier: { known[$0] }
        )
        let old = try DeviceState(whole.fileBytes, named: "state.json", finding: .nothing)
        let new = try DeviceState(json.fileBytes, named: "state.json", finding: finding)
        #expect(old == new, "the two versions say the same")
        return new
    }
}

extension DeviceState.Finding {
    /// For a state of version 1, which holds everything itself.
    static var nothing: DeviceState.Finding {
        DeviceState.Finding(
            selection: { _ throws(FormatError) in throw FormatError("state.json", rule: "names what is not there") },
            earlier: { _ in nil }
        )
    }
}
