import Fuzzing
import PatchFormat

/// A signature column has one spelling: what is read is written byte for byte.
func attempt(_ bytes: [UInt8]) {
    let declared = bytes.count >= 46 ? bytes[42..<46].reduce(0) { $0 << 8 | Int($1) } : 0
    for assets in [declared, 0, 1, 3] {
        guard let column = try? SignatureColumn(bytes, assets: assets) else { continue }
        require(assets == declared, "a column is read for as many assets as it says")
        require(column.signatures.count == assets, "a column has a signature for each asset")
        require(column.bytes == bytes, "a column is written as it was read")
    }
}
