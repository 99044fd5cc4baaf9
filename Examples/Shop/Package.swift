// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "Shop",
    dependencies: [
        .package(name: "Patchline", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .executableTarget(
            name: "Shop",
            dependencies: [
                .product(name: "Patchline", package: "Patchline"), .product(name: "Logging", package: "swift-log"),
            ]
        )
    ]
)
