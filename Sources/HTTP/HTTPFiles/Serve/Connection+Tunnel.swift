import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

extension Connection {
    /// Switches protocols and carries bytes until either end closes.
    ///
    /// The connection ends with it.
    mutating func run(_ tunnel: ServedTunnel, for head: RequestHead) async -> Bool {
        let (responder, since) = (responder, ContinuousClock.now)
        guard head.upgrade != nil else {
            exchange.report("the source switches protocols without being asked to", to: head.target)
            let response = Response(refusing: .internalServerError, message: "No upgrade was asked for.")
            return await responder.send(response, to: head, keepAlive: false, since: since)
        }
        switch connections.becomesEndless(place, right, tunnel: true) {
        case .granted: break
        case .tooLate: return false
        case .tooMany:
            let refusal = Response(.tooManyConnections)
            return await responder.send(refusal, to: head, keepAlive: false, since: since)
        }
        var fields = tunnel.headers
        for name in ["Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive"] { fields.remove(name: name) }
        fields.add(name: "Connection", value: "Upgrade")
        guard await responder.write(Response.head(.switchingProtocols, fields)) else { return false }

        let sent = await carry(tunnel)
        responder.log(.switchingProtocols, sent, to: head, since: since)
        return false
    }

    /// - Returns: The number of bytes sent to the client.
    private mutating func carry(_ tunnel: ServedTunnel) async -> Int {
        let (pieces, responder) = (DemandChannel(), responder)
        let idle = IdleLimit(configuration.tunnelIdleTimeout, channel)
        let sent = NIOLockedValueBox(0)
        let client = TunnelClient(pieces: pieces) { bytes in
            idle.touch()
            guard await responder.write(bytes) else { return false }
            sent.withLockedValue { $0 += bytes.readableBytes }
            return true
        }
        await withTaskGroup { group in
            group.addTask {
                await responder.client.cancelling(at: .connection) { await tunnel.run(client) }
                pieces.close()
                responder.wakeReader()
            }
            await pumpRaw(to: pieces, idle)
        }
        return sent.withLockedValue(\.self)
    }

    private mutating func pumpRaw(to pieces: DemandChannel, _ idle: IdleLimit) async {
        while await pieces.waitForDemand() {
            while buffer.readableBytes == 0, !pieces.isClosed {
                guard await fill() else { return pieces.finish() }
            }
            idle.touch()
            pieces.give(buffer)
            buffer = ByteBuffer()
        }
    }
}
