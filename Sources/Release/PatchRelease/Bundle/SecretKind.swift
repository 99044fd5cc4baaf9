/// The kind of a secret in a file.
package enum SecretKind: Equatable, Sendable {
    case privateKey(Container)
    case token(Service)
    /// A settings file that often contains passwords, recognised by its name.
    case settings

    package enum Container: String, Sendable, CaseIterable {
        case pem = "PEM"
        case pgp = "OpenPGP"
        case pkcs12 = "PKCS#12"
        case pkcs8 = "PKCS#8"
        case pkcs1 = "PKCS#1"
        case ec = "SEC 1"
        case jwk = "JWK"
        case openSSH = "OpenSSH"
        case putty = "PuTTY"
        case javaKeyStore = "a Java key store"
        case age = "age"
        case wireGuard = "WireGuard"
        case xml = "XML"
        case microsoft = "a key blob of Windows"
    }

    package enum Service: String, Sendable, CaseIterable {
        case aws = "AWS"
        case google = "Google"
        case gitHub = "GitHub"
        case gitLab = "GitLab"
        case slack = "Slack"
        case stripe = "Stripe"
        case npm = "npm"
        case pypi = "PyPI"
        case sendGrid = "SendGrid"
        case openAI = "OpenAI"
        case anthropic = "Anthropic"
        case huggingFace = "Hugging Face"
    }

    package var words: String {
        switch self {
        case .privateKey(let container): "a private key (\(container.rawValue))"
        case .token(let service): "a secret token of \(service.rawValue)"
        case .settings: "settings that are secret by their name"
        }
    }
}
