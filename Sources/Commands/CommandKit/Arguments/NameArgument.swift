package import PatchFormat
import ArgumentParser

/// Parses an option or argument that is a name (`transform:`).
///
/// Throws the name's rule if the text violates it.
package func parsed<Name: ParsedName>(_ text: String) throws -> Name {
    guard let name = Name(text) else { throw ValidationError(Name.rule) }
    return name
}
