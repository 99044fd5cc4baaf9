import PatchFormat

/// Which role says what of a target: pre-order, in order of appearance, each role once (TUF 5.6.7).
///
/// Pure: it asks for roles by ``Step/load(role:delegator:)`` and goes on when they are trusted.
package struct DelegationSearch: Sendable {
    package enum Step: Equatable, Sendable {
        /// This role must be trusted by its delegator's keys before the search can go on.
        case load(role: String, delegator: String)
        case found(TargetFile, role: String)
    }

    private let target: String
    /// The next one last.
    private var waiting: [(role: String, delegator: String)] = [("targets", "root")]
    private var visited: Set<ExactString> = []

    package init(for target: String) {
        self.target = target
    }

    /// - Throws: `.targetNotFound` when no role names it, `.tooManyDelegations` at the limit.
    package mutating func next(in trusted: TrustedRepository) throws(TrustError) -> Step {
        while let (name, delegator) = waiting.last {
            if visited.contains(ExactString(name)) {
                waiting.removeLast()
                continue
            }
            // The top role is no delegated one.
            guard visited.count <= Limits.delegations else {
                throw .tooManyDelegations(target: target, limit: Limits.delegations)
            }
            guard trusted.isVerified(name, by: delegator), let role = trusted.role(name) else {
                return .load(role: name, delegator: delegator)
            }
            waiting.removeLast()
            visited.insert(ExactString(name))
            if let file = role.targets[ExactString(target)] { return .found(file, role: name) }
            push(role)
        }
        throw .targetNotFound(target)
    }

    /// A terminating delegation ends the search here if its own branch finds nothing: whatever waits is dropped.
    private mutating func push(_ role: TargetsRole) {
        var children: [(String, String)] = []
        for delegation in role.delegations where delegation.covers(target) {
            children.append((delegation.name, role.name))
            guard !delegation.terminating else {
                waiting = []
                break
            }
        }
        waiting += children.reversed()
    }
}
