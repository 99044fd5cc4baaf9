/// The limits of all input from outside.
///
/// Sizes are in bytes.
package enum Limits {
    /// TUF reference clients use these four if the referring metadata names no length.
    package static let root = 512_000
    package static let timestamp = 16_384
    package static let snapshot = 2_000_000
    package static let targetsRole = 5_000_000
    /// New roots followed in one refresh.
    package static let rootRotations = 256
    /// Roles visited in one search.
    package static let delegations = 32
    /// A patch list of some ten thousand entries.
    package static let patchList = 16_000_000
    /// A channel's metadata in one response.
    ///
    /// Files that do not fit are downloaded separately.
    package static let express = 16_777_216
    /// The index of packs that lead to one version, and the number of its rows.
    package static let packIndex = 65_536
    package static let rowsInPackIndex = 64
    /// A manifest of 100,000 assets is about 30 MB.
    package static let manifest = 64_000_000
    /// `manifest.sigs` of 100,000 assets signed with RSA-4096.
    package static let signatureColumn = 64_000_000
    /// The index of 100,000 installed assets with paths and URLs of a thousand bytes.
    package static let bundleIndex = 256_000_000
    /// Platforms in a bundle's compatibility table.
    package static let compatibility = 64
    /// The depth of an asset's folder, and all folders of a bundle.
    ///
    /// A device creates each of them.
    package static let folderDepth = 32
    package static let foldersInBundle = 100_000
    package static let routesInBundle = 1_000
    /// Header rules of a bundle, headers in one rule, the bytes of one value, and of all.
    package static let headerRules = 100
    package static let headersInRule = 20
    package static let headerValue = 4_096
    package static let headersOfBundle = 16_384
    /// Page patterns of one script.
    ///
    /// Each page request is compared with all of them.
    package static let pagesOfScript = 100
    /// Other patches that an entry requires, and the accepted contents of each.
    package static let requires = 100
    /// Values of one document in memory, excluding manifest rows.
    ///
    /// Each uses about 100 bytes of memory, however few it has in the document.
    package static let valuesInDocument = 1_000_000
    /// One string of a document.
    ///
    /// The longest one in use is a role in a request body.
    package static let stringInDocument = targetsRole
    package static let dial = 1_000_000
    /// A channel's online parameters, and each text among them.
    package static let parameters = 65_536
    package static let parametersInChannel = 256
    package static let parameterText = 4_096
    /// A device's question to the server, and the answer.
    package static let question = 65_536
    package static let answer = 262_144
    package static let placesInQuestion = 32
    /// The same number for one user and for everyone.
    package static let choicesInAnswer = 2 * answersForOne
    package static let answersForOne = 200
    /// Choices in one channel, for all users together.
    package static let answersInChannel = 10_000
    package static let assetsInBundle = 100_000
    package static let patchesInList = 10_000
    package static let withdrawnInList = 10_000
    /// A server's file name, entity tag or date.
    ///
    /// Longer ones are not sent back.
    package static let validator = 1_024
    /// One script or asset.
    package static let object = 4_000_000_000
    /// A script that a developer tries without a server.
    package static let testScript = 16_000_000
    /// A package of JSPatch's loader or platform, the total size of its scripts, and their number.
    ///
    /// Real packages have a few kilobytes.
    package static let loaderPackage = 16_000_000
    package static let loaderScripts = 64_000_000
    package static let scriptsInLoaderPackage = 1_000
    /// Versions of an app on one of JSPatch's protocols, and available packages of each.
    package static let gatewayLines = 200
    package static let packagesOfLine = 100
    /// The instructions for a client of JSPatch's platform, and the reply to its reports.
    ///
    /// Real ones have a few bytes.
    package static let platformSyncFile = 16_384
    package static let platformReply = 4_096
    /// The form that such a client posts, a few hundred bytes.
    package static let platformStatistic = 4_096
    /// Sent and pending reports of such a client, a few hundred bytes each.
    package static let platformReports = 1_000
    /// Gateways of one entry.
    package static let gateways = 16
    /// A Meteor server's manifest of an app, and its index page.
    ///
    /// Real ones have a few kilobytes.
    package static let meteorManifest = 16_000_000
    package static let meteorIndexPage = 4_000_000
    package static let meteorRecord = 4_000_000
    /// The bytes that a device may download for one version of a Meteor app, unless it is configured otherwise.
    ///
    /// Real versions have a few megabytes.
    package static let meteorDownload = 500_000_000
    package static let stateFile = 16_000_000
    /// The versions that a device runs, with their signatures: a list of its largest size, and each bundle's signature column.
    package static let selection = 24_000_000
    /// Rows of each kind in a device's state: failed, unavailable, pending, approved and oversized versions, and places.
    ///
    /// The largest rows of all kinds together have about 3,100 bytes, so that all of them fit into ``stateFile``.
    package static let rowsInState = patchesInList / 2
    /// The text of one rule's condition.
    package static let condition = 4_096
    package static let comparisonsInCondition = 64
    package static let usersOfEntry = 100_000
    /// Members of one entry's rules, known and unknown.
    package static let rulesOfEntry = 64
    /// The security advisory of an entry: characters of its text, and bytes of its URL.
    package static let advisoryText = 2_000
    package static let advisoryURL = 2_048
    package static let releaseDescription = 1_000_000
    package static let keyFile = 65_536
    /// The output of an external signer.
    package static let signature = 16_384
    /// A TLS certificate and its chain to the root.
    package static let certificates = 262_144
    package static let releaseHeader = 65_536
    package static let signaturesOnRole = 64
    /// Keys in one table of a root or a targets role.
    ///
    /// Parsing opens each of them.
    package static let keysInRole = 256
    /// Keys of one channel that sign entries.
    package static let entryKeys = 100
    /// Algorithms listed for one file.
    package static let hashesOfFile = 16
    /// A root and a targets role in one file.
    package static let trustDraft = root + targetsRole + 65_536
}
