// swift-tools-version: 6.3
import PackageDescription

// One settings list for every Swift target of this package.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .treatWarning("DeprecatedDeclaration", as: .warning),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioConcurrency = Target.Dependency.product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

let package = Package(
    name: "Patchline",
    products: [
        .executable(name: "patchsign", targets: ["PatchSignCommand"]),
        .executable(name: "patchsrv", targets: ["PatchServerCommand"]),
        .executable(name: "patchsync", targets: ["PatchSyncCommand"]),
        // The one program that links an engine.
        .executable(name: "patchscript", targets: ["PatchScriptCommand"]),
        .library(name: "Patchline", targets: ["Patchline"]),
        // For a site's own server.
        .library(name: "PatchlinePages", targets: ["PatchlinePages"]),
        // Apart, for it links an engine: what runs script patches.
        .library(name: "PatchRuntime", targets: ["PatchRuntime", "PatchlineScripts"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
    ],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(name: "CLZMA", pkgConfig: "liblzma", providers: [.apt(["liblzma-dev"])]),
        .systemLibrary(name: "CBrotli", pkgConfig: "libbrotlidec", providers: [.apt(["libbrotli-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CJavaScriptCore",
            pkgConfig: "javascriptcoregtk-4.1",
            providers: [.apt(["libjavascriptcoregtk-4.1-dev"])]
        ),
        .target(name: "YAMLReading", dependencies: ["CYAML"]),

        .target(name: "PatchFormat"),
        .target(name: "PatchTrust", dependencies: ["COpenSSL", "PatchFormat"]),
        .target(name: "PatchCompression", dependencies: ["CLZMA", "CZlib", "CZstd", "PatchFormat"]),
        // Pure: packs from a base are made and applied in memory, and what holds the contents is somebody else's.
        .target(name: "PatchDelta", dependencies: ["PatchCompression", "PatchFormat", "PatchTrust"]),
        // Pure: what the wires of other systems carry, as bytes.
        .target(name: "Gateways", dependencies: ["PatchCompression", "PatchFormat", "PatchTrust"]),
        // Pure: pages as templates and data, as VasSonic takes them apart.
        .target(name: "PageDiff", dependencies: ["PatchFormat", "PatchTrust"]),
        .target(name: "FileFacts"),
        .target(
            name: "PatchStore",
            dependencies: ["CLinux", "FileFacts", "PatchFormat", "PatchTrust", nioConcurrency, systemPackage]
        ),
        .target(name: "HTTPPeers", dependencies: [nioCore, nioHTTP1, nioSSL, nioTLS]),
        .target(
            name: "HTTPFiles",
            dependencies: [
                "CLinux", "FileFacts", "HTTPPeers", lifecycle, nioCore, nioPosix, nioHTTP1, nioSSL, nioTLS,
                nioConcurrency,
                systemPackage,
            ]
        ),
        .target(
            name: "ReleaseFolder",
            dependencies: ["FileFacts", "PatchFormat", "PatchTrust", "PatchStore", systemPackage]
        ),
        .target(
            name: "PatchRelease",
            dependencies: [
                "CBrotli", "CLinux", "ChildProcess", "PatchLanguage", "Gateways", "PatchCompression", "PatchDelta",
                "PatchFormat",
                "PatchTrust", "PatchStore",
                "ReleaseFolder",
                "YAMLReading", systemPackage,
            ]
        ),
        // A command that is run, waited for, and killed where it takes too long.
        .target(name: "ChildProcess", dependencies: ["CLinux"]),
        .target(
            name: "ReleaseTree",
            dependencies: ["FileFacts", "PatchFormat", "PatchTrust", "PatchStore", "ReleaseFolder", systemPackage]
        ),
        .target(
            name: "PatchServer",
            dependencies: [
                "FileFacts", "Gateways", "PatchCompression", "PatchDelta", "PatchFormat", "PatchTrust", "PatchStore",
                "ReleaseFolder",
                "ReleaseTree", "HTTPFiles",
                lifecycle,
                nioConcurrency,
                nioCore, nioHTTP1, nioPosix, systemPackage, "YAMLReading",
            ]
        ),
        .target(name: "ServerRecords", dependencies: ["CSQLite", "PatchFormat", "PatchTrust", systemPackage]),
        .target(
            name: "ReleaseService",
            dependencies: [
                "FileFacts", "Gateways", "PatchCompression", "PatchDelta", "PatchFormat", "PatchTrust", "PatchStore",
                "ReleaseFolder",
                "PatchServer", "ReleaseTree", "ServerRecords", lifecycle, nioConcurrency, nioCore, nioPosix,
                systemPackage,
            ]
        ),
        .target(
            name: "ReleaseAPI",
            dependencies: [
                "Gateways", "PatchCompression", "PatchDelta", "PatchFormat", "PatchTrust", "PatchStore",
                "ReleaseFolder",
                "PatchServer",
                "ReleaseTree",
                "ReleaseService",
                "ServerRecords", "HTTPFiles", httpTypes, hummingbird, hummingbirdCore, lifecycle, logging,
                nioConcurrency, nioCore, nioHTTP1, nioPosix, systemPackage,
            ]
        ),
        // What the device, patchsign push and the proxy ask servers with.
        .target(
            name: "PatchFetch",
            dependencies: [
                "CLinux", "PatchCompression", "PatchFormat", "PatchTrust", "HTTPPeers", asyncHTTPClient, nioConcurrency,
                nioCore, nioHTTP1,
                nioPosix, nioSSL, systemPackage,
            ]
        ),
        .target(
            name: "ReleaseClient",
            dependencies: [
                "FileFacts", "PatchCompression", "PatchDelta", "PatchFormat", "PatchTrust", "PatchStore", "PatchFetch",
                "ReleaseFolder",
                "HTTPPeers", asyncHTTPClient,
                nioConcurrency, nioCore, nioHTTP1, systemPackage,
            ]
        ),
        // Pure: it has nothing to read a file or to ask a server with.
        .target(name: "PatchChoice", dependencies: ["PatchFormat", "PatchTrust", nioConcurrency]),
        // What a list and a dial would do to many devices.
        .target(
            name: "FleetSimulation",
            dependencies: ["PatchChoice", "PatchFormat", "PatchTrust", "YAMLReading"]
        ),
        .target(
            name: "PatchSync",
            dependencies: [
                "FileFacts", "PatchChoice", "PatchCompression", "PatchDelta", "PatchFetch", "PatchFormat", "PatchTrust",
                "PatchStore", "ReleaseFolder",
                nioConcurrency, systemPackage,
            ]
        ),
        // What fetches and keeps what other systems' servers have.
        .target(
            name: "GatewayClients",
            dependencies: [
                "Gateways", "PatchFetch", "PatchFormat", "PatchStore", "PatchTrust", nioConcurrency, systemPackage,
            ]
        ),
        .target(
            name: "AssetServer",
            dependencies: [
                "FileFacts", "PatchFormat", "PatchLanguage", "PatchTrust", "HTTPFiles", nioConcurrency, nioCore,
                nioHTTP1,
                nioPosix, systemPackage,
            ]
        ),
        // What a kiosk's owner puts into a folder of it, over the local server.
        .target(
            name: "FolderUploads",
            dependencies: ["FileFacts", "PatchFormat", "PatchStore", "HTTPFiles", nioCore, nioHTTP1, systemPackage]
        ),
        .target(
            name: "APIProxy",
            dependencies: [
                "PatchFetch", "PatchFormat", "HTTPFiles", "HTTPPeers", asyncHTTPClient, nioConcurrency, nioCore,
                nioHTTP1, nioPosix, nioSSL,
            ]
        ),
        // Pages as their clients need them: for any server, and for a proxy in front of one.
        .target(
            name: "PageServing",
            dependencies: [
                "HTTPFiles", "PageDiff", "PatchCompression", "PatchFormat", "PatchTrust", nioConcurrency, nioHTTP1,
            ]
        ),
        .target(
            name: "PatchlinePages",
            dependencies: ["PageDiff", "PageServing", "PatchFormat", httpTypes, hummingbird, nioCore, nioHTTP1]
        ),
        // The device's side of page differences: kept pages before the proxy.
        .target(
            name: "PageSessions",
            dependencies: [
                "APIProxy", "AssetServer", "FileFacts", "HTTPFiles", "PageDiff", "PatchCompression", "PatchFormat",
                "PatchStore",
                "PatchTrust", nioConcurrency, nioCore, nioHTTP1, nioPosix, systemPackage,
            ]
        ),
        .target(
            name: "Patchline",
            dependencies: [
                "FileFacts", "GatewayClients", "Gateways", "PatchFetch",
                "PatchFormat", "PatchTrust", "PatchStore", "ReleaseFolder", "PatchChoice", "PatchSync", "HTTPFiles",
                "AssetServer", "FolderUploads",
                "APIProxy", "PageSessions", lifecycle, logging, nioConcurrency, nioCore, systemPackage,
            ]
        ),
        // An app in Swift whose script patches run: the only target that knows both the store and the engine.
        .target(name: "PatchlineScripts", dependencies: ["PatchRuntime", "Patchline"]),
        // The sample's service, which a script patch mends while it runs.
        .executableTarget(
            name: "ShopService",
            dependencies: [
                "PatchRuntime", "Patchline", "PatchlinePages", "PatchlineScripts", hummingbird, nioConcurrency,
                systemPackage,
            ],
            path: "Patches/service/Sources"
        ),
        // What the device's programs say, as values: for people it is printed by PatchSyncCommand.
        .target(
            name: "DeviceOutput",
            dependencies: [
                "AssetServer", "PatchChoice", "PatchFetch", "PatchFormat", "PatchStore", "PatchSync", "PatchTrust",
                "Patchline", "ReleaseFolder", "Terminal", nioConcurrency, systemPackage,
            ]
        ),
        // How a process that is there for days does nothing while nothing happens.
        .target(name: "IdleProcess", dependencies: ["CLinux", nioConcurrency, nioCore, nioPosix]),
        // One process a device, for any number of stores, and the socket that others ask it by.
        .target(
            name: "PatchDaemon",
            dependencies: [
                "APIProxy", "AssetServer", "CLinux", "DeviceOutput", "HTTPFiles", "PatchChoice", "PatchFetch",
                "PatchFormat", "PatchStore", "PatchSync", "PatchTrust", "Patchline", "Terminal", "YAMLReading",
                nioConcurrency,
                nioCore,
                nioHTTP1, systemPackage,
            ]
        ),
        // One JavaScript text, for hosts and for pages.
        .target(name: "PatchLanguage", dependencies: ["PatchFormat"]),
        .target(
            name: "PatchRuntime",
            dependencies: ["CJavaScriptCore", "PatchFormat", "PatchLanguage"]
        ),
        .target(name: "Terminal", dependencies: ["PatchFormat"]),
        .target(
            name: "CommandSupport",
            dependencies: [
                "PatchDelta", "PatchFormat", "PatchStore", "PatchTrust", "Terminal", argumentParser, systemPackage,
            ]
        ),

        .target(
            name: "SimulationSupport",
            dependencies: [
                "CommandSupport", "FleetSimulation", "PatchFormat", "PatchStore", "Terminal", argumentParser,
                systemPackage,
            ]
        ),

        .executableTarget(
            name: "PatchSignCommand",
            dependencies: [
                "ChildProcess", "Gateways", "PatchChoice", "PatchDelta", "PatchFetch", "PatchFormat", "PatchTrust",
                "PatchStore",
                "ReleaseFolder", "ReleaseClient",
                "PatchRelease", "SimulationSupport", "CommandSupport",
                "Terminal", argumentParser, nioConcurrency,
                systemPackage,
            ]
        ),
        .executableTarget(
            name: "PatchServerCommand",
            dependencies: [
                "APIProxy", "ChildProcess", "PageDiff", "PageServing", "PatchChoice", "PatchFetch",
                "PatchDelta", "PatchFormat", "PatchTrust", "PatchStore", "ReleaseFolder", "PatchServer", "ReleaseTree",
                "HTTPFiles", "HTTPPeers", "SimulationSupport",
                "ReleaseAPI", "ReleaseClient", "ReleaseService", "ServerRecords", "CommandSupport", "Terminal",
                "YAMLReading",
                argumentParser, lifecycle, unixSignals, logging, nioCore, nioHTTP1, nioPosix, nioSSL, systemPackage,
            ]
        ),
        .executableTarget(
            name: "PatchSyncCommand",
            dependencies: [
                "FileFacts", "PatchFetch",
                "PatchFormat", "PatchTrust", "PatchStore", "ReleaseFolder", "PatchChoice", "PatchSync", "APIProxy",
                "AssetServer", "ChildProcess",
                "GatewayClients", "Gateways", "HTTPFiles", "IdleProcess", "PatchDaemon", "Patchline", "CommandSupport",
                "DeviceOutput", "Terminal",
                argumentParser, unixSignals, nioConcurrency, systemPackage,
            ]
        ),

        .executableTarget(
            name: "PatchScriptCommand",
            dependencies: [
                "PatchFormat", "PatchTrust", "PatchStore", "PatchLanguage", "PatchRuntime", "Patchline",
                "CommandSupport", "Terminal", argumentParser, systemPackage,
            ]
        ),

        .target(
            name: "PatchTesting",
            dependencies: ["FileFacts", "PatchFormat", "PatchTrust", "PatchStore", nioConcurrency, systemPackage],
            path: "Tests/PatchTesting"
        ),
        .target(
            name: "DeviceTesting",
            dependencies: [
                "PatchCompression", "PatchDelta", "PatchFetch",
                "PatchFormat", "PatchTrust", "PatchStore", "ReleaseFolder", "PatchChoice", "PatchSync", "PatchTesting",
                nioConcurrency,
                systemPackage,
            ],
            path: "Tests/DeviceTesting"
        ),
        .target(
            name: "PageTesting",
            dependencies: [
                "AssetServer", "HTTPFiles", "PatchTrust", nioConcurrency, nioCore, nioHTTP1, nioPosix, systemPackage,
            ],
            path: "Tests/PageTesting"
        ),
        .target(
            name: "ServerTesting",
            dependencies: [
                "FileFacts", "HTTPFiles", "PatchFormat", "PatchServer", "PatchStore", "PatchTesting", "PatchTrust",
                "ReleaseFolder",
                "ReleaseTree", nioConcurrency, systemPackage,
            ],
            path: "Tests/ServerTesting"
        ),
        .testTarget(name: "PatchFormatTests", dependencies: ["PatchFormat"]),
        .testTarget(
            name: "PageSessionsTests",
            dependencies: [
                "APIProxy", "AssetServer", "HTTPFiles", "PageDiff", "PageSessions", "PatchCompression", "PatchFetch",
                "PatchFormat", "PatchStore", "PatchTesting", "PatchTrust", asyncHTTPClient, nioConcurrency, nioCore,
                nioHTTP1, systemPackage,
            ]
        ),
        .testTarget(
            name: "PageDiffTests",
            dependencies: ["PageDiff", "PatchFormat", "PatchTesting", "PatchTrust", subprocess, systemPackage],
            exclude: ["Judges"]
        ),
        .testTarget(
            name: "PageServingTests",
            dependencies: [
                "PageDiff", "PageServing", "PatchCompression", "PatchFormat", "PatchlinePages", "PatchTrust",
                hummingbird,
                nioCore, nioHTTP1, subprocess,
            ]
        ),
        .testTarget(name: "PatchCompressionTests", dependencies: ["PatchCompression", "PatchFormat", subprocess]),
        .testTarget(
            name: "GatewaysTests",
            dependencies: ["Gateways", "PatchCompression", "PatchFormat", "PatchTrust", subprocess]
        ),
        .testTarget(
            name: "GatewayClientsTests",
            dependencies: [
                "GatewayClients", "Gateways", "HTTPFiles", "PatchFetch", "PatchFormat", "PatchStore", "PatchTesting",
                "PatchTrust", "Patchline", nioCore, systemPackage,
            ]
        ),
        .testTarget(
            name: "PatchDeltaTests",
            dependencies: ["PatchCompression", "PatchDelta", "PatchFormat", "PatchTrust", subprocess],
            exclude: ["pack.py"]
        ),
        .testTarget(name: "PatchTrustTests", dependencies: ["PatchTrust", "PatchTesting", "PatchFormat"]),
        .testTarget(
            name: "PatchStoreTests",
            dependencies: ["FileFacts", "PatchStore", "PatchTesting", "PatchFormat", systemPackage]
        ),
        .testTarget(
            name: "HTTPFilesTests",
            dependencies: [
                "FileFacts", "FolderUploads", "HTTPFiles", "PatchStore", "PatchTesting", nioConcurrency, nioCore,
                nioPosix, nioHTTP1, nioSSL, subprocess,
                systemPackage,
            ]
        ),
        .testTarget(
            name: "PatchReleaseTests",
            dependencies: [
                "ChildProcess", "YAMLReading", "PatchCompression", "PatchDelta", "PatchRelease", "ReleaseFolder",
                "PatchTesting",
                "PatchFormat",
                "PatchTrust",
                "PatchStore", subprocess,
                systemPackage,
            ]
        ),
        .testTarget(
            name: "PatchServerTests",
            dependencies: [
                "FileFacts", "HTTPFiles", "PatchCompression", "PatchDelta", "PatchFormat", "PatchServer", "PatchStore",
                "PatchTesting", "PatchTrust", "ReleaseFolder", "ReleaseTree", "ServerTesting", lifecycle, nioCore,
                nioHTTP1, nioConcurrency, subprocess, systemPackage,
            ],
            exclude: ["express.py"]
        ),
        .testTarget(
            name: "ReleaseServiceTests",
            dependencies: [
                "Gateways", "HTTPFiles", "PatchCompression", "PatchDelta", "PatchFormat", "PatchServer", "PatchStore",
                "PatchTesting",
                "PatchTrust",
                "ReleaseFolder", "ReleaseService", "ReleaseTree", "ServerRecords", "ServerTesting", nioConcurrency,
                nioCore, nioHTTP1, nioPosix,
                systemPackage,
            ]
        ),
        .testTarget(
            name: "ReleaseClientTests",
            dependencies: [
                "PatchFetch", "ReleaseClient", "ReleaseFolder", "HTTPFiles", "PatchFormat", "PatchTrust", "PatchStore",
                nioConcurrency,
                nioCore, nioHTTP1, systemPackage,
            ]
        ),
        .testTarget(
            name: "ServerRecordsTests",
            dependencies: ["ServerRecords", "PatchFormat", "PatchTrust", nioConcurrency, systemPackage],
            exclude: ["Earlier"]
        ),
        .testTarget(
            name: "ReleaseAPITests",
            dependencies: [
                "HTTPFiles", "PatchFormat", "PatchServer", "PatchTrust", "ReleaseTree", "PatchStore", "ReleaseAPI",
                "ReleaseService",
                "ServerRecords",
                nioCore, nioHTTP1, nioPosix, systemPackage,
            ]
        ),
        .testTarget(
            name: "PatchChoiceTests",
            dependencies: ["PatchChoice", "DeviceTesting", "PatchTesting", "PatchFormat", "PatchTrust"]
        ),
        .testTarget(
            name: "PatchSyncTests",
            dependencies: [
                "FileFacts", "PatchFetch",
                "PatchCompression", "PatchDelta", "PatchSync", "PatchChoice", "DeviceTesting", "PatchTesting",
                "PatchFormat", "PatchTrust", "PatchStore", "ReleaseFolder", nioConcurrency, subprocess, systemPackage,
            ],
            exclude: ["explain.py"]
        ),
        .testTarget(
            name: "FleetSimulationTests",
            dependencies: ["FleetSimulation", "PatchChoice", "PatchSync", "DeviceTesting", "PatchFormat", "PatchTrust"]
        ),
        .testTarget(
            name: "PatchFetchTests",
            dependencies: [
                "PatchCompression", "PatchFetch", "HTTPPeers", "PatchFormat", "PatchTrust", asyncHTTPClient,
                nioConcurrency, nioCore,
                nioPosix, nioSSL,
                subprocess, systemPackage,
            ]
        ),
        .testTarget(
            name: "AssetServerTests",
            dependencies: [
                "AssetServer", "FileFacts", "FolderUploads", "HTTPFiles", "PageTesting", "PatchFormat", "PatchStore",
                "PatchTesting", "PatchTrust", nioConcurrency, nioCore, nioHTTP1, systemPackage,
            ]
        ),
        .testTarget(
            name: "PatchlineTests",
            dependencies: [
                "AssetServer", "DeviceTesting", "HTTPFiles", "PageTesting", "PatchChoice", "PatchFetch", "PatchFormat",
                "PatchStore",
                "PatchSync", "PatchTesting", "PatchTrust", "Patchline", logging, nioConcurrency, nioCore, nioHTTP1,
                nioPosix, systemPackage,
            ]
        ),
        .testTarget(name: "IdleProcessTests", dependencies: ["IdleProcess"]),
        .testTarget(
            name: "PatchlineScriptsTests",
            dependencies: [
                "DeviceTesting", "PatchChoice", "PatchFormat", "PatchRuntime", "PatchStore", "PatchSync",
                "PatchTesting", "Patchline",
                "PatchlineScripts", nioConcurrency, systemPackage,
            ]
        ),
        .testTarget(
            name: "PatchDaemonTests",
            dependencies: [
                "APIProxy", "AssetServer", "DeviceOutput", "DeviceTesting", "HTTPFiles", "PageTesting", "PatchChoice",
                "PatchDaemon",
                "PatchFetch", "PatchFormat", "PatchStore", "PatchSync", "PatchTesting", "PatchTrust", "Patchline",
                "Terminal",
                nioConcurrency,
                nioCore,
                subprocess,
                systemPackage,
            ],
            exclude: ["openapi.py"]
        ),
        .testTarget(name: "PatchRuntimeTests", dependencies: ["PatchFormat", "PatchLanguage", "PatchRuntime"]),
        .testTarget(
            name: "APIProxyTests",
            dependencies: [
                "PatchFetch",
                "APIProxy", "HTTPFiles", "PatchFormat", asyncHTTPClient, nioConcurrency, nioCore, nioHTTP1, nioPosix,
                subprocess,
                systemPackage,
            ]
        ),
        .testTarget(
            name: "HTTPPeersTests",
            dependencies: [
                "PatchFetch",
                "HTTPPeers", "HTTPFiles", "PatchSync", "ReleaseClient", "APIProxy", "PatchTesting", "PatchFormat",
                "PatchStore",
                asyncHTTPClient, nioConcurrency, nioCore, nioHTTP1, nioPosix, nioSSL, subprocess, systemPackage,
            ]
        ),
        .testTarget(name: "TerminalTests", dependencies: ["Terminal"]),
        .testTarget(
            name: "CommandSupportTests",
            dependencies: ["CommandSupport", "PatchFormat", "PatchTrust", "Terminal", argumentParser, systemPackage]
        ),
        .testTarget(
            name: "TranscriptTests",
            // The three commands as modules: what they say is made here without running them.
            dependencies: [
                "ChildProcess", "FileFacts", "PatchSignCommand", "PatchServerCommand", "PatchSyncCommand", "APIProxy",
                "AssetServer",
                "PatchLanguage", "PatchRuntime", "PatchScriptCommand", "CommandSupport", "DeviceOutput",
                "GatewayClients",
                "Gateways", "HTTPFiles",
                "HTTPPeers", "PageDiff", "PatchChoice", "PatchCompression", "PatchDaemon", "PatchDelta", "PatchFetch",
                "PatchFormat",
                "Patchline", "PatchRelease",
                "PatchServer",
                "ReleaseTree",
                "PatchStore", "PatchSync", "PatchTrust", "ReleaseAPI", "ReleaseClient", "ReleaseFolder",
                "ReleaseService",
                "ServerRecords",
                "Terminal", argumentParser, nioCore, nioHTTP1, systemPackage,
            ],
            exclude: ["Transcripts"]
        ),
        .testTarget(
            name: "PipelineTests",
            // The three commands, so that their binaries are built: the tests run them as anybody would.
            dependencies: [
                "PatchScriptCommand", "PatchSignCommand", "PatchServerCommand", "PatchSyncCommand", "ShopService",
                "GatewayClients", "Gateways", "PatchFetch", "PatchFormat", "PatchTrust", "Patchline",
                "PatchTesting", "YAMLReading", subprocess, systemPackage,
            ],
            exclude: ["Judges", "Transcripts"]
        ),
    ]
)

// With PATCHLINE_FUZZ set, the fuzz targets and what they test, alone: they link only with -sanitize=fuzzer.
if Context.environment["PATCHLINE_FUZZ"] != nil {
    package.products = []
    package.dependencies = []
    let tested = [
        "CLZMA", "COpenSSL", "CZlib", "CZstd", "Gateways", "PatchCompression", "PatchDelta", "PatchFormat",
        "PatchTrust", "PageDiff",
    ]
    package.targets = package.targets.filter { tested.contains($0.name) }
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        .target(name: "Fuzzing", dependencies: ["CFuzzer"], path: "Tests/Fuzz/Fuzzing"),
    ]
    for name in [
        "FuzzJSON", "FuzzMetadata", "FuzzList", "FuzzManifest", "FuzzColumn", "FuzzPEM", "FuzzPack", "FuzzExpress",
        "FuzzArchive", "FuzzPage", "FuzzTar",
    ] {
        package.targets.append(
            .executableTarget(
                name: name,
                dependencies: [
                    "Fuzzing", "Gateways", "PageDiff", "PatchCompression", "PatchDelta", "PatchFormat", "PatchTrust",
                ],
                path: "Tests/Fuzz/\(name)"
            )
        )
    }
}

// With PATCHLINE_BENCH set, what reads the worst documents, alone: of larger modules the files that read, without the
// libraries that the others need, so that it is built in a minute.
if Context.environment["PATCHLINE_BENCH"] != nil {
    package.products = []
    package.targets = package.targets.filter {
        [
            "CJavaScriptCore", "COpenSSL", "PageDiff", "PatchChoice", "PatchFormat", "PatchLanguage", "PatchRuntime",
            "PatchTrust",
        ].contains($0.name)
    }
    let parts = [
        "PatchRelease": ["Ceremony/TrustDraft", "Ceremony/TrustDraft+JSON"],
        "ServerRecords": ["AuditChain", "AuditEntry", "AuditLines", "AuditOrder", "Actor", "Record", "RecordError"],
    ]
    for (name, files) in parts {
        package.targets.append(
            .target(
                name: name,
                dependencies: ["PatchFormat", "PatchTrust", nioConcurrency],
                sources: files.map { "\($0).swift" }
            )
        )
    }
    package.targets.append(
        .executableTarget(
            name: "documents",
            dependencies: ["PatchChoice", "PatchFormat", "PatchRelease", "PatchTrust", "ServerRecords"],
            path: "Benchmarks/Documents"
        )
    )
    package.targets.append(
        .executableTarget(
            name: "scripts",
            dependencies: ["CJavaScriptCore", "PatchRuntime"],
            path: "Benchmarks/Scripts"
        )
    )
    package.targets.append(
        .executableTarget(name: "splitter", dependencies: ["PageDiff", "PatchFormat"], path: "Benchmarks/Splitter")
    )
}

// With PATCHLINE_OPTIMIZED set, the modules that compute are optimised in a debug build too: its tests take two thirds of the
// time. `#if DEBUG` still holds in them; `assert` checks nothing there. Never by itself, for no package may depend on one with flags of its own.
if Context.environment["PATCHLINE_OPTIMIZED"] != nil {
    for target in package.targets {
        guard
            [
                "FileFacts", "FleetSimulation", "PageDiff", "PatchChoice", "PatchCompression", "PatchDelta",
                "PatchFormat",
                "PatchStore",
                "PatchTrust", "ReleaseFolder",
            ].contains(target.name)
        else { continue }
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"], .when(configuration: .debug))]
    }
}

// With PATCHLINE_TESTS set ("PatchSyncTests,PatchFetchTests"), only these test targets exist: a change in a low module then
// rebuilds what they need, and not every test of the package.
if let names = Context.environment["PATCHLINE_TESTS"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}

for target in package.targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}
