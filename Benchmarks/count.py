"""Passes connections on to another port of this machine and counts the bytes of both directions.

usage: count.py TARGET_PORT FILE      prints the port it listens on; FILE holds "connections up down" after each connection
"""
import asyncio, sys

target, path = int(sys.argv[1]), sys.argv[2]
total = [0, 0, 0]


async def move(reader, writer, index):
    while data := await reader.read(65536):
        total[index] += len(data)
        writer.write(data)
        await writer.drain()
    writer.close()


async def serve(reader, writer):
    far_reader, far_writer = await asyncio.open_connection('127.0.0.1', target)
    total[0] += 1
    await asyncio.gather(move(reader, far_writer, 1), move(far_reader, writer, 2), return_exceptions=True)
    with open(path, 'w') as file:
        print(*total, file=file)


async def main():
    server = await asyncio.start_server(serve, '127.0.0.1', 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
