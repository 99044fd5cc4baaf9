package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
package import SystemPackage

/// A single file signed in JSPatch's form.
package enum JSPatchFile {
    package static func fingerprint(_ path: FilePath) throws(SigningError) -> Fingerprint {
        try onDisk { () throws(FileError) in try DiskFiles().fingerprint(of: path, limit: Limits.object) }
    }
}
