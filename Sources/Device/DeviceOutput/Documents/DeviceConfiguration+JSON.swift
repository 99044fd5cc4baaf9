package import PatchChoice
import PatchFetch
package import PatchFormat
package import PatchSync
import SystemPackage

extension DeviceConfiguration {
    /// The document of `patchsync switch --json` after a change of channel or server.
    package func followed(running: Selection?) -> JSON {
        .fields([
            ("channel", .text(channel.text)), ("server", .text(server.text)),
            ("running", running.map { .text($0.words) }),
        ])
    }

    /// The document of `patchsync set --json`: the facts for rules, and the servers.
    package var facts: JSON {
        .fields([
            ("appVersion", appVersion.map { .text($0.text) }), ("user", user.map { .text($0.text) }),
            ("data", dataJSON),
            ("platform", platform?.json), ("keep", .integer(keep)), ("answers", .bool(answers)),
            ("debug", .bool(debug)), ("express", .bool(express)),
            ("entrySignatures", .text(entrySignatures.rawValue)),
            ("mirrors", .array(access.mirrors.map { .text($0.text) })),
            ("pins", .array(access.pins.map { .text($0.description) })),
            ("host", .text(pages.host.rawValue)), ("ownHost", .bool(host != nil)),
            ("reserve", reserve.map { .integer($0) }),
            ("ca", .bool(access.authorities != nil)),
            ("embedded", embedded.map { .text($0.string) }), ("network", StatusDocument.network.json(network)),
            ("policy", StatusDocument.policy.json(policy)),
        ])
    }
}
