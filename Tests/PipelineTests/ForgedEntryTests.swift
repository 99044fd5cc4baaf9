import Testing

private let rsa = "its RSA signature does not verify"
private let notSigned = "RSA signature does not verify"
private let main = "web 2.0.0 app/main.js"

/// The roles are in good order, so only the entry's own digests and RSA signature can tell (design, Trust).
@Suite("A forged entry")
struct ForgedEntryTests {
    @Test(arguments: [
        Forgery("list_size", "fix 2", rsa, judge: "size "),
        Forgery("list_digest|md5", "fix 2", rsa, judge: "md5 is "),
        Forgery("list_digest|sha1", "fix 2", rsa, judge: "sha1 is "),
        Forgery(
            "list_digest|sha256",
            "fix 2",
            "production/patchlist.json: patches[0].url must be objects/",
            judge: notSigned
        ),
        Forgery("list_takes_bytes_of_tip", "fix 2", rsa, judge: notSigned),
        Forgery("list_signature", "fix 2", rsa, judge: notSigned),
        Forgery(
            "list_keyid",
            "fix 2",
            "signed by a key that the channel does not list",
            judge: "signed by unknown entry key"
        ),
        Forgery("list_other_key", "fix 2", rsa, judge: notSigned),
        Forgery("list_moved|app|com.example.other", "fix 2", rsa, judge: notSigned),
        Forgery("list_moved|channel|beta", "fix 2", rsa, judge: notSigned),
        Forgery("list_moved|patchId|tip", "fix 2", rsa, judge: notSigned),
        Forgery("list_moved|version|1", "fix 2", rsa, judge: notSigned),
        Forgery("list_moved|kind|bundle", "fix 2", rsa, judge: notSigned),
        Forgery("list_takes_signature_of_tip", "fix 2", rsa, judge: notSigned),
        Forgery(
            "list_wrong_but_signed|md5",
            "fix 2",
            "the md5 does not match its entry",
            judge: "md5 is "
        ),
        Forgery(
            "list_wrong_but_signed|sha1",
            "fix 2",
            "the sha1 does not match its entry",
            judge: "sha1 is "
        ),
        Forgery(
            "list_field|version|\"2/3\"",
            "fix: production/patchlist.json: patches[0].version must be 1 to 64 of",
            judge: "fix 2/3: patchId, version or kind is not allowed"
        ),
        Forgery(
            "list_field|kind|\"trick\"",
            "fix 2",
            "production/patchlist.json: patches[0].kind must be script or bundle",
            judge: "patchId, version or kind is not allowed"
        ),
    ])
    func `of a list is refused alone, by name, and everything else comes`(_ forgery: Forgery) async throws {
        try await forgery.expect(taken: .allButFix)
    }

    @Test(arguments: [
        Forgery("asset_digest|md5", main, rsa, judge: "md5 is "),
        Forgery("asset_digest|sha1", main, rsa, judge: "sha1 is "),
        Forgery("asset_digest|sha256", main, rsa, judge: notSigned),
        Forgery("asset_signature", main, rsa, judge: notSigned),
        Forgery("asset_moved|app|com.example.other", main, rsa, judge: notSigned),
        Forgery("asset_moved|patchId|admin", main, rsa, judge: notSigned),
        Forgery("asset_moved|path|app/boot.js", main, rsa, judge: notSigned),
        Forgery("asset_takes_place_of_other", main, rsa, judge: notSigned),
        Forgery("asset_wrong_but_signed|md5", main, "the md5 does not match its entry", judge: "md5 is "),
        Forgery("asset_wrong_but_signed|sha1", main, "the sha1 does not match its entry", judge: "sha1 is "),
        Forgery(
            "column_bytes|keyid",
            main,
            "signed by a key that the channel does not list",
            judge: "signed by unknown entry key"
        ),
        Forgery(
            "column_bytes|truncated",
            "web 2.0.0 manifest.sigs: length is 256 for 5 signatures in 1325 bytes",
            judge: "web 2.0.0: manifest.sigs holds 5 signatures",
            code: 9
        ),
        Forgery(
            "column_bytes|longer",
            "web 2.0.0 manifest.sigs: length is 256 for 5 signatures in 1327 bytes",
            judge: "web 2.0.0: manifest.sigs holds 5 signatures",
            code: 9
        ),
        Forgery(
            "column_bytes|count",
            "web 2.0.0 manifest.sigs: count is 6 for a manifest of 5 assets",
            judge: "web 2.0.0: manifest.sigs holds 6 signatures",
            code: 9
        ),
        Forgery(
            "column_bytes|magic",
            "web 2.0.0 manifest.sigs must start with PLSIGS1, a newline, a key id",
            judge: "web 2.0.0: manifest.sigs has another magic",
            code: 9
        ),
        Forgery(
            "manifest_header|app|com.example.other",
            "web 2.0.0 manifest: is for app com.example.other, not com.example.pipeline",
            judge: "manifest says app"
        ),
        Forgery(
            "manifest_header|patchId|admin",
            "web 2.0.0 manifest: is for patchId admin, not web",
            judge: "manifest says patchId"
        ),
        Forgery(
            "manifest_header|version|9",
            "web 2.0.0 manifest: is for version 9, not 2.0.0",
            judge: "manifest says version"
        ),
        Forgery(
            "manifest_header|format|v9",
            "web 2.0.0 manifest: format must be patchline-manifest-v1",
            judge: "manifest says format",
            code: 9
        ),
        Forgery(
            "manifest_digest_unsigned",
            "web 2.0.0 manifest: the md5 does not match its entry",
            judge: "web 2.0.0 manifest: md5"
        ),
    ])
    func `of a bundle refuses that bundle, and everything else comes`(_ forgery: Forgery) async throws {
        try await forgery.expect(taken: .allButWeb)
    }

    /// Everything is signed, so nothing but the rules for paths stands between it and the disk.
    @Test(arguments: [
        Forgery("manifest_path|../escape.js", "has a '.' or '..' segment", judge: "is not allowed", code: 9),
        Forgery("manifest_path|app/../../escape.js", "has a '.' or '..' segment", judge: "is not allowed", code: 9),
        Forgery("manifest_path|/etc/escape.js", "is absolute", judge: "is not allowed", code: 9),
        Forgery("manifest_path|app//escape.js", "has an empty segment", judge: "is not allowed", code: 9),
        Forgery("manifest_path|app\\\\escape.js", "has a backslash", judge: "is not allowed", code: 9),
        Forgery("manifest_path|app/\\x00.js", "has a control character", judge: "is not allowed", code: 9),
        Forgery("manifest_path|app/\\x1b[2J.js", "has a control character", judge: "is not allowed", code: 9),
        Forgery(
            "manifest_path|app/a\\xcc\\x8a.js",
            "is not in Unicode normal form C",
            judge: "is not allowed",
            code: 9
        ),
        Forgery(
            "manifest_again|app/same.css",
            "assets[3].path is listed twice",
            judge: "stands twice after case folding",
            code: 9
        ),
        Forgery(
            "manifest_again|app/SAME.css",
            "app/same.css equals app/SAME.css after case folding",
            judge: "stands twice after case folding",
            code: 9
        ),
    ])
    func `with a path that leads elsewhere refuses its bundle`(_ forgery: Forgery) async throws {
        try await forgery.expect(taken: .allButWeb)
    }
}
