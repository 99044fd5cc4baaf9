import ArgumentParser
package import PatchFormat

extension UTCTime: ArgumentParser.ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}
