import PatchFormat
import ArgumentParser
import CommandKit
import PatchRuntime

struct InterfaceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "interface",
        abstract: "Print the sample host's interface, in the form that --host and `hosts:` read.",
        discussion: """
            For your own host, PatchHost.interface returns the same form.

            EXAMPLES
              patchscript interface > interface.json
              patchscript check fix-cart-total.js --host interface.json
            """ + exitCodes([:], usual: .done)
    )

    func run() async throws {
        try await runCommand { () async throws(Failure) in
            do throws(PatchCallError) {
                Console.standardOutput.write(try SampleHost().host.interface)
            } catch { throw Failure("\(error)") }
        }
    }
}
