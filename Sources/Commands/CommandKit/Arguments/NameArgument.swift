package import PatchFormat
import ArgumentParser

/// What an option or argument that is a name from outside is made with (`transform:`): refused by its rule.
package func parsed<Name: ParsedName>(_ text: String) throws -> Name {
    guard let name = Name(text) else { throw ValidationError(Name.rule) }
    return name
}
