/// How much of anything from outside is read, in one place.
///
/// Sizes are in bytes.
package enum Limits {
    /// TUF reference clients use these four where a referrer names no length.
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
    /// All of a channel's metadata in one answer; what does not fit is fetched by itself.
    package static let express = 16_777_216
    /// Which packs lead to one version, and how many of them it names.
    package static let packIndex = 65_536
    package static let rowsInPackIndex = 64
    /// A manifest of 100,000 assets is about 30 MB.
    package static let manifest = 64_000_000
    /// `manifest.sigs` of 100,000 assets signed with RSA-4096.
    package static let signatureColumn = 64_000_000
    /// The index of 100,000 installed assets with paths and URLs of a thousand bytes.
    package static let bundleIndex = 256_000_000
    /// Platforms that a bundle says something of.
    package static let compatibility = 64
    /// Folders around one asset, and all folders of a bundle: a device makes each of them.
    package static let folderDepth = 32
    package static let foldersInBundle = 100_000
    package static let routesInBundle = 1_000
    /// Patterns of files that a bundle sets response headers for, the headers of one, the bytes of one value, and of all.
    package static let headerRules = 100
    package static let headersInRule = 20
    package static let headerValue = 4_096
    package static let headersOfBundle = 16_384
    /// Patterns of the pages that one script runs in; each request for a page is compared with all of them.
    package static let pagesOfScript = 100
    /// Other patches that an entry requires, and contents of each that will do.
    package static let requires = 100
    /// Values held of one document, rows of a manifest apart: each takes some 100 bytes in memory, however few it has in the document.
    package static let valuesInDocument = 1_000_000
    /// One string of a document; the longest that has a use is a role in the body of a call.
    package static let stringInDocument = targetsRole
    package static let dial = 1_000_000
    /// A channel's online parameters, and each text among them.
    package static let parameters = 65_536
    package static let parametersInChannel = 256
    package static let parameterText = 4_096
    /// What a device asks the server, and what it is answered.
    package static let question = 65_536
    package static let answer = 262_144
    package static let placesInQuestion = 32
    /// As many for one user as for everyone.
    package static let choicesInAnswer = 2 * answersForOne
    package static let answersForOne = 200
    /// What is chosen in one channel, for all users together.
    package static let answersInChannel = 10_000
    package static let assetsInBundle = 100_000
    package static let patchesInList = 10_000
    package static let withdrawnInList = 10_000
    /// What a server calls a file, an entity tag or a date; no longer one is sent back.
    package static let validator = 1_024
    /// One script or asset.
    package static let object = 4_000_000_000
    /// A script that a developer tries without a server.
    package static let testScript = 16_000_000
    /// A package of JSPatch's loader or platform, all scripts that come out of it, and how many: real ones have some kilobytes.
    package static let loaderPackage = 16_000_000
    package static let loaderScripts = 64_000_000
    package static let scriptsInLoaderPackage = 1_000
    /// Versions of an app on a wire of JSPatch's, and packages of each that can be had.
    package static let gatewayLines = 200
    package static let packagesOfLine = 100
    /// What a client of JSPatch's platform is told to do, and the answer to what it reports: real ones have some bytes.
    package static let platformSyncFile = 16_384
    package static let platformReply = 4_096
    /// The form that such a client posts, of some hundred bytes.
    package static let platformStatistic = 4_096
    /// What such a client has reported or has to, each of some hundred bytes.
    package static let platformReports = 1_000
    /// Wires of other systems, of one entry.
    package static let gateways = 16
    /// What a Meteor server says its app consists of, and its index page: real ones have some kilobytes.
    package static let meteorManifest = 16_000_000
    package static let meteorIndexPage = 4_000_000
    package static let meteorRecord = 4_000_000
    /// What one version of a Meteor app may make a device download, unless its setting says another number: real ones have some
    /// megabytes.
    package static let meteorDownload = 500_000_000
    package static let stateFile = 16_000_000
    /// Which versions a device runs, with their signatures: a list of its largest size, and each bundle's column besides.
    package static let selection = 24_000_000
    /// Versions that failed, could not be fetched, wait, were approved of or do not fit, and places: of each so many in a device's state.
    ///
    /// The largest rows of all together have some 3,100 bytes, so that they fit into ``stateFile``.
    package static let rowsInState = patchesInList / 2
    /// The text of one rule's condition.
    package static let condition = 4_096
    package static let comparisonsInCondition = 64
    package static let usersOfEntry = 100_000
    /// Members of one entry's rules, known and unknown.
    package static let rulesOfEntry = 64
    /// What an entry says of the security hole that it closes: characters, and bytes.
    package static let advisoryText = 2_000
    package static let advisoryURL = 2_048
    package static let releaseDescription = 1_000_000
    package static let keyFile = 65_536
    /// What an external signer prints.
    package static let signature = 16_384
    /// A TLS certificate and those that lead to its root.
    package static let certificates = 262_144
    package static let releaseHeader = 65_536
    package static let signaturesOnRole = 64
    /// Keys in one table of a root or a targets role: each is opened to be read.
    package static let keysInRole = 256
    /// Keys of one channel that sign entries.
    package static let entryKeys = 100
    /// Algorithms listed for one file.
    package static let hashesOfFile = 16
    /// A root and a targets role in one file.
    package static let trustDraft = root + targetsRole + 65_536
}
