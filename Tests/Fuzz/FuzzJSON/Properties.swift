import Fuzzing
import PatchFormat

/// What the strict parser reads, it writes as canonical JSON that says the same and stays the same.
func attempt(_ bytes: [UInt8]) {
    do throws(JSONError) {
        let read = try JSON(parsing: bytes)
        let written = read.fileBytes
        let again = try reading(written)
        require(again.fileBytes == written, "what is written, read and written again is the same")
        require(again.canonicalBytes == read.canonicalBytes, "a document keeps its canonical form in a file")
        let pretty = try reading(Array(read.pretty().utf8))
        require(pretty == read, "the form for people says the same, in the same order")
    } catch {
        require((0...bytes.count).contains(error.offset), "an error stands inside the document")
    }
}

private func reading(_ written: [UInt8]) throws(JSONError) -> JSON {
    do throws(JSONError) {
        return try JSON(parsing: written)
    } catch {
        fatalError("broken: what was written is refused: \(error.rule.rawValue)")
    }
}
