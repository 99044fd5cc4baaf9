#!/usr/bin/env python3
"""A slow network in front of a server: 1 Mbit/s and 100 ms there and back, for each connection in turn.

usage: slow_link.py PORT_OF_SERVER [BYTES_PER_SECOND] [MILLISECONDS_THERE_AND_BACK]

Prints `listening on http://…`. A byte leaves when those before it, of all connections, have; and arrives half the time later. A connection
is there after the whole time once. `GET /__bytes` at the port itself answers how many bytes came from the server since it was asked last.
"""
import asyncio, sys

server, rate, trip = int(sys.argv[1]), float(sys.argv[2] if len(sys.argv) > 2 else 125_000), float(sys.argv[3] if len(sys.argv) > 3 else 100) / 1000
count = 0
free = {"up": 0.0, "down": 0.0}


async def carry(reader, writer, way):
    global count
    clock = asyncio.get_running_loop().time
    pieces = asyncio.Queue(maxsize=64)

    async def arrive():
        while (item := await pieces.get()) is not None:
            due, piece = item
            await asyncio.sleep(max(0, due - clock()))
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

    arrival = asyncio.create_task(arrive())
    try:
        # In packets, so that two connections take turns.
        while piece := await reader.read(1_400):
            if way == "down":
                count += len(piece)
            free[way] = max(free[way], clock()) + len(piece) / rate
            await pieces.put((free[way] + trip / 2, piece))
    except ConnectionError:
        pass
    await pieces.put(None)
    await asyncio.gather(arrival, return_exceptions=True)


async def connected(reader, writer):
    global count
    first = await reader.read(65_536)
    if first.startswith(b"GET /__bytes "):
        answer, count = str(count).encode(), 0
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer))
        await writer.drain()
        return writer.close()
    await asyncio.sleep(trip)
    far_reader, far_writer = await asyncio.open_connection("127.0.0.1", server)
    feed = asyncio.StreamReader()
    feed.feed_data(first)

    async def feed_on():
        try:
            while piece := await reader.read(65_536):
                feed.feed_data(piece)
        except ConnectionError:
            pass
        feed.feed_eof()

    await asyncio.gather(feed_on(), carry(feed, far_writer, "up"), carry(far_reader, writer, "down"), return_exceptions=True)
    for end in (writer, far_writer):
        end.close()


async def main():
    link = await asyncio.start_server(connected, "127.0.0.1", 0)
    print(f"listening on http://127.0.0.1:{link.sockets[0].getsockname()[1]}", flush=True)
    await link.serve_forever()

asyncio.run(main())
