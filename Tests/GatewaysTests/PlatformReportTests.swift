import Gateways
import PatchFormat
import Testing

@Suite("A report of a platform's client")
struct PlatformReportTests {
    private static func read(_ page: PlatformReport.Page, _ text: String) throws(FormatError) -> PlatformReport {
        try PlatformReport(page, form: Array(text.utf8))
    }

    @Test func `is what such a client posts, back again`() throws {
        let place = LoaderPlace(try #require(AppVersion("2.1")), try .tests(3))
        let (key, device) = (try #require(PlatformAppKey("0a1b")), try #require(PlatformDeviceID("a b&=+é")))
        for outcome in [PlatformStatistic.Outcome.succeeded] + PlatformError.Code.allCases.map({ .failed($0) }) {
            let statistic = PlatformStatistic(place, outcome)
            let page = try #require(PlatformReport.Page(rawValue: statistic.path))
            let report = try PlatformReport(page, form: statistic.form(of: key, on: device))
            #expect(report.app == key && report.device == device && report.statistic == statistic)
        }
        #expect(try Self.read(.succeeded, "d=a+b&pv=3&k=0a1b&av=2.1").device.text == "a b", "a form's plus is a space")
        #expect(PlatformStatistic.isAcknowledged(by: PlatformReport.acknowledgement))
    }

    @Test func `is refused with a field that is missing, doubled, of another page or wrong`() {
        let good = "k=0a1b&av=2.1&pv=3&d=x"
        let number = "must be an integer from 1 to 999999999"
        for (page, text, field, rule) in [
            (.succeeded, "", "", "must be name=value joined by &, percent-encoded UTF-8"),
            (.succeeded, "k", "", "must be name=value joined by &, percent-encoded UTF-8"),
            (.succeeded, "\(good)&", "", "must be name=value joined by &, percent-encoded UTF-8"),
            (.succeeded, "k=%zz", "", "must be name=value joined by &, percent-encoded UTF-8"),
            (.succeeded, "k=%ff", "", "must be name=value joined by &, percent-encoded UTF-8"),
            (.succeeded, "av=2.1&pv=3&d=x", "k", "is missing"), (.succeeded, "k=a&pv=3&d=x", "av", "is missing"),
            (.succeeded, "k=a&av=2.1&d=x", "pv", "is missing"), (.succeeded, "k=a&av=2.1&pv=3", "d", "is missing"),
            (.failed, good, "code", "is missing"), (.succeeded, "\(good)&d=y", "d", "occurs twice"),
            (.succeeded, "\(good)&x=1", "x", "is not known on succ.php"),
            (.succeeded, "\(good)&code=5003", "code", "is not known on succ.php"),
            (.failed, "\(good)&code=5000", "code", "must be an integer from 5001 to 5007"),
            (.failed, "\(good)&code=05001", "code", "must be an integer from 5001 to 5007"),
            (.succeeded, "k=a/b&av=2.1&pv=3&d=x", "k", PlatformAppKey.rule),
            (.succeeded, "k=a&av=2.x&pv=3&d=x", "av", AppVersion.rule),
            (.succeeded, "k=a&av=2.1&pv=0&d=x", "pv", number), (.succeeded, "k=a&av=2.1&pv=03&d=x", "pv", number),
            (.succeeded, "k=a&av=2.1&pv=3&d=", "d", PlatformDeviceID.rule),
            (.succeeded, "k=a&av=2.1&pv=3&d=%0a", "d", PlatformDeviceID.rule),
        ] as [(PlatformReport.Page, String, String, String)] {
            #expect(throws: FormatError("form", field: field, rule: rule), "\(text)") { try Self.read(page, text) }
        }
    }
}
