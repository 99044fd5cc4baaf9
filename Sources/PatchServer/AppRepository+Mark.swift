package import PatchFormat
package import PatchStore
import PatchTrust
import SystemPackage

extension AppRepository {
    /// Another one after each publication, so that what was read of the tree need not be read again before.
    package func mark() throws(ServerError) -> FileIdentity? {
        do throws(FileError) {
            return try files.identity(of: tree.appending(URLLayout.timestamp))
        } catch { throw .file(error) }
    }

    /// What each channel lists, verified.
    package func listedContents() throws(ServerError) -> [ChannelName: [PatchEntry]] {
        let state = try PublishedState(of: self)
        var listed: [ChannelName: [PatchEntry]] = [:]
        for (channel, published) in state.channels { listed[channel] = try list(of: channel, published.role).entries }
        return listed
    }
}
