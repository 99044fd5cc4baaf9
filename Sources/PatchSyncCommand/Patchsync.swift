import ArgumentParser

/// The program on every device.
@main
struct Patchsync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patchsync",
        abstract: "Keeps a device on a complete, approved version of its patches and bundles, and serves it.",
        discussion: """
            EXAMPLES
              patchsync init --store /var/lib/app --root root.json --server https://updates.example.com
              patchsync sync --store /var/lib/app
              patchsync serve --store /var/lib/app
              patchsync status --store /var/lib/app --json

            EXIT CODES
              0 done · 1 failed · 3 refused (signature, expiry, rollback) · 4 malformed input · 5 network
              6 disk or store · 7 busy (lock or port) · 9 some patches failed, the rest is done · 64 usage
              130 stopped by SIGINT or SIGTERM
            """,
        version: "0.1.0",
        subcommands: [
            Init.self, SetFacts.self, Sync.self, Serve.self, Switch.self, Confirm.self, Rollback.self, Unblock.self,
            Status.self,
            Parameters.self, Verify.self,
            TestScript.self, TUF.self,
        ]
    )
}
