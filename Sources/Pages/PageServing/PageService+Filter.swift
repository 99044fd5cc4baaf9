package import APIProxy
import HTTPCore
package import HTTPFiles
import NIOCore
package import NIOHTTP1

// As a filter of the proxy: `patchsrv pages`.

extension PageService: AnswerFilter {
    package func view(of request: FileRequest) -> (any AnswerView)? {
        exchange(
            request.method,
            path: request.path.segments,
            spelledPath: request.spelledPath,
            fields: request.headers
        )
    }
}

extension PageExchange: AnswerView {
    package func plan(for status: HTTPResponseStatus, _ fields: HTTPHeaders) -> AnswerPlan {
        switch plan(status: Int(status.code), fields: fields) {
        case .passes(let fields): .passes(fields)
        case .copies(let limit, let changed): .copies(limit: limit, changed) { remember($0, of: fields) }
        case .collects(let limit, let otherwise): .collects(limit: limit, else: otherwise)
        }
    }

    package func answer(_ status: HTTPResponseStatus, _ fields: HTTPHeaders, body: [UInt8]) -> FileAnswer {
        let answer = answer(fields, body: body)
        return .stream(
            ServedStream(
                status: HTTPResponseStatus(statusCode: answer.status),
                headers: answer.fields,
                length: answer.status == 304 ? nil : answer.body.count
            ) { write in
                try await write(ByteBuffer(bytes: answer.body))
            }
        )
    }
}
