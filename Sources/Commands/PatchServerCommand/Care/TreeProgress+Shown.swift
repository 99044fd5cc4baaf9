import CommandKit
import PatchFormat
import PatchServer
import ReleaseService

extension ReleaseOperations {
    /// The operations with a progress line for long work on an app.
    func showingProgress(of app: AppID) -> ReleaseOperations {
        var operations = self
        operations.progress = shownProgress(of: app)
        return operations
    }
}

extension AppRepository {
    func showingProgress() -> AppRepository {
        var repository = self
        repository.progress = shownProgress(of: app)
        return repository
    }
}

/// - Parameter app: The app to name, because a server may have several.
private func shownProgress(of app: AppID) -> TreeProgress {
    { work, total in
        switch work {
        case .verifying: reporter("Verifying the release for \(app)")(total)
        case .compressing: reporter("Compressing for \(app)")(total)
        case .packing: reporter("Packing \(app)")(total)
        case .optimizing: reporter("Optimizing \(app)")(total)
        case .writing: reporter("Writing to \(app)")(total)
        case .checking: reporter("Checking \(app)")(total)
        case .removing: reporter("Removing from \(app)")(total)
        }
    }
}
