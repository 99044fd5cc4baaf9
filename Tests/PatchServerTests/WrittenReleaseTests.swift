import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import ServerTesting
import SystemPackage
import Testing

@Suite("A release as a folder")
struct WrittenReleaseTests {
    /// Few files are made durable one by one, many together.
    @Test(arguments: [3, 40], [FaultyFiles.Survival.lose, .keepNames])
    func `is durable when it is written, and shares the files that an older release has`(
        _ count: Int,
        _ survival: FaultyFiles.Survival
    ) throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        func release(_ version: Int) throws -> SignedRelease {
            var web = ["index.html": "<p>\(version)</p>"]
            for number in 0..<count { web["file\(number).js"] = "console.log(\(number));" }
            return try server.factory.release(
                ReleaseFactory.Contents(web: ("1.0.\(version)", web)),
                on: server.repository
            )
        }
        let (old, new): (FilePath, FilePath) = ("/releases/old", "/releases/new")
        let (first, second) = (try release(1), try release(2))
        try first.write(to: old, files: files)
        try second.write(to: new, files: files, linking: [old])
        let after = files.crashed(survival)
        for (folder, release) in [(old, first), (new, second)] {
            let read = try SignedRelease(folder: folder, files: after)
            #expect(read.objects.keys.sorted() == release.objects.keys.sorted() && read.targets == release.targets)
            for (digest, path) in read.objects {
                #expect(try SHA256Digest(of: after.read(path, limit: 1_000)) == digest)
            }
        }
        let shared = Set(first.objects.keys).intersection(second.objects.keys)
        #expect(shared.count >= count)
        for digest in second.objects.keys {
            let (one, two) = (old.appending(URLLayout.object(digest)), new.appending(URLLayout.object(digest)))
            #expect(try (files.identity(of: one) == files.identity(of: two)) == shared.contains(digest))
        }
    }
}
