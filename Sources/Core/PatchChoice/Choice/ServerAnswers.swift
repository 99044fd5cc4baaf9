package import PatchFormat
import PatchTrust

/// The server's answers to this device, and whether it can still be asked.
///
/// The server chooses among listed versions that the rules allow this device. Apart from that it can only hold versions back.
package struct ServerAnswers: Equatable, Sendable {
    /// The choices by patch.
    ///
    /// Empty if the server was not asked or did not answer.
    package var choices: [PatchID: DeviceAnswer.Choice]
    /// The names under which this device has a place.
    package var places: Set<SHA256Digest>
    /// Places that were requested and denied.
    package var denied: Set<SHA256Digest> = []
    /// The number of questions left.
    ///
    /// Until it is zero, a place that was not denied counts as available.
    package var questionsLeft: Int
    /// Whether assignments must still be requested before the first version is taken.
    package var needsChoices: Bool

    package init(
        choices: [PatchID: DeviceAnswer.Choice] = [:],
        places: Set<SHA256Digest> = [],
        questions: Int = 0,
        needsChoices: Bool = false
    ) {
        self.choices = choices
        self.places = places
        questionsLeft = questions
        self.needsChoices = needsChoices
    }

    /// Whether the device has this place, or may still get it.
    func mayHave(_ place: SHA256Digest) -> Bool {
        places.contains(place) || (questionsLeft > 0 && !denied.contains(place))
    }

    /// Adds the answer to a question.
    ///
    /// Parts that were not requested are ignored.
    package mutating func take(_ answer: DeviceAnswer, to question: DeviceQuestion) {
        questionsLeft -= 1
        if needsChoices { choices = answer.choices }
        needsChoices = false
        for asked in question.places {
            let isGiven = answer.places.contains {
                $0.patchID == asked.patchID && $0.sha256 == asked.sha256 && $0.isGiven
            }
            if isGiven { places.insert(asked.device) } else { denied.insert(asked.device) }
        }
    }

    /// Stops asking in this sync, because the server did not answer.
    package mutating func giveUp() {
        questionsLeft = 0
        needsChoices = false
    }
}

/// A server answer that the device ignores.
package struct IgnoredAnswer: Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// The verified list does not contain the version.
        case notListed
        /// It is below the device's version, or their order is unknown.
        case notAbove
        /// A rule of the list, the dial or this device excludes it.
        case notEligible(NotEligible)
        /// Holding would remove the device's version, which is no longer listed.
        case takesAway
        /// The device has no version of this bundle to hold, and an app needs one.
        case nothingToHold
    }

    package let patchID: PatchID
    package let why: Reason

    package init(patchID: PatchID, why: Reason) {
        self.patchID = patchID
        self.why = why
    }
}

extension IgnoredAnswer: CustomStringConvertible {
    package var description: String {
        let reason =
            switch why {
            case .notListed: "it names a version that is not listed"
            case .notAbove: "it names a version that is not newer than the installed one"
            case .notEligible(let why): "it names a version that is not for this device: \(why)"
            case .takesAway: "the installed version is no longer listed"
            case .nothingToHold: "it holds the installed version, but none is installed"
            }
        return "\(patchID): the server's answer is not followed: \(reason)"
    }
}
