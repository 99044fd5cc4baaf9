import Foundation
import Logging
import Patchline

/// A kiosk's shop: makes its store once, keeps it up to date, and prints the URL that its web view opens.
///
/// usage: [PORT=0] Shop STORE SERVER ROOT.json
@main
struct Shop {
    static func main() async {
        do {
            try await run(CommandLine.arguments)
        } catch let error as PatchlineError where error.code == .busy {
            print("the shop runs already")
            exit(7)
        } catch {
            print("error: \(error)")
            exit(1)
        }
    }

    static func run(_ arguments: [String]) async throws {
        guard arguments.count == 4 else {
            print("usage: Shop STORE SERVER ROOT.json")
            exit(64)
        }
        // The root of trust comes with the app, never from the network.
        let root = Array(try Data(contentsOf: URL(filePath: arguments[3])))
        let origin = PatchlineStore.Origin(server: arguments[2], root: root)
        if case .differs(let names) = try PatchlineStore.make(arguments[1], from: origin) {
            print("the store keeps its own settings: \(names.joined(separator: "; "))")
        }

        var settings = PatchlineApp.Settings()
        settings.port = ProcessInfo.processInfo.environment["PORT"].flatMap { Int($0) }
        settings.syncInterval = .seconds(900)
        settings.logger = Logger(label: "shop")
        let app = try await PatchlineApp(store: arguments[1], settings: settings)
        // Rules of the releases are judged by what the app says of itself.
        try await app.store.configure { $0.appVersion = "2.1" }
        // Where a web view would open it; at once, also into a pipe.
        FileHandle.standardOutput.write(Data("open \(try await app.start())\n".utf8))
        // A page says that it works with window.patchline.confirm().
        await untilTerminated()
        await app.stop()
    }

    static func untilTerminated() async {
        signal(SIGTERM, SIG_IGN)
        await withCheckedContinuation { continuation in
            let source = DispatchSource.makeSignalSource(signal: SIGTERM)
            source.setEventHandler {
                source.cancel()
                continuation.resume()
            }
            source.resume()
        }
    }
}
