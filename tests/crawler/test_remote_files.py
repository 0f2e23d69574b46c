"""The blocks of a server's files that are kept: what is requested for a reading, and what is not."""

import asyncio

from yarl import URL

from wikitopics.crawler.dumps.remote import BLOCK, Blocks, RemoteFile

DATA = bytes(range(256)) * (9 * BLOCK // 256)


class Server:
    """Answers from memory; notes which blocks were requested together."""

    def __init__(self):
        self.asked = []

    async def read(self, file, start, stop):
        self.asked.append(range(start // BLOCK, -(-stop // BLOCK)))
        return DATA[start:stop]


async def test_neighbours_are_requested_together_and_nothing_twice():
    server = Server()
    blocks = Blocks(server)
    file = RemoteFile(URL("http://h/dump"), len(DATA), "v1", blocks)
    assert await blocks.read(file, 3 * BLOCK + 5, 4 * BLOCK) == DATA[3 * BLOCK + 5 : 4 * BLOCK]
    assert await blocks.read(file, 1, len(DATA) + 9) == DATA[1:]
    assert server.asked == [range(3, 4), range(3), range(4, 9)]
    assert await blocks.read(file, BLOCK - 1, BLOCK + 1) == DATA[BLOCK - 1 : BLOCK + 1]
    assert await blocks.read(file, len(DATA), len(DATA) + 1) == b""
    assert len(server.asked) == 3


async def test_a_reader_sleeps_until_its_bytes_are_there(monkeypatch):
    """It looks up now and then, whether anybody is left who would bring them."""
    loop = asyncio.get_running_loop()
    looks = 0

    def look():
        nonlocal looks
        looks += 1
        return False

    class Slow(Server):
        async def read(self, file, start, stop):
            await asyncio.sleep(0.2)
            return await super().read(file, start, stop)

    monkeypatch.setattr(loop, "is_closed", look)
    file = RemoteFile(URL("http://h/dump"), len(DATA), "v1", Blocks(Slow()))
    assert await asyncio.to_thread(file.read, 5, 9) == DATA[5:9]
    assert looks < 20
