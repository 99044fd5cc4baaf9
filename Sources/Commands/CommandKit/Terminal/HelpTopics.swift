/// The documentation pages by task, as `patchsync help topics` prints them.
package enum HelpTopics {
    /// The topics of the index page, in its order: file name and title of each page.
    package static let list = """
        START:
          GetStarted              Get started
          FirstFix                Ship your first fix
          ComingFrom              Coming from CodePush, Capgo or Sparkle
          Packages                Packages
          Glossary                Glossary

        HOW TO RELEASE:
          Rollouts                Stage a rollout
          Undoing                 Undo a bad release
          Promoting               Push, promote and propose
          ContinuousIntegration   Sign in CI
          Simulating              Simulate a release
          Embedded                Embedded

        HOW TO RUN A SERVER:
          Operating               Run a server in production
          NewRoot                 Install a newer root of trust
          Restoring               Restore and move to another machine
          StaticHosting           Host releases on a static server
          ReverseProxy            Behind a reverse proxy
          TreeCare                Clean up and check a server
          Parameters              Online parameters
          Keys                    Keys
          Ceremonies              Key ceremonies
          PageDifferences         Pages that change in a few blocks

        HOW TO RUN DEVICES:
          Kiosk                   Put it on a kiosk
          Deciding                Approvals and maintenance windows
          UpdateCost              Cost of an update
          Doctor                  When a device has trouble
          Explaining              Why a device has what it has
          Folders                 Folders, links and owners
          Uploads                 Files of a folder of yours

        HOW TO BUILD AN APP:
          Library                 Add it to your app
          PageAPI                 The page's own API
          PageScripts             Script patches in pages
          ScriptPatches           Script patches in Swift programs
          ProgressiveWebApps      Progressive web apps
          Proxy                   The API proxy
          LivePages               Live pages on the device

        REFERENCE:
          CommandLines            Command lines
          Describing              release.yaml
          Serving                 Routing and headers
          BundleFiles             The files of a bundle
          Running                 Running
          LocalAPI                The daemon's local socket
          DeviceOutput            JSON of the device's commands
          DeviceDocuments         Members of the device's JSON
          ReleaseService          The release service
          Monitoring              Monitoring and limits of a server
          Optimizing              Compressed forms and packs on a server
          PageOrigin              Address and access of served pages
          Stability               Versions and stability

        CLIENTS OF OTHER SYSTEMS:
          JSPatchAuthors          For authors of JSPatch scripts
          JSPatchLoader           JSPatch's loader
          JSPatchPlatform         JSPatch's platform
          MeteorClients           Meteor's clients

        EXPLANATION AND REVIEW:
          Devices                 Devices
          Downloads               Downloads
          Trust                   Trust, for a reviewer
          Attacks                 Attacks on the whole product
          CheckItYourself         Check it yourself
          Robustness              Inputs and outputs that stop no process
          Architecture            Architecture
          Decisions               Decisions
          Sites                   Real web apps
          Features                Features
          SampleFeatures          Features of the replaced systems
        """

    static func text(of program: String) -> String {
        """
        The pages are Markdown files, NAME.md. Packages install them in /usr/share/doc/\(program)/pages. In the source they are
        in Sources/Device/Patchline/Patchline.docc. `\(program) help COMMAND` describes a command.

        \(list)
        """
    }
}
