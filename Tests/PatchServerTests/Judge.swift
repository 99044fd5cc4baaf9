import FoundationEssentials
import Subprocess
import SystemPackage
import ServerTesting
import Testing

/// Other people's readers of the published tree.
///
/// One that is missing fails its test.
enum Judge {
    /// A Python that has `tuf` and `securesystemslib[crypto]`.
    static var python: Executable {
        .path(
            FilePath(
                ProcessInfo.processInfo.environment["PATCHLINE_JUDGES_PYTHON"] ?? "PATCHLINE_JUDGES_PYTHON is not set"
            )
        )
    }

    static var checkTree: String {
        ProcessInfo.processInfo.environment["PATCHLINE_CHECK_TREE"]
            ?? TestingKey.repository.removingLastComponent().appending("shared/judges/check_tree.py").string
    }

    /// What a judge printed, and whether it is content.
    static func run(_ arguments: [String], location: SourceLocation = #_sourceLocation) async throws -> (
        text: String, ok: Bool
    ) {
        let result = try await Subprocess.run(
            python,
            arguments: Arguments(arguments),
            output: .string(limit: 1_000_000),
            error: .string(limit: 1_000_000)
        )
        return (result.standardOutput + result.standardError, result.terminationStatus.isSuccess)
    }

    /// python-tuf's own client: refresh, the list, and the manifest of `web 1.0.0`, through their roles.
    ///
    /// Arguments: the app's URL, a root.json, the client's own folder, a channel.
    static let client = """
        import sys, os, json
        from tuf.ngclient import Updater
        url, root, folder, channel = sys.argv[1:]
        os.makedirs(folder + '/metadata', exist_ok=True), os.makedirs(folder + '/targets', exist_ok=True)
        updater = Updater(folder + '/metadata', url + '/metadata/', folder + '/targets', url + '/targets/',
                          bootstrap=open(root, 'rb').read())
        updater.refresh()
        def get(path):
            info = updater.get_targetinfo(path)
            return open(updater.download_target(info), 'rb').read()
        patches = json.loads(get(channel + '/patchlist.json'))['patches']
        for patch in patches:
            print(patch['patchId'], patch['version'])
            if patch['kind'] == 'bundle':
                base = '%s/%s/%s/' % (channel, patch['patchId'], patch['version'])
                print(len(json.loads(get(base + 'manifest.json'))['assets']), 'assets', len(get(base + 'manifest.sigs')) > 46)
        """
}
