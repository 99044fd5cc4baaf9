// swift-tools-version: 6.3
import Glibc
import PackageDescription

// With PATCHLINE_SLOW set, an expression that takes as many milliseconds to type-check is a warning, and a function that takes
// twice as many (`make slow`). Elsewhere every warning is an error.
let warnings: [SwiftSetting] =
    if let limit = Context.environment["PATCHLINE_SLOW"].flatMap({ Int($0) }) {
        [
            .unsafeFlags([
                "-Xfrontend", "-warn-long-expression-type-checking=\(limit)",
                "-Xfrontend", "-warn-long-function-bodies=\(2 * limit)",
            ])
        ]
    } else { [.treatAllWarnings(as: .error), .treatWarning("DeprecatedDeclaration", as: .warning)] }

// For every Swift target of this package.
let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .strictMemorySafety(),
    ] + warnings + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("ImmutableWeakCaptures"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]

// The modules of other packages, and the packages they are from.
let products = [
    "ArgumentParser": "swift-argument-parser", "AsyncHTTPClient": "async-http-client", "HTTPTypes": "swift-http-types",
    "Hummingbird": "hummingbird", "Logging": "swift-log",
    "NIOConcurrencyHelpers": "swift-nio", "NIOCore": "swift-nio", "NIOHTTP1": "swift-nio", "NIOPosix": "swift-nio",
    "NIOSSL": "swift-nio-ssl", "NIOTLS": "swift-nio", "ServiceLifecycle": "swift-service-lifecycle",
    "Subprocess": "swift-subprocess", "SystemPackage": "swift-system", "UnixSignals": "swift-service-lifecycle",
]

func dependencies(_ names: [String]) -> [Target.Dependency] {
    names.map { name in products[name].map { .product(name: name, package: $0) } ?? .byName(name: name) }
}

/// The rows of a table.
///
/// `Module: Dependency Dependency`; an indented line continues the row above it.
func rows(_ table: String) -> [(name: String, uses: [Target.Dependency])] {
    table.replacing("\n    ", with: " ").split(separator: "\n").map { row in
        let words = row.split(separator: " ").map(String.init)
        return (String(words[0].dropLast()), dependencies(Array(words.dropFirst())))
    }
}

/// A C library of the system: its name for pkg-config, and its Debian package.
func system(_ name: String, _ pkgConfig: String? = nil, apt: String? = nil) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: apt.map { [.apt([$0])] })
}

/// Release programs hold their relocations packed: two megabytes less, in the file and in memory.
///
/// glibc reads them from 2.36 on (Debian 12). Only LLVM's linker, which is part of the toolchain, packs them.
let linking: [LinkerSetting] = {
    // `glibc 2.36`
    var name = [UInt8](repeating: 0, count: 64)
    let count = name.withUnsafeMutableBytes { confstr(Int32(_CS_GNU_LIBC_VERSION), $0.baseAddress, $0.count) }
    let version = String(decoding: name.prefix(count).dropLast(), as: UTF8.self).dropFirst("glibc ".count)
    let numbers = version.split(separator: ".").compactMap { Int($0) }
    guard !numbers.isEmpty, !numbers.lexicographicallyPrecedes([2, 36]) else { return [] }
    let flags = ["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]
    return [.unsafeFlags(flags, .when(configuration: .release))]
}()

/// A folder of `Sources`.
///
/// Its modules import one another and lower floors; `.ci/imports` checks that.
struct Floor {
    let name: String
    let modules: [Target]

    /// - Parameter table: its modules, see ``rows(_:)``. A module whose name ends with `Command` is a program.
    init(_ name: String, _ table: String) {
        self.name = name
        modules = rows(table).map { module, uses in
            let path = "Sources/\(name)/\(module)"
            return module.hasSuffix("Command")
                ? .executableTarget(name: module, dependencies: uses, path: path, linkerSettings: linking)
                : .target(name: module, dependencies: uses, path: path)
        }
    }
}

let libraries = [
    system("CLinux"),
    system("COpenSSL", "libcrypto", apt: "libssl-dev"),
    system("CSQLite", "sqlite3", apt: "libsqlite3-dev"),
    system("CYAML", "yaml-0.1", apt: "libyaml-dev"),
    system("CZstd", "libzstd", apt: "libzstd-dev"),
    system("CLZMA", "liblzma", apt: "liblzma-dev"),
    system("CBrotli", "libbrotlidec", apt: "libbrotli-dev"),
    system("CZlib", "zlib", apt: "zlib1g-dev"),
    system("CJavaScriptCore", "javascriptcoregtk-4.1", apt: "libjavascriptcoregtk-4.1-dev"),
]

// From the lowest to the highest. Sources/README.md describes each module in a sentence.
let floors = [
    Floor(
        "Core",
        """
        PatchFormat:
        PatchCrypto: COpenSSL PatchFormat
        PatchTrust: PatchFormat PatchCrypto
        PatchCompression: CZstd CLZMA CZlib PatchFormat
        PatchDelta: PatchFormat PatchCrypto PatchCompression
        PatchChoice: PatchFormat PatchCrypto PatchTrust NIOConcurrencyHelpers
        PatchLanguage: PatchFormat
        """
    ),
    Floor(
        "Disk",
        """
        Linux: CLinux
        PatchStore: CLinux PatchFormat PatchCrypto Linux NIOConcurrencyHelpers SystemPackage
        ReleaseFolder: PatchFormat PatchCrypto PatchTrust Linux PatchStore SystemPackage
        YAMLReading: PatchFormat CYAML
        """
    ),
    Floor(
        "HTTP",
        """
        HTTPCore: NIOConcurrencyHelpers NIOCore NIOHTTP1 NIOSSL NIOTLS
        HTTPFiles: CLinux Linux HTTPCore ServiceLifecycle NIOConcurrencyHelpers NIOCore NIOHTTP1 NIOPosix NIOSSL NIOTLS
            SystemPackage
        HTTPAPI: PatchFormat HTTPCore HTTPFiles NIOConcurrencyHelpers NIOCore NIOHTTP1
        PatchFetch: CLinux PatchFormat PatchCrypto PatchCompression HTTPCore AsyncHTTPClient NIOConcurrencyHelpers NIOCore
            NIOHTTP1 NIOPosix NIOSSL SystemPackage
        APIProxy: PatchFormat HTTPCore HTTPFiles PatchFetch AsyncHTTPClient NIOConcurrencyHelpers NIOCore NIOHTTP1 NIOPosix
            NIOSSL
        """
    ),
    Floor(
        "Gateways",
        """
        Gateways: PatchFormat PatchCrypto PatchCompression
        GatewayClients: PatchFormat PatchCrypto PatchStore PatchFetch Gateways NIOConcurrencyHelpers SystemPackage
        FolderUploads: PatchFormat Linux PatchStore HTTPCore HTTPFiles NIOCore NIOHTTP1 SystemPackage
        """
    ),
    Floor(
        "Pages",
        """
        PageDiff: PatchFormat PatchCrypto
        PageServing: PatchFormat PatchCrypto PatchCompression HTTPCore HTTPFiles APIProxy PageDiff NIOConcurrencyHelpers
            NIOCore NIOHTTP1
        PatchlinePages: PatchFormat PageDiff PageServing HTTPTypes Hummingbird NIOCore NIOHTTP1
        """
    ),
    Floor(
        "Release",
        """
        PatchRelease: CLinux CBrotli PatchFormat PatchCrypto PatchTrust PatchCompression PatchDelta PatchLanguage Linux
            PatchStore ReleaseFolder YAMLReading Gateways SystemPackage
        ReleaseClient: PatchFormat PatchCrypto PatchTrust PatchCompression PatchDelta Linux PatchStore ReleaseFolder
            HTTPCore PatchFetch AsyncHTTPClient NIOConcurrencyHelpers NIOCore NIOHTTP1 SystemPackage
        """
    ),
    Floor(
        "Server",
        """
        PatchServer: PatchFormat PatchCrypto PatchTrust PatchCompression PatchDelta Linux PatchStore ReleaseFolder
            YAMLReading HTTPCore HTTPFiles Gateways ServiceLifecycle NIOConcurrencyHelpers NIOCore NIOHTTP1 NIOPosix
            SystemPackage
        ServerRecords: CSQLite PatchFormat PatchCrypto SystemPackage
        ReleaseService: PatchFormat PatchCrypto PatchTrust PatchCompression PatchDelta Linux PatchStore ReleaseFolder
            Gateways PatchServer ServerRecords ServiceLifecycle NIOConcurrencyHelpers NIOCore NIOPosix SystemPackage
        ReleaseAPI: PatchFormat PatchCrypto PatchTrust PatchCompression PatchDelta PatchStore ReleaseFolder HTTPCore
            HTTPFiles HTTPAPI Gateways PatchServer ServerRecords ReleaseService NIOConcurrencyHelpers NIOHTTP1
        """
    ),
    Floor(
        "Device",
        """
        PatchSync: PatchFormat PatchCrypto PatchTrust PatchCompression PatchDelta PatchChoice Linux PatchStore ReleaseFolder
            PatchFetch NIOConcurrencyHelpers SystemPackage
        AssetServer: PatchFormat PatchCrypto PatchLanguage Linux HTTPCore HTTPFiles NIOConcurrencyHelpers NIOCore
            NIOHTTP1 NIOPosix SystemPackage
        PageSessions: PatchFormat PatchCrypto PatchCompression Linux PatchStore HTTPCore HTTPFiles APIProxy PageDiff
            AssetServer NIOConcurrencyHelpers NIOCore NIOHTTP1 NIOPosix SystemPackage
        Patchline: PatchFormat PatchCrypto PatchTrust PatchChoice Linux PatchStore ReleaseFolder HTTPFiles PatchFetch APIProxy Gateways
            GatewayClients FolderUploads PatchSync AssetServer PageSessions ServiceLifecycle Logging NIOConcurrencyHelpers
            NIOCore SystemPackage
        DeviceOutput: PatchFormat PatchTrust PatchChoice PatchStore ReleaseFolder PatchFetch PatchSync AssetServer Patchline
            NIOConcurrencyHelpers SystemPackage
        PatchDaemon: CLinux PatchFormat PatchCrypto PatchChoice PatchStore YAMLReading HTTPCore HTTPFiles HTTPAPI
            PatchFetch APIProxy PatchSync AssetServer Patchline DeviceOutput NIOConcurrencyHelpers NIOCore NIOHTTP1
            NIOPosix SystemPackage
        """
    ),
    Floor(
        "Scripts",
        """
        PatchRuntime: CJavaScriptCore PatchFormat PatchLanguage
        PatchlineScripts: Patchline PatchRuntime
        """
    ),
    Floor(
        "Commands",
        """
        CommandKit: PatchFormat PatchCrypto PatchTrust PatchDelta PatchStore ArgumentParser SystemPackage
        FleetSimulation: PatchFormat PatchCrypto PatchTrust PatchChoice PatchStore YAMLReading CommandKit ArgumentParser SystemPackage
        PatchSignCommand: PatchFormat PatchCrypto PatchTrust PatchDelta PatchChoice Linux PatchStore ReleaseFolder
            PatchFetch Gateways PatchRelease ReleaseClient CommandKit FleetSimulation ArgumentParser NIOConcurrencyHelpers
            SystemPackage
        PatchServerCommand: PatchFormat PatchCrypto PatchTrust PatchDelta PatchChoice Linux PatchStore ReleaseFolder
            YAMLReading HTTPCore HTTPFiles PatchFetch APIProxy PageDiff PageServing ReleaseClient PatchServer ServerRecords
            ReleaseService ReleaseAPI CommandKit FleetSimulation ArgumentParser ServiceLifecycle UnixSignals Logging NIOCore
            NIOHTTP1 NIOPosix NIOSSL SystemPackage
        PatchSyncCommand: PatchFormat PatchCrypto PatchTrust PatchChoice Linux PatchStore ReleaseFolder HTTPCore
            HTTPFiles PatchFetch APIProxy Gateways GatewayClients PatchSync AssetServer Patchline DeviceOutput
            PatchDaemon CommandKit ArgumentParser UnixSignals NIOConcurrencyHelpers SystemPackage
        PatchScriptCommand: PatchFormat PatchCrypto PatchLanguage Linux PatchStore PatchRuntime CommandKit ArgumentParser
            SystemPackage
        """
    ),
]

// The sample's service, which a script patch mends while it runs.
let sample = Target.executableTarget(
    name: "ShopService",
    dependencies: dependencies([
        "PatchlinePages", "Patchline", "PatchRuntime", "PatchlineScripts", "Hummingbird", "NIOConcurrencyHelpers",
        "SystemPackage",
    ]),
    path: "Patches/service/Sources"
)

// What several test targets share.
let shared = rows(
    """
    PatchTesting: PatchFormat PatchCrypto PatchTrust Linux PatchStore NIOConcurrencyHelpers SystemPackage
    DeviceTesting: PatchFormat PatchCrypto PatchTrust PatchCompression PatchDelta PatchChoice PatchStore ReleaseFolder
        HTTPCore PatchFetch PatchSync PatchTesting NIOConcurrencyHelpers SystemPackage
    HTTPTesting: HTTPFiles NIOCore NIOSSL Subprocess
    PageTesting: PatchCrypto HTTPCore HTTPFiles AssetServer NIOConcurrencyHelpers NIOCore NIOHTTP1 NIOPosix
        SystemPackage
    ServerTesting: PatchFormat PatchCrypto PatchTrust Linux PatchStore ReleaseFolder HTTPFiles PatchServer PatchTesting
        NIOConcurrencyHelpers SystemPackage
    """
).map { name, uses in Target.target(name: name, dependencies: uses, path: "Tests/\(name)") }

let exclude = [
    "PageDiffTests": ["Judges"], "PatchDeltaTests": ["pack.py"], "PatchServerTests": ["express.py"],
    "ServerRecordsTests": ["Earlier"], "PatchSyncTests": ["explain.py"], "PatchDaemonTests": ["openapi.py"],
    "TranscriptTests": ["Transcripts"], "PipelineTests": ["Earlier", "Judges", "Transcripts"],
]

// PipelineTests and TranscriptTests depend on the programs, so that these are built.
let tests = rows(
    """
    PatchFormatTests: PatchFormat PatchTesting
    PatchTrustTests: PatchFormat PatchCrypto PatchTrust PatchTesting
    PatchCompressionTests: PatchFormat PatchCompression Subprocess
    PatchDeltaTests: PatchFormat PatchCrypto PatchCompression PatchDelta Subprocess
    PatchChoiceTests: PatchFormat PatchCrypto PatchTrust PatchChoice PatchTesting DeviceTesting
    PatchStoreTests: PatchFormat Linux PatchStore PatchTesting SystemPackage
    HTTPCoreTests: PatchFormat PatchStore HTTPCore HTTPFiles PatchFetch APIProxy ReleaseClient PatchSync PatchTesting HTTPTesting
        AsyncHTTPClient NIOConcurrencyHelpers NIOCore NIOHTTP1 NIOPosix NIOSSL Subprocess SystemPackage
    HTTPFilesTests: Linux PatchStore HTTPCore HTTPFiles FolderUploads PatchTesting NIOConcurrencyHelpers NIOCore
        NIOHTTP1 NIOPosix NIOSSL Subprocess SystemPackage
    HTTPAPITests: PatchFormat HTTPCore HTTPFiles HTTPAPI NIOConcurrencyHelpers NIOCore NIOHTTP1
    PatchFetchTests: PatchFormat PatchCrypto PatchCompression HTTPCore PatchFetch AsyncHTTPClient NIOConcurrencyHelpers
        NIOCore NIOPosix NIOSSL Subprocess SystemPackage
    APIProxyTests: PatchFormat HTTPCore HTTPFiles PatchFetch APIProxy PatchTesting HTTPTesting AsyncHTTPClient
        NIOConcurrencyHelpers NIOCore NIOHTTP1 NIOPosix SystemPackage
    GatewaysTests: PatchFormat PatchCrypto PatchCompression Gateways PatchTesting
    GatewayClientsTests: PatchFormat PatchCrypto PatchStore HTTPCore HTTPFiles PatchFetch Gateways GatewayClients
        Patchline PatchTesting HTTPTesting NIOCore SystemPackage
    PageDiffTests: PatchFormat PatchCrypto PageDiff PatchTesting Subprocess SystemPackage
    PageServingTests: PatchFormat PatchCrypto PatchCompression PageDiff PageServing PatchlinePages Hummingbird NIOCore
        NIOHTTP1 Subprocess
    PatchReleaseTests: PatchFormat PatchCrypto PatchTrust PatchCompression PatchDelta Linux PatchStore ReleaseFolder
        YAMLReading PatchRelease PatchTesting Subprocess SystemPackage
    ReleaseClientTests: PatchFormat PatchCrypto PatchTrust PatchStore ReleaseFolder HTTPCore HTTPFiles PatchFetch
        ReleaseClient NIOConcurrencyHelpers NIOCore NIOHTTP1 SystemPackage
    PatchServerTests: PatchFormat PatchCrypto PatchTrust PatchCompression PatchDelta Linux PatchStore ReleaseFolder
        HTTPCore HTTPFiles PatchServer PatchTesting ServerTesting ServiceLifecycle NIOConcurrencyHelpers NIOCore
        NIOHTTP1 Subprocess SystemPackage
    ServerRecordsTests: PatchFormat PatchCrypto ServerRecords NIOConcurrencyHelpers SystemPackage
    ReleaseServiceTests: PatchFormat PatchCrypto PatchTrust PatchCompression PatchDelta PatchStore ReleaseFolder
        HTTPCore HTTPFiles Gateways PatchServer ServerRecords ReleaseService PatchTesting ServerTesting
        NIOConcurrencyHelpers NIOCore NIOHTTP1 NIOPosix SystemPackage
    ReleaseAPITests: PatchFormat PatchCrypto PatchStore HTTPCore HTTPFiles HTTPAPI PatchServer ServerRecords
        ReleaseService ReleaseAPI NIOCore NIOHTTP1 NIOPosix SystemPackage
    PatchSyncTests: PatchFormat PatchCrypto PatchTrust PatchCompression PatchDelta PatchChoice Linux PatchStore
        ReleaseFolder HTTPCore PatchFetch PatchSync PatchTesting DeviceTesting NIOConcurrencyHelpers Subprocess
        SystemPackage
    AssetServerTests: PatchFormat PatchCrypto Linux PatchStore HTTPCore HTTPFiles FolderUploads AssetServer PatchTesting
        HTTPTesting PageTesting NIOConcurrencyHelpers NIOCore NIOHTTP1 SystemPackage
    PageSessionsTests: PatchFormat PatchCrypto PatchCompression PatchStore HTTPCore HTTPFiles PatchFetch APIProxy
        PageDiff AssetServer PageSessions PatchTesting HTTPTesting AsyncHTTPClient NIOConcurrencyHelpers NIOCore
        NIOHTTP1 SystemPackage
    PatchlineTests: PatchFormat PatchCrypto PatchTrust PatchChoice PatchStore HTTPCore HTTPFiles PatchFetch PatchSync
        AssetServer Patchline PatchTesting DeviceTesting PageTesting Logging NIOConcurrencyHelpers NIOCore NIOHTTP1
        NIOPosix SystemPackage
    PatchDaemonTests: PatchFormat PatchCrypto PatchTrust PatchChoice PatchStore HTTPCore HTTPFiles HTTPAPI PatchFetch
        APIProxy PatchSync AssetServer Patchline DeviceOutput PatchDaemon CommandKit PatchTesting DeviceTesting
        PageTesting NIOConcurrencyHelpers Subprocess SystemPackage
    PatchRuntimeTests: PatchFormat PatchLanguage PatchRuntime
    PatchlineScriptsTests: PatchFormat PatchChoice PatchStore PatchSync Patchline PatchRuntime PatchlineScripts
        PatchTesting DeviceTesting NIOConcurrencyHelpers SystemPackage
    CommandKitTests: PatchFormat PatchCrypto PatchTrust CommandKit ArgumentParser SystemPackage
    FleetSimulationTests: PatchFormat PatchCrypto PatchChoice PatchSync FleetSimulation DeviceTesting
    TranscriptTests: PatchFormat PatchCrypto PatchTrust PatchCompression PatchDelta PatchChoice PatchLanguage Linux
        PatchStore ReleaseFolder HTTPCore HTTPFiles HTTPAPI PatchFetch APIProxy Gateways GatewayClients PageDiff PatchRelease
        ReleaseClient PatchServer ServerRecords ReleaseService ReleaseAPI PatchSync AssetServer Patchline DeviceOutput
        PatchDaemon PatchRuntime CommandKit PatchSignCommand PatchServerCommand PatchSyncCommand PatchScriptCommand
        PatchTesting ArgumentParser NIOCore NIOHTTP1 SystemPackage
    PipelineTests: PatchFormat PatchCrypto YAMLReading PatchFetch Gateways GatewayClients Patchline PatchSignCommand
        PatchServerCommand PatchSyncCommand PatchScriptCommand PatchTesting ShopService Subprocess SystemPackage
    """
).map { name, uses in Target.testTarget(name: name, dependencies: uses, exclude: exclude[name] ?? []) }

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
    targets: libraries + floors.flatMap(\.modules) + [sample] + shared + tests
)

// With PATCHLINE_FUZZ set, the fuzz targets and what they test, alone: they link only with -sanitize=fuzzer.
if Context.environment["PATCHLINE_FUZZ"] != nil {
    package.products = []
    package.dependencies = []
    let tested = [
        "CLZMA", "COpenSSL", "CZlib", "CZstd", "Gateways", "PatchCompression", "PatchCrypto", "PatchDelta",
        "PatchFormat",
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
                    "Fuzzing", "Gateways", "PageDiff", "PatchCompression", "PatchCrypto", "PatchDelta", "PatchFormat",
                    "PatchTrust",
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
            "CJavaScriptCore", "COpenSSL", "PageDiff", "PatchChoice", "PatchCrypto", "PatchFormat", "PatchLanguage",
            "PatchRuntime",
            "PatchTrust",
        ].contains($0.name)
    }
    let parts = [
        "Release/PatchRelease": ["Ceremony/TrustDraft", "Ceremony/TrustDraft+JSON"],
        "Server/ServerRecords": [
            "AuditChain", "AuditEntry", "AuditLines", "AuditOrder", "Actor", "Record", "RecordError",
        ],
    ]
    for (module, files) in parts {
        package.targets.append(
            .target(
                name: String(module.split(separator: "/")[1]),
                dependencies: dependencies(["PatchFormat", "PatchCrypto", "PatchTrust", "NIOConcurrencyHelpers"]),
                path: "Sources/\(module)",
                sources: files.map { "\($0).swift" }
            )
        )
    }
    package.targets.append(
        .executableTarget(
            name: "documents",
            dependencies: ["PatchChoice", "PatchCrypto", "PatchFormat", "PatchRelease", "PatchTrust", "ServerRecords"],
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
    let computing = [
        "FleetSimulation", "Linux", "PageDiff", "PatchChoice", "PatchCompression", "PatchCrypto", "PatchDelta",
        "PatchFormat", "PatchStore", "PatchTrust", "ReleaseFolder",
    ]
    for target in package.targets where computing.contains(target.name) {
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
