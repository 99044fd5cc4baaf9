import PatchFetch
import APIProxy
import HTTPFiles
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync
import PatchTrust
import Patchline
import ReleaseService
import CommandKit
import Testing

@testable import HTTPCore

@Suite("What stands in a line or a document for people")
struct WordsTranscripts {
    @Test func `is said of each state, reason and rule as its transcript has it`() throws {
        var words = Transcript(
            "words",
            about: "What stands in status lines, logs, reports and error messages, by what it is of."
        )
        words.list("why a version is not for a device", NotEligible.samples.map(\.description))
        words.list("why an answer of the server is not followed", IgnoredAnswer.samples.map(\.description))
        words.list("what an app is told", PatchlineApp.Event.samples.map(\.description))
        words.list("proxy rules", ProxyRuleError.samples.map(\.description))
        words.list("conditions", Condition.Problem.samples.map(\.description))
        words.list("files of a bundle", AssetPath.Problem.allCases.map(\.rawValue))
        words.list("JSON", JSONError.Rule.allCases.map(\.rawValue))
        words.list("checks", CheckRecord.Rule.allCases.map(\.rawValue))
        words.list("answers", [TransferCodingError().description])
        words.list("exit codes", ResultCode.allCases.map { "\($0.rawValue) \($0.meaning)" })
        words.list("files of a patch", PatchState.allCases.map { "\($0.name): \($0.meaning)" })
        words.list("names", Self.rules.map { "\($0): it \($1)" })
        try words.check()
    }

    private static let rules: KeyValuePairs<String, String> = [
        "AppID": AppID.rule, "AppVersion": AppVersion.rule, "ChannelName": ChannelName.rule, "PatchID": PatchID.rule,
        "VersionLabel": VersionLabel.rule, "AppVersionRange": AppVersionRange.rule, "ConditionKey": ConditionKey.rule,
        "ConditionValue": ConditionValue.rule,
        "ParameterName": ParameterName.rule, "ParameterValue": ParameterValue.rule, "ProposalID": ProposalID.rule,
        "Platform": Platform.rule, "PublicKeyPin": PublicKeyPin.rule,
        "RoutePattern": RoutePattern.rule, "answers": ServerAnswer.Place.rule, "ServerURL": ServerURL.rule,
        "Share": RolloutShare.rule,
        "TargetPath": TargetPath.rule, "TokenText": TokenText.rule, "TrustedProxies": TrustedProxies.rule,
        "Upstream": Upstream.rule, "UserID": UserID.rule,
    ]
}
