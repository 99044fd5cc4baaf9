import PatchFormat

/// Finds the role that is responsible for a target: pre-order, in order of appearance, each role once (TUF 5.6.7).
///
/// It does no I/O: it requests roles by ``Step/load(role:delegator:)`` and continues once they are trusted.
package struct DelegationSearch: Sendable {
    package enum Step: Equatable, Sendable {
        /// The search needs this role, verified by its delegator's keys, to continue.
        case load(role: String, delegator: String)
        case found(TargetFile, role: String)
    }

    private let target: String
    /// A stack: the next role is the last element.
    private var waiting: [(role: String, delegator: String)] = [("targets", "root")]
    private var visited: Set<ExactString> = []

    package init(for target: String) {
        self.target = target
    }

    /// - Throws: `.targetNotFound` if no role names the target, `.tooManyDelegations` at the limit.
    package mutating func next(in trusted: TrustedRepository) throws(TrustError) -> Step {
        while let (name, delegator) = waiting.last {
            if visited.contains(ExactString(name)) {
                waiting.removeLast()
                continue
            }
            // The top role is not a delegated role and does not count towards the limit.
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

    /// Adds the delegations of a role to the stack.
    ///
    /// A terminating delegation ends the search if its own branch finds nothing, so the waiting roles are dropped.
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
