import HTTPFiles
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// Sets connections of the operators' listener up, and hands their requests to Hummingbird's router.
struct OperatorChannel: ServerChildChannel {
    /// A connection with its place.
    struct Value: ServerChildChannelValue {
        let requests: HTTP1Channel.Value
        let admitted: AdmittedConnection
        var channel: any Channel { requests.channel }
    }

    let admission: ConnectionAdmission
    let routes: OperatorRoutes

    private var http: HTTP1Channel.Configuration {
        let limit = admission.configuration.maxHeaderBytes
        return HTTP1Channel.Configuration(
            httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                maxHeaderFieldSize: limit,
                maxHeaderListSize: limit
            )
        )
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let http = HTTP1Channel(responder: { _, _, _ in }, configuration: http)
        return channel.eventLoop.makeCompletedFuture {
            let admitted = try admission.admit(channel)
            try channel.pipeline.syncOperations.addHandler(ArrivalNotice())
            return admitted
        }.flatMap { admitted in
            http.setup(channel: channel, logger: logger).flatMapThrowing { requests in
                let pipeline = channel.pipeline.syncOperations
                let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                try pipeline.addHandler(OperatorConnection(admitted, intake: routes.intake), position: .after(parser))
                return Value(requests: requests, admitted: admitted)
            }
        }.flatMapErrorThrowing { error in
            // A channel whose set-up fails is nobody's, and would stay open.
            channel.close(promise: nil)
            throw error
        }
    }

    func handle(value: Value, logger: Logger) async {
        let admitted = value.admitted
        let responder: HTTPChannelHandler.Responder = { request, writer, channel in
            let source = OperatorContext.Source(logger: logger, admitted: admitted, channel: channel)
            let response = await routes.answer(request, source)
            try await writer.write(response: response.head, body: response.body)
        }
        await HTTP1Channel(responder: responder, configuration: http).handle(value: value.requests, logger: logger)
    }
}
