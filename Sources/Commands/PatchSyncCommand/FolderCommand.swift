import ArgumentParser
import CommandKit
import PatchDaemon
import PatchStore
import SystemPackage

/// A command that writes to folders.
///
/// If root starts it, it acts as their owner (``ActingOwner``).
///
/// Commands that only read keep their user, so that root can read every store.
protocol FolderCommand: ParsableCommand {
    var ownersFolders: [FilePath] { get }
}

/// A command that writes to the store of its options.
protocol StoreCommand: FolderCommand {
    var options: StoreOptions { get }
}

extension StoreCommand {
    var ownersFolders: [FilePath] { [options.path] }
}

extension InitCommand: StoreCommand {}
extension SetFactsCommand: StoreCommand {}
extension SyncCommand: StoreCommand {}
extension ServeCommand: StoreCommand {}
extension SwitchCommand: StoreCommand {}
extension ConfirmCommand: StoreCommand {}
extension RollbackCommand: StoreCommand {}
extension UnblockCommand: StoreCommand {}
extension ApproveCommand: StoreCommand {}
extension PostponeCommand: StoreCommand {}
extension ParametersCommand: StoreCommand {}

extension MeteorCommand: FolderCommand {
    var ownersFolders: [FilePath] { [FilePath(argument: store)] }
}

extension RunCommand: FolderCommand {
    /// Empty if the settings cannot be read.
    ///
    /// The command then reports the reason.
    var ownersFolders: [FilePath] {
        let file = SettingsOnDisk(FilePath(asNamed: config), named: config)
        return ((try? file.read())?.stores ?? []).map(\.store)
    }
}
